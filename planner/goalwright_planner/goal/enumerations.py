"""Lists that a goal writes as such: lines with numbers or dashes, or numbers in a line."""

from __future__ import annotations

import re
from dataclasses import dataclass

from goalwright_planner.goal.clauses import mask

_ITEM = re.compile(
    r"^[ \t]*(?:[-*•–‣]|\(?\d{1,2}[.)、]|\(?[a-h][.)])[ \t]+(?=\S)|^[ \t]*\d{1,2}[、．][ \t]*(?=\S)", re.MULTILINE
)
_NUMBER = re.compile(r"(?:(?<=\s)|^)(\(?(\d{1,2})[.)])\s+(?=\S)")
_BETWEEN = re.compile(r"[\s,;]*(?:\b(?:and|und|et|y)\b)?\s*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Enumeration:
    """A written list, with what stands before and after it."""

    before: str
    items: tuple[str, ...]
    after: str = ""


def enumerated(text: str) -> Enumeration | None:
    """The list that a text consists of; None if there is none of at least two items."""
    return _in_lines(text) or _in_a_line(text)


def _in_lines(text: str) -> Enumeration | None:
    masked = mask(text)
    marks = list(_ITEM.finditer(masked))
    if len(marks) < 2:
        return None
    ends = [mark.start() for mark in marks[1:]]
    # After the last item, a blank line ends the list.
    blank = re.compile(r"\n[ \t]*\n").search(masked, marks[-1].end())
    last = blank.start() if blank else len(text)
    items = tuple(_clean(text[mark.end() : end]) for mark, end in zip(marks, [*ends, last], strict=True))
    return Enumeration(text[: marks[0].start()].strip(), items, text[last:].strip()) if all(items) else None


def _in_a_line(text: str) -> Enumeration | None:
    """Numbers in a row, as in "1) a poem 2) a song"."""
    marks = list(_NUMBER.finditer(mask(text)))
    numbers = [int(mark.group(2)) for mark in marks]
    if len(marks) < 2 or numbers != list(range(1, len(marks) + 1)):
        return None
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    items = tuple(_clean(text[mark.end() : end]) for mark, end in zip(marks, ends, strict=True))
    return Enumeration(text[: marks[0].start()].strip(), items) if all(items) else None


def _clean(item: str) -> str:
    return " ".join(_BETWEEN.sub("", item).split())
