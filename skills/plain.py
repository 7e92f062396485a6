"""The quick reading of plain frontmatter, which needs no YAML parser; anything unusual is left to one.

`load` answers only where its answer is the YAML parser's; a property test holds the two together.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from skills.safeyaml import Fields, resolve

if TYPE_CHECKING:
    from collections.abc import Sequence

# Tabs, control characters, and what YAML takes for line ends, byte order marks or nothing at all.
_ODD = re.compile("[\x00-\x09\x0b-\x1f\x7f-\xa0\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_SCALAR = r"""(?:"([^"\\]*)"|'([^']*)'|([^\s\-?:,\[\]{}#&*!|>'"%@`=<][^\n]*?)) *"""
_LINE = re.compile(rf"([A-Za-z_][A-Za-z0-9_-]*):(?: +(?:([|>]-?)|{_SCALAR}))? *")
_NESTED = re.compile(rf"( +)([A-Za-z_][A-Za-z0-9_-]*): +{_SCALAR}")
_ITEM = re.compile(rf"( *)- {_SCALAR}")


def load(block: str) -> Fields | None:
    """The block's fields, or None where only a YAML parser can tell."""
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
        found = _LINE.fullmatch(line)
        if found is None:
            return None
        key, style, double, single, plain = found.groups()
        if plain is not None:
            if not _whole(plain) or not _top(lines, at):
                return None
            value = resolve(plain)
            if not isinstance(value, str):
                fields.texts[key] = plain
            else:
                fields.texts.pop(key, None)
            fields.values[key] = value
            continue
        fields.texts.pop(key, None)
        if double is not None or single is not None:
            if not _top(lines, at):
                return None
            fields.values[key] = double if double is not None else single
            continue
        end = _end(lines, at)
        value = _folded(lines[at:end], style) if style else _nested(lines[at:end])
        if value is None:
            return None
        fields.values[key] = value
        at = end
    return fields if fields.values else None


def _whole(plain: str) -> bool:
    """Whether a plain scalar is only that: no mapping, no comment in it."""
    return ": " not in plain and " #" not in plain and not plain.endswith(":")


def _top(lines: Sequence[str], at: int) -> bool:
    """Whether the value before this line ends there: what follows, blank lines aside, is not indented."""
    while at < len(lines) and not lines[at]:
        at += 1
    return at == len(lines) or lines[at][0] != " "


def _end(lines: Sequence[str], at: int) -> int:
    """Where the indented lines (or items) end."""
    while at < len(lines) and lines[at][:1] in (" ", "-"):
        at += 1
    return at


def _folded(lines: Sequence[str], style: str) -> str | None:
    """A block scalar whose lines are all indented alike, with none blank."""
    if not lines:
        return None
    indent = len(lines[0]) - len(lines[0].lstrip(" "))
    inner = [line[indent:] for line in lines]
    if indent == 0 or any(
        line[:indent].strip() or not text or text[0] == " " for line, text in zip(lines, inner, strict=True)
    ):
        return None
    text = (" " if style[0] == ">" else "\n").join(inner)
    return text if style.endswith("-") else text + "\n"


def _nested(lines: Sequence[str]) -> Any:
    """One level of `key: value` lines or of `- value` items, all indented alike; None where it is more."""
    if not lines:
        return None
    form = _ITEM if lines[0].lstrip(" ").startswith("-") else _NESTED
    found = [form.fullmatch(line) for line in lines]
    pairs: list[tuple[str, Any]] = []
    for match in found:
        if match is None or match[1] != (found[0] or match)[1]:
            return None
        double, single, plain = match.groups()[-3:]
        if plain is not None and not _whole(plain):
            return None
        value = resolve(plain) if plain is not None else double if double is not None else single
        pairs.append((match[2] if form is _NESTED else "", value))
    return dict(pairs) if form is _NESTED else [value for _, value in pairs]
