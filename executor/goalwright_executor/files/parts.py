"""Divides texts into parts that a small model can read, and chooses the parts that matter for a task.

The choice decides what a model is asked, so it is recorded, and a replay takes it from the record.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from goalwright_planner.events import FilePart
from goalwright_planner.small_models.coverage import content_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright_planner.events import FileRead

# Tokens per character: many more for digits and other scripts than for English words.
_WEIGHTS = (
    (re.compile(r"[A-Za-z ]+"), 0.28),
    (re.compile(r"\d+"), 1.0),
    (re.compile(r"[^\w\s]|[\n\t_]"), 0.6),
    (re.compile(r"[^\W\d_a-zA-Z]+"), 0.9),
)
_STEM = 5
# The weight of the goal's words relative to those of the task.
_GOAL_WEIGHT = 0.25
_ALL = re.compile(
    r"(?<!\w)(?:summar|sum(?:s|med)?\s+(?:it\s+|this\s+|them\s+)?up|overview|outline|main\s+points|key\s+points|gist|tl;?dr|whole|entire"
    r"|proofread|translat|rewrit|zusammenfass|fasse|überblick|übersetz|résum|tradui|resum|traduc)|总结|概括|翻译|要約",
    re.IGNORECASE,
)
# Only this many characters from the beginning of a file are read.
MOST_CHARACTERS = 2_000_000


def tokens(text: str) -> int:
    """Estimate the tokens of a text, rather too high, because the tokenizer is not available."""
    return math.ceil(sum(weight * sum(map(len, kind.findall(text))) for kind, weight in _WEIGHTS))


def divided(text: str, most: int, *, header: bool = False) -> list[str]:
    """Divide a text into parts of at most `most` tokens, between lines if possible; each repeats a table's `header`."""
    text = text[:MOST_CHARACTERS]
    if tokens(text) <= most:
        return [text]
    head = text.partition("\n")[0] + "\n" if header and "\n" in text else ""
    head = head if tokens(head) < most // 4 else ""
    room = most - tokens(head)
    parts: list[str] = []
    part, size = "", 0
    lines = text.splitlines(keepends=True)
    for line in (piece for long in lines for piece in _pieces(long, room)):
        taken = tokens(line)
        if part and size + taken > room:
            parts.append(part)
            part, size = head, 0
        part, size = part + line, size + taken
    return [text.strip("\n") for text in [*parts, part] if text.strip()]


def _pieces(line: str, most: int) -> list[str]:
    """Split a line that is too long for one part: after sentences, else between words, else anywhere."""
    if tokens(line) <= most:
        return [line]
    length = max(1, int(len(line) * most / tokens(line)))
    pieces = []
    while line:
        cut = length
        if len(line) > length:
            ends = [line.rfind(mark, length // 2, length) + len(mark) for mark in (". ", "。", " ")]
            cut = next((end for end in ends if end > length // 2), length)
        while cut > 1 and tokens(line[:cut]) > most:
            cut = cut * 9 // 10
        pieces.append(line[:cut])
        line = line[cut:]
    return pieces


def scores(parts: Sequence[str], query: str, goal: str = "") -> list[float]:
    """Score each part by the rare words that it shares with the query, and a little with the goal."""
    query_words = set(map(_stem, content_words(query)))
    goal_words = set(map(_stem, content_words(goal))) - query_words
    shared = [set(map(_stem, content_words(part))) & (query_words | goal_words) for part in parts]
    frequency = Counter(word for words in shared for word in words)
    weights = {
        word: math.log(len(parts) / count) * (1 if word in query_words else _GOAL_WEIGHT)
        for word, count in frequency.items()
    }
    return [sum(weights[word] for word in words) for words in shared]


def wants_all(query: str) -> bool:
    """Whether a query is about a text as a whole, so that no words single out a part of it."""
    return _ALL.search(query) is not None


def evenly(count: int, most: int) -> list[int]:
    """Return evenly spaced positions from the first to the last; all of them if there are at most `most`."""
    if count <= most or most < 1:
        return list(range(min(count, max(most, 0))))
    if most == 1:
        return [0]
    return list(dict.fromkeys(round(step * (count - 1) / (most - 1)) for step in range(most)))


def _stem(word: str) -> str:
    return word if word.isdigit() else word[:_STEM]


# Tokens of a passage in the prompt, and of a part that is read by itself.
PASSAGE = 150
PART = 400
_TABLES = (".csv", ".tsv")


@dataclass(frozen=True, slots=True)
class Limits:
    """The tokens of files in a prompt, and the number of parts that are read one by one."""

    tokens: int
    parts: int


def choose(reads: Sequence[FileRead], texts: Sequence[str], query: str, goal: str, limits: Limits) -> list[FileRead]:
    """Fill the reads with what the task gets of each text."""
    if sum(map(tokens, texts)) <= limits.tokens:
        parts = [(FilePart(1, text),) for text in texts]
        return [replace(read, of=1, parts=part, inline=True) for read, part in zip(reads, parts, strict=True)]
    if not wants_all(query) and (passages := _passages(reads, texts, query, goal, limits)):
        return passages
    return _spread(reads, texts, limits)


def _passages(reads: Sequence[FileRead], texts: Sequence[str], query: str, goal: str, limits: Limits) -> list[FileRead]:
    """Choose the passages of all texts that fit the query best, within the prompt; none if no word matches."""
    divisions = [_divided(read, text, PASSAGE) for read, text in zip(reads, texts, strict=True)]
    passages = [(file, index) for file, division in enumerate(divisions) for index in range(len(division))]
    scored = scores([divisions[file][index] for file, index in passages], query, goal)
    best = sorted(
        (number for number in range(len(passages)) if scored[number] > 0),
        key=lambda number: (-scored[number], number),
    )
    taken: set[tuple[int, int]] = set()
    room = limits.tokens
    for file, index in (passages[number] for number in best):
        size = tokens(divisions[file][index])
        if size <= room:
            taken.add((file, index))
            room -= size
    if not taken:
        return []
    return [
        replace(
            read,
            of=len(division),
            parts=tuple(
                FilePart(index + 1, division[index]) for index in range(len(division)) if (file, index) in taken
            ),
            inline=True,
        )
        for file, (read, division) in enumerate(zip(reads, divisions, strict=True))
    ]


def _spread(reads: Sequence[FileRead], texts: Sequence[str], limits: Limits) -> list[FileRead]:
    """Choose evenly spaced parts of each text, at least one, to be read one by one."""
    divisions = [_divided(read, text, PART) for read, text in zip(reads, texts, strict=True)]
    share = max(1, limits.parts // len(reads))
    left = limits.parts - sum(min(share, len(division)) for division in divisions)
    filled = []
    for read, division in zip(reads, divisions, strict=True):
        extra = max(0, min(left, len(division) - share))
        left -= extra
        parts = tuple(FilePart(index + 1, division[index]) for index in evenly(len(division), share + extra))
        filled.append(replace(read, of=len(division), parts=parts))
    return filled


def _divided(read: FileRead, text: str, most: int) -> list[str]:
    return divided(text, most, header=Path(read.path).suffix.lower() in _TABLES)
