"""What a task gets of files that do not fit its prompt: passages that it asks about, or parts to read one by one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from goalwright_executor.files.parts import divided, evenly, scores, tokens, wants_all
from goalwright_planner.events import FilePart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright_planner.events import FileRead

# Tokens of a passage that stands in the prompt, and of a part that is read by itself.
PASSAGE = 150
PART = 400
_TABLES = (".csv", ".tsv")


@dataclass(frozen=True, slots=True)
class Limits:
    """How many tokens of files a prompt may hold, and how many parts are read one by one."""

    tokens: int
    parts: int


def choose(reads: Sequence[FileRead], texts: Sequence[str], query: str, goal: str, limits: Limits) -> list[FileRead]:
    """The reads, filled with what the task gets of each text."""
    if sum(map(tokens, texts)) <= limits.tokens:
        parts = [(FilePart(1, text),) for text in texts]
        return [replace(read, of=1, parts=part, inline=True) for read, part in zip(reads, parts, strict=True)]
    if not wants_all(query) and (passages := _passages(reads, texts, query, goal, limits)):
        return passages
    return _spread(reads, texts, limits)


def _passages(reads: Sequence[FileRead], texts: Sequence[str], query: str, goal: str, limits: Limits) -> list[FileRead]:
    """The passages of all texts that fit the query best, as many as fit the prompt; none if no word singles out any."""
    divisions = [_divided(read, text, PASSAGE) for read, text in zip(reads, texts, strict=True)]
    places = [(file, at) for file, division in enumerate(divisions) for at in range(len(division))]
    scored = scores([divisions[file][at] for file, at in places], query, goal)
    best = sorted(
        (place for place in range(len(places)) if scored[place] > 0), key=lambda place: (-scored[place], place)
    )
    taken: set[tuple[int, int]] = set()
    room = limits.tokens
    for file, at in (places[place] for place in best):
        size = tokens(divisions[file][at])
        if size <= room:
            taken.add((file, at))
            room -= size
    if not taken:
        return []
    return [
        replace(
            read,
            of=len(division),
            parts=tuple(FilePart(at + 1, division[at]) for at in range(len(division)) if (file, at) in taken),
            inline=True,
        )
        for file, (read, division) in enumerate(zip(reads, divisions, strict=True))
    ]


def _spread(reads: Sequence[FileRead], texts: Sequence[str], limits: Limits) -> list[FileRead]:
    """Parts from the beginning to the end of each text, to be read one by one; at least one of each."""
    divisions = [_divided(read, text, PART) for read, text in zip(reads, texts, strict=True)]
    share = max(1, limits.parts // len(reads))
    left = limits.parts - sum(min(share, len(division)) for division in divisions)
    filled = []
    for read, division in zip(reads, divisions, strict=True):
        more = max(0, min(left, len(division) - share))
        left -= more
        parts = tuple(FilePart(at + 1, division[at]) for at in evenly(len(division), share + more))
        filled.append(replace(read, of=len(division), parts=parts))
    return filled


def _divided(read: FileRead, text: str, most: int) -> list[str]:
    return divided(text, most, header=Path(read.path).suffix.lower() in _TABLES)
