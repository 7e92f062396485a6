"""A text in parts that a small model can read, and the parts that matter for a task.

What is chosen here decides what a model is asked, so it is part of a run's rules; a replay takes it from the record.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING

from goalwright_planner.small_models.coverage import content_words

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
