"""Checks and cleans untrusted text and JSON values."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from typing import Any

MOST_LEVELS = 100
_ELLIPSIS = "…"
_LONE_RETURN = re.compile(r"\r(?!\n)")
_CONTROL_CATEGORIES = ("Cc", "Zl", "Zp", "Cs")
_DIRECTION_MARKS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")
_BINARY_CHECK_BYTES = 65_536
_UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
# Formats whose first bytes may look like text.
_FORMATS = {b"%PDF-": "a PDF", b"PK\x03\x04": "an archive or an office document", b"{\\rtf": "an RTF document"}
# `provider/group/name:tag@version`: no empty part (as in `://`), escape, query, user or space.
_MODEL_PART = r"@?[A-Za-z0-9_][A-Za-z0-9_.+\-]*(?:@[A-Za-z0-9_\-]+)?"
_MODEL_NAME = re.compile(rf"{_MODEL_PART}(?:[/:]{_MODEL_PART})*")
# A scheme without its slashes, an IP address or localhost.
_ADDRESS = re.compile(
    r"(?:^|[/:@])(?:(?:https?|wss?|ftps?|file|unix|tcp|grpcs?)[:/]|(?:\d{1,3}\.){3}\d{1,3}(?![\w.])|localhost(?![\w.\-]))",
    re.IGNORECASE,
)


def steers(text: str) -> bool:
    """Whether a text has control characters, line separators, lone surrogates or direction marks."""
    if text.isprintable():
        return False
    return any(
        character in _DIRECTION_MARKS or unicodedata.category(character) in _CONTROL_CATEGORIES for character in text
    )


def spelled_out(text: str) -> str:
    """Escape the characters that `steers` reports, except line breaks and tabs."""
    text = _LONE_RETURN.sub(r"\\r", text)
    return "".join(
        character.encode("unicode_escape").decode()
        if character not in "\n\r\t" and not character.isprintable() and steers(character)
        else character
        for character in text
    )


def printable(text: str, instead: str = " ", kept: str = "") -> str:
    """Replace each character that is not printable by `instead`, except those in `kept`."""
    return "".join(letter if letter.isprintable() or letter in kept else instead for letter in text)


def without_format(text: str) -> str:
    """Remove invisible format characters such as zero-width spaces, which some file systems ignore."""
    if text.isascii():
        return text
    return "".join(character for character in text if unicodedata.category(character) != "Cf")


def join_surrogates(value: Any, *, keep_numbers: bool = False) -> Any:
    """Join surrogate pairs in a JSON value and replace lone surrogates by U+FFFD, since no file can hold them.

    NaN and Infinity, which Python writes but JSON lacks, become null, as in JavaScript, unless `keep_numbers` is set.
    """
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    else:
        if keep_numbers or ("NaN" not in text and "Infinity" not in text):
            return value
    return json.loads(text) if keep_numbers else json.loads(text, parse_constant=lambda _: None)


def is_too_deep(value: Any) -> bool:
    """Whether lists and objects are nested more than `MOST_LEVELS` levels deep."""
    level = [value]
    for _ in range(MOST_LEVELS):
        level = [item for container in level for item in _items(container)]
        if not level:
            return False
    return any(isinstance(deepest, Mapping | list | tuple) for deepest in level)


def flattened(value: Any, levels: int = MOST_LEVELS) -> Any:
    """Replace everything below a depth by an ellipsis."""
    import msgspec  # here: commands that only list skills do not need it

    if isinstance(value, msgspec.Struct):
        try:
            value = msgspec.to_builtins(value, enc_hook=str)
        except RecursionError:
            value = msgspec.structs.asdict(value)
    if not isinstance(value, Mapping | list | tuple):
        return value
    if levels == 0:
        return _ELLIPSIS
    if isinstance(value, Mapping):
        return {key: flattened(item, levels - 1) for key, item in value.items()}
    return [flattened(item, levels - 1) for item in value]


def _items(value: Any) -> Any:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


def why_not_text(data: bytes) -> str | None:
    """Return why the bytes of a file are not text, as in "a PDF, not a text file", or None if they are."""
    for prefix, name in _FORMATS.items():
        if data.startswith(prefix):
            return f"{name}, not a text file"
    is_binary = b"\0" in data[:_BINARY_CHECK_BYTES] and data[:2] not in _UTF_16_MARKS
    return "not a text file" if is_binary else None


def carries_address(model: str) -> bool:
    """Whether a model's name could be read as an address, to which litellm would send prompts and a key."""
    return _MODEL_NAME.fullmatch(model) is None or _ADDRESS.search(model) is not None
