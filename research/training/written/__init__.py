"""Requests for skills, and everyday messages, that were written one by one for training: see the README beside this."""

from __future__ import annotations

import lzma
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from training.exclusion import digest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FOLDER = Path(__file__).parent
REQUESTS, EVERYDAY = FOLDER / "requests.tsv.xz", FOLDER / "everyday.tsv.xz"


class Request(NamedTuple):
    """What somebody types who needs the skill at a place."""

    skill: int
    language: str
    text: str


class Message(NamedTuple):
    """What somebody types who needs no skill."""

    language: str
    text: str


def key(name: str, description: str) -> str:
    """What a skill is told by, whatever place it has among others."""
    return digest(f"{name}\n{description}")


def requests(skills: Sequence[Sequence[str]]) -> list[Request]:
    """The requests for those skills of a bundle that have some."""
    places = {key(name, description): place for place, (name, description, *_) in enumerate(skills)}
    rows = ((places.get(told), language, text) for told, language, text in _rows(REQUESTS))
    return [Request(place, language, text) for place, language, text in rows if place is not None]


def everyday() -> list[Message]:
    """All everyday messages."""
    return [Message(language, text) for language, text in _rows(EVERYDAY)]


def _rows(path: Path) -> Iterator[list[str]]:
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield line.rstrip("\n").split("\t")
