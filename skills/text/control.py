"""Characters that steer a terminal, or the order in which text is shown, instead of being shown."""

from __future__ import annotations

import unicodedata

_KINDS = ("Cc", "Zl", "Zp", "Cs")
_DIRECTIONS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")


def steers(text: str) -> bool:
    """Whether a text has control characters, line separators, halves of characters, or marks of direction."""
    if text.isprintable():
        return False
    return any(one in _DIRECTIONS or unicodedata.category(one) in _KINDS for one in text)


def without_format(text: str) -> str:
    """A text without the characters that are never shown, such as zero-width ones: some file systems ignore them."""
    return text if text.isascii() else "".join(one for one in text if unicodedata.category(one) != "Cf")
