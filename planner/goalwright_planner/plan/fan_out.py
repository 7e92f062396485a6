"""Fan-out, the `for_each` of a task: the items of a list in an output, and the values of `<<item…>>`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from goalwright_planner.plan.references import ITEM, NUMBER, as_text, json_in, value_at
from goalwright_skills.text.formatting import shorten
from goalwright_skills.text.untrusted import is_too_deep

if TYPE_CHECKING:
    from collections.abc import Iterable

_MARK = re.compile(r"\s*(?:[-*+•‣–]|\(?[0-9]{1,4}[.)])\s+(?=\S)")
_FENCED = re.compile(r"\s*(`{3,}|~{3,})[^\n`]*\n(.*?)\n?[ \t]*\1\s*", re.DOTALL)
_SENTENCE_END = (".", "!", "?", "…", "。", "！", "？")
# After three words or more: "A. Smith" and "Acme Inc. Berlin" are not sentences.
_NEXT_SENTENCE = re.compile(r"(?:\S+\s+){2}\S*[.!?…]\s+[A-Z\u00c0-\u00de]|[。！？]\s*\S")
# A single line of more words than this is a sentence, even without a full stop.
_MOST_WORDS = 8
_LONGEST_LINE = 300
_SHOWN = 120


class NotAList(ValueError):
    """Raised for a text without a list."""


def read_list(text: str) -> list[Any]:
    """Return the items in the output of a task: a JSON list, an object with one list in it, or else lines."""
    if not text.strip():
        return []
    value = json_in(text)
    if is_too_deep(value):
        raise NotAList(f"it is nested too deeply: {_begin(text)}")
    if isinstance(value, dict):
        lists = [item for item in value.values() if isinstance(item, list)]
        if len(lists) != 1:
            has = "no list" if not lists else f"{len(lists)} lists"
            raise NotAList(f"the object has {has} in it, not one: {_begin(text)}")
        return lists[0]
    if isinstance(value, list):
        return value
    fenced = _FENCED.fullmatch(text)
    return _lines(fenced[2] if fenced else text)


def _lines(text: str) -> list[Any]:
    if text.lstrip().startswith(("[", "{")):
        raise NotAList(f"it begins like JSON, but cannot be read as that: {_begin(text)}")
    lines = [line for line in text.splitlines() if line.strip()]
    marked = [bool(_MARK.match(line)) for line in lines]
    if not any(marked):
        if _is_prose([line.strip() for line in lines]):
            raise NotAList(f"it is prose, not a list: {_begin(text)}")
        return [line.strip() for line in lines]
    if not marked[0] and lines[0].rstrip().endswith((":", "：")):
        lines, marked = lines[1:], marked[1:]
    indent = min(_indent(line) for line, has_mark in zip(lines, marked, strict=True) if has_mark)
    items: list[str] = []
    for line, has_mark in zip(lines, marked, strict=True):
        if has_mark and _indent(line) == indent:
            items.append(_MARK.sub("", line, count=1).strip())
        elif items and _indent(line) > indent:  # a line that continues the item, or a list inside it
            items[-1] += "\n" + line.strip()
        else:
            raise NotAList(f"it is prose around a list: {_begin(text)}")
    return items


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_prose(lines: list[str]) -> bool:
    """Whether lines without list marks are running text rather than one item each."""
    ends = [line.endswith(_SENTENCE_END) for line in lines]
    if any(len(line) > _LONGEST_LINE or _NEXT_SENTENCE.search(line) for line in lines):
        return True
    if len(lines) == 1:
        return len(lines[0].split()) > _MOST_WORDS or (ends[0] and " " in lines[0])
    return (ends[-1] and not all(ends)) or any(line.endswith((",", ":", "，", "：")) for line in lines)


def _begin(text: str) -> str:
    return repr(shorten(text, _SHOWN))


def heading(item: Any) -> str:
    """Return an item on one line, as the heading of its output."""
    return shorten(as_text(item), _SHOWN)


def item_values(texts: Iterable[str], item: Any, number: int) -> dict[str, Any]:
    """Return the value of each `<<item…>>` in these texts by its path; MISSING for a field that the item lacks."""
    paths = dict.fromkeys(match["path"] for text in texts for match in ITEM.finditer(text))
    return {path: number if path == NUMBER else value_at(item, path) for path in paths}
