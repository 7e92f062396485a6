"""Characters that steer a terminal, or the order in which text is shown, instead of being shown."""

from __future__ import annotations

import re
import unicodedata

_LONE_RETURN = re.compile(r"\r(?!\n)")
_KINDS = ("Cc", "Zl", "Zp", "Cs")
_DIRECTIONS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")


def steers(text: str) -> bool:
    """Whether a text has control characters, line separators, halves of characters, or marks of direction."""
    if text.isprintable():
        return False
    return any(character in _DIRECTIONS or unicodedata.category(character) in _KINDS for character in text)


def spelled_out(text: str) -> str:
    """A text in which such characters are seen; line ends and tabs stay as they are."""
    text = _LONE_RETURN.sub(r"\\r", text)
    kept = "\n\r\t"
    return "".join(
        character.encode("unicode_escape").decode()
        if character not in kept and not character.isprintable() and steers(character)
        else character
        for character in text
    )


def printable(text: str, instead: str = " ", kept: str = "") -> str:
    """A text with `instead` of each character that is not shown, except those `kept`."""
    return "".join(letter if letter.isprintable() or letter in kept else instead for letter in text)


def without_format(text: str) -> str:
    """A text without the characters that are never shown, such as zero-width ones: some file systems ignore them."""
    return (
        text if text.isascii() else "".join(character for character in text if unicodedata.category(character) != "Cf")
    )
