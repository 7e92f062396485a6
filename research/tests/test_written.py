"""What was written for training can be read, and belongs to skills by what they say, whatever their place."""

from __future__ import annotations

import lzma
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from training import written
from training.requests import LANGUAGES

if TYPE_CHECKING:
    from pathlib import Path

SKILL = ["chart-maker", "Turns tables of numbers into charts.", "", "en"]
ALLOWED = {"en", *LANGUAGES}


@pytest.fixture
def own_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A request for one skill, one for a skill that is not there, and two messages."""
    told = written.key(*SKILL[:2])
    files = {"REQUESTS": f"{told}\ten\tmy sales as a picture\n{'0' * 16}\tde\tweg\n", "EVERYDAY": "en\thi\nde\tna du\n"}
    for name, text in files.items():
        path = tmp_path / name
        path.write_bytes(lzma.compress(text.encode()))
        monkeypatch.setattr(written, name, path)


@pytest.mark.usefixtures("own_files")
def test_requests_are_those_of_the_skills_at_hand() -> None:
    assert written.requests([["other", "Something else.", "", "en"], SKILL]) == [(1, "en", "my sales as a picture")]
    assert written.requests([]) == []
    assert written.everyday() == [("en", "hi"), ("de", "na du")]


def test_what_is_shipped_has_requests_in_every_language_and_none_twice() -> None:
    with lzma.open(written.REQUESTS, "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    counts = Counter(len(row) for row in rows)
    assert counts == {3: len(rows)}
    assert {language for _, language, _ in rows} == ALLOWED
    assert len(set(map(tuple, rows))) == len(rows)
    messages = written.everyday()
    assert {message.language for message in messages} == ALLOWED
    assert len(set(messages)) == len(messages)
