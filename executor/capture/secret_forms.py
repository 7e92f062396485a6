"""The other forms of a secret: escaped in JSON and URLs, encoded in base64 and hex, and line by line."""

from __future__ import annotations

import json
from base64 import b64encode, urlsafe_b64encode
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus

if TYPE_CHECKING:
    from collections.abc import Iterator

# The shortest line of a secret that is redacted by itself, and the shortest piece of base64.
_LINE = 12
_PART = 8
# How often a secret may be escaped: a tool's arguments are JSON inside JSON, and may hold JSON themselves.
_DEPTH = 3


def forms(secret: str) -> set[str]:
    """All texts that give the secret away: itself, and its forms inside other texts."""
    found = {secret, secret.encode().hex()}
    for text in (secret, *_lines(secret)):
        found |= {text, *_escaped(text), quote(text), quote(text, safe=""), quote_plus(text)}
    return found | set(_encoded(secret.encode()))


def _lines(secret: str) -> Iterator[str]:
    """The lines of a multi-line key; a line with a space may be plain words."""
    lines = secret.splitlines() if "\n" in secret else []
    return (line for line in map(str.strip, lines) if len(line) >= _LINE and " " not in line)


def _escaped(text: str) -> Iterator[str]:
    """The text in a JSON string, and in JSON strings nested in others."""
    for is_ascii in (True, False):
        escaped = text
        for _ in range(_DEPTH):
            escaped = json.dumps(escaped, ensure_ascii=is_ascii)[1:-1]
            yield escaped


def _encoded(secret: bytes) -> Iterator[str]:
    """The part of its base64 that does not depend on the bytes around it, such as `user:` before a password."""
    for before in range(3):
        for encode in (b64encode, urlsafe_b64encode):
            whole = encode(bytes(before) + secret).decode().rstrip("=")
            # The first characters hold bits of what comes before, the last ones bits of what comes after.
            end = (before + len(secret)) * 8 // 6
            part = whole[-(-before * 8 // 6) : end]
            if len(part) >= _PART:
                yield part
