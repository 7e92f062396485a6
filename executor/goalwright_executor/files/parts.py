"""A text in parts that a small model can read, and the parts that matter for a task.

What is chosen here decides what a model is asked, so it is part of a run's rules; a replay takes it from the record.
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

# Tokens for each character: many more for digits and other scripts than for English words.
_WEIGHTS = (
    (re.compile(r"[A-Za-z ]+"), 0.28),
    (re.compile(r"\d+"), 1.0),
    (re.compile(r"[^\w\s]|[\n\t_]"), 0.6),
    (re.compile(r"[^\W\d_a-zA-Z]+"), 0.9),
)
_STEM = 5
# How much the goal's words count beside those of the task.
_AROUND = 0.25
_ALL = re.compile(
    r"(?<!\w)(?:summar|sum(?:s|med)?\s+(?:it\s+|this\s+|them\s+)?up|overview|outline|main\s+points|key\s+points|gist|tl;?dr|whole|entire"
    r"|proofread|translat|rewrit|zusammenfass|fasse|überblick|übersetz|résum|tradui|resum|traduc)|总结|概括|翻译|要約",
    re.IGNORECASE,
)
# Beyond this, a file is read from its beginning only.
MOST_CHARACTERS = 2_000_000


def tokens(text: str) -> int:
    """How many tokens a text may take; a high estimate, because the tokenizer is out of reach."""
    return math.ceil(sum(weight * sum(map(len, kind.findall(text))) for kind, weight in _WEIGHTS))


def divided(text: str, most: int, *, header: bool = False) -> list[str]:
    """The text in parts of at most `most` tokens, between lines if possible; each repeats the `header` of a table."""
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
    """A line, in pieces if it is too long for one part: after sentences, else between words, else anywhere."""
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
    """How well each part fits a query: by the rare words that they share; those of the goal count a little."""
    asked = set(map(_stem, content_words(query)))
    around = set(map(_stem, content_words(goal))) - asked
    has = [set(map(_stem, content_words(part))) & (asked | around) for part in parts]
    spread = Counter(word for words in has for word in words)
    weights = {word: math.log(len(parts) / count) * (1 if word in asked else _AROUND) for word, count in spread.items()}
    return [sum(weights[word] for word in words) for words in has]


def wants_all(query: str) -> bool:
    """Whether a query is about a text as a whole, so that no words single out a part of it."""
    return _ALL.search(query) is not None


def evenly(count: int, most: int) -> list[int]:
    """Positions from the first to the last, at even distances; all of them if there are no more than `most`."""
    if count <= most or most < 1:
        return list(range(min(count, max(most, 0))))
    if most == 1:
        return [0]
    return list(dict.fromkeys(round(at * (count - 1) / (most - 1)) for at in range(most)))


def _stem(word: str) -> str:
    return word if word.isdigit() else word[:_STEM]


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
