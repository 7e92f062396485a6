"""A fast reader of plain frontmatter, and the values and errors that all readers of frontmatter share.

`load` returns fields only if the YAML parser would return the same fields; a property test compares the two.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

# Tabs, control characters, and characters that YAML treats as line ends, treats as byte order marks or rejects.
_ODD = re.compile("[\x00-\x09\x0b-\x1f\x7f-\xa0\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_UNSURE = object()
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,17})")
_FLOAT = re.compile(r"[-+]?[0-9]{1,17}\.[0-9]{0,17}(?:[eE][-+][0-9]{1,3})?")
_WORDS: dict[str, bool | None] = {"": None, "~": None}
_WORDS |= {form(word): None for word in ("null",) for form in (str.lower, str.title, str.upper)}
_WORDS |= {form(w): True for w in ("true", "yes", "on") for form in (str.lower, str.title, str.upper)}
_WORDS |= {form(w): False for w in ("false", "no", "off") for form in (str.lower, str.title, str.upper)}
_STYLES = frozenset({"|", "|-", ">", ">-"})
# Characters that cannot start a plain scalar; `=` and `<` have special meanings in YAML 1.1.
_INDICATORS = frozenset("-?:,[]{}#&*!|>'\"%@`=<")


class Malformed(ValueError):
    """The text is not valid YAML; `line` counts from 1."""

    def __init__(self, what: str, line: int) -> None:
        super().__init__(what)
        self.what = what
        self.line = line


class Unsafe(Malformed):
    """The text contains tags for objects, or is deeper or larger than any honest file."""


@dataclass(slots=True)
class Fields:
    """A mapping's values, and the source `texts` of its scalars that are not strings."""

    values: dict[str, Any] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)


def resolve(text: str) -> Any:
    """Return the value of an unquoted scalar: null, a boolean, a number, or the text itself (dates stay text)."""
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    return text


def load(block: str) -> Fields | None:
    """Return the block's fields, or None if it needs a YAML parser."""
    if _ODD.search(block):
        return None
    fields = Fields()
    lines = block.split("\n")
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if not line:
            continue
        key, colon, rest = line.partition(":")
        if not colon or rest[:1] not in ("", " ") or not _KEY.fullmatch(key):
            return None
        text = rest.strip(" ")
        end = at
        if not text or text in _STYLES:
            end = _end(lines, at)
            value = _folded(lines[at:end], text) if text else _nested(lines[at:end])
        elif _top(lines, at):
            value = _scalar(text)
        else:
            return None
        if value is _UNSURE:
            return None
        fields.texts.pop(key, None)
        if end == at and not isinstance(value, str):
            fields.texts[key] = text
        fields.values[key] = value
        at = end
    return fields if fields.values else None


def _scalar(text: str) -> Any:
    """Return the value of a scalar on one line."""
    first = text[0]
    if first not in _INDICATORS:
        return resolve(text) if _whole(text) else _UNSURE
    if first in "'\"" and len(text) > 1 and text[-1] == first:
        inner = text[1:-1]
        if first not in inner and (first == "'" or "\\" not in inner):
            return inner
    return _UNSURE


def _whole(plain: str) -> bool:
    """Whether a plain scalar contains neither a mapping nor a comment."""
    return ": " not in plain and " #" not in plain and not plain.endswith(":")


def _top(lines: Sequence[str], at: int) -> bool:
    """Whether the previous value has ended: the next line that is not blank is not indented."""
    while at < len(lines) and not lines[at]:
        at += 1
    return at == len(lines) or lines[at][0] != " "


def _end(lines: Sequence[str], at: int) -> int:
    """Return the end of the indented lines or items."""
    while at < len(lines) and lines[at][:1] in (" ", "-"):
        at += 1
    return at


def _folded(lines: Sequence[str], style: str) -> Any:
    """Return the value of a block scalar whose lines are all indented alike and not blank."""
    if not lines:
        return _UNSURE
    indent = len(lines[0]) - len(lines[0].lstrip(" "))
    inner = [line[indent:] for line in lines]
    if indent == 0 or any(
        line[:indent].strip() or text[:1] in ("", " ") for line, text in zip(lines, inner, strict=True)
    ):
        return _UNSURE
    text = (" " if style[0] == ">" else "\n").join(inner)
    return text if style.endswith("-") else text + "\n"


def _nested(lines: Sequence[str]) -> Any:
    """Return one level of `key: value` lines or `- value` items, all indented alike."""
    if not lines:
        return _UNSURE
    indent = len(lines[0]) - len(lines[0].lstrip(" "))
    listed = lines[0][indent] == "-" if len(lines[0]) > indent else False
    if indent == 0 and not listed:
        return _UNSURE
    pairs: list[tuple[str, Any]] = []
    for line in lines:
        if line[:indent].strip() or line[indent : indent + 1] in ("", " "):
            return _UNSURE
        key, mark, rest = ("", *line[indent:].partition("-")[1:]) if listed else line[indent:].partition(":")
        text = rest.strip(" ")
        if not mark or not text or rest[0] != " " or (listed and line[indent] != "-"):
            return _UNSURE
        if not listed and not _KEY.fullmatch(key):
            return _UNSURE
        value = _scalar(text)
        if value is _UNSURE:
            return _UNSURE
        pairs.append((key, value))
    return [value for _, value in pairs] if listed else dict(pairs)
