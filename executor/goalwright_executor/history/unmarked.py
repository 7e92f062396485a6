"""Markdown as the words that a reader sees, for a line of a list."""

from __future__ import annotations

import re

# Lines that are nothing but marks: fences of code, rules, and what stands below the head of a table.
_LINES = re.compile(
    r"^[ \t]*(?:(?:`{3,}|~{3,})[^\n`]*|[-=*_ \t]{3,}|\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-*:?[ \t]*)+)$", re.M
)
_HEADS = re.compile(r"^[ \t]{0,3}(?:#{1,6}[ \t]+|(?:>[ \t]?)+)", re.M)
_ITEMS = re.compile(r"^[ \t]*[-*+][ \t]+(?:\[[ xX]\][ \t]+)?", re.M)
_CELLS = re.compile(r"^[ \t]*\|(.{0,2000})\|[ \t]*$", re.M)
_LINKS = re.compile(r"!?\[([^\]\n]{0,500})\]\([^()\s]{0,2000}(?:[ \t]+\"[^\"\n]{0,200}\")?\)")
# The same mark before and after some words: twice, because one may stand inside another.
_PAIRS = re.compile(r"(?<![\w\\])(\*{1,3}|_{1,3}|~~|`+)(?=[^\s*_~`]|[*_~`]+\w)([^\n]{1,500}?)(?<=\S)\1(?!\w)")


def unmarked(text: str) -> str:
    """The text without the marks of headings, lists, tables, links, code and emphasis; its words stay."""
    text = _HEADS.sub("", _LINES.sub("", text))
    text = _CELLS.sub(lambda row: " · ".join(cell.strip() for cell in row[1].split("|")), text)
    text = _LINKS.sub(r"\1", _ITEMS.sub("• ", text))
    return _PAIRS.sub(r"\2", _PAIRS.sub(r"\2", text)).strip()
