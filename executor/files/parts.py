"""A text in parts that a small model can read, and the parts that matter for a task.

What is chosen here decides what a model is asked, so it is part of a run's rules; a replay takes it from the record.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING

from planner.decompose.coverage import content_words

if TYPE_CHECKING:
    from collections.abc import Sequence

# Tokens for each character: many more for digits and other scripts than for English words.
_WEIGHTS = (
    (re.compile(r"[A-Za-z ]+"), 0.28),
    (re.compile(r"\d+"), 1.0),
    (re.compile(r"[^\w\s]|[\n\t_]"), 0.6),
    (re.compile(r"[^\W\d_a-zA-Z]+"), 0.9),
)
_STEM = 5
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
    found: list[str] = []
    part, size = "", 0
    lines = text.splitlines(keepends=True)
    for line in (piece for one in lines for piece in _pieces(one, room)):
        taken = tokens(line)
        if part and size + taken > room:
            found.append(part)
            part, size = head, 0
        part, size = part + line, size + taken
    return [one.strip("\n") for one in [*found, part] if one.strip()]


def _pieces(line: str, most: int) -> list[str]:
    """A line, in pieces if it is too long for one part: after sentences, else between words, else anywhere."""
    if tokens(line) <= most:
        return [line]
    length = max(1, int(len(line) * most / tokens(line)))
    found = []
    while line:
        cut = length
        if len(line) > length:
            ends = [line.rfind(mark, length // 2, length) + len(mark) for mark in (". ", "。", " ")]
            cut = next((end for end in ends if end > length // 2), length)
        while cut > 1 and tokens(line[:cut]) > most:
            cut = cut * 9 // 10
        found.append(line[:cut])
        line = line[cut:]
    return found


def chosen(parts: Sequence[str], query: str, most: int) -> list[int]:
    """The positions of the parts to read for a query, in order: those that share its rare words.

    A query that singles out none, such as "sum it up", gets parts from the beginning to the end.
    """
    if len(parts) <= most:
        return list(range(len(parts)))
    wanted = set(map(_stem, content_words(query)))
    has = [wanted & set(map(_stem, content_words(part))) for part in parts]
    spread = Counter(word for words in has for word in words)
    scores = [sum(math.log(len(parts) / spread[word]) for word in words) for words in has]
    best = sorted((at for at, score in enumerate(scores) if score > 0), key=lambda at: (-scores[at], at))[:most]
    others = [at for at in _evenly(len(parts), most) if at not in best]
    return sorted([*best, *others][:most])


def _evenly(count: int, most: int) -> list[int]:
    """Positions from the first to the last, at even distances."""
    if most < 2:
        return [0]
    return list(dict.fromkeys(round(at * (count - 1) / (most - 1)) for at in range(most)))


def _stem(word: str) -> str:
    return word if word.isdigit() else word[:_STEM]
