"""The other writings of a secret: as JSON, URLs and base64 have it, and the lines of one that has several."""

from __future__ import annotations

import json
from base64 import b64encode, urlsafe_b64encode
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus

if TYPE_CHECKING:
    from collections.abc import Iterator

# From so many characters on a line of a secret counts, and what base64 keeps of one wherever it begins.
_LINE = 12
_PART = 8
# A tool's arguments are JSON inside a message; what a tool read there may be JSON itself.
_DEPTH = 3


def forms(secret: str) -> set[str]:
    """All texts that give the secret away: itself, and what it becomes inside other texts."""
    found = {secret, secret.encode().hex()}
    for text in (secret, *_lines(secret)):
        found |= {text, *_escaped(text), quote(text), quote(text, safe=""), quote_plus(text)}
    return found | set(_encoded(secret.encode()))


def _lines(secret: str) -> Iterator[str]:
    """The lines of a key that has several; one with a blank may as well be plain words."""
    lines = secret.splitlines() if "\n" in secret else []
    return (line for line in map(str.strip, lines) if len(line) >= _LINE and " " not in line)


def _escaped(text: str) -> Iterator[str]:
    """As a JSON string has it, and as one does that stands inside others."""
    for is_ascii in (True, False):
        escaped = text
        for _ in range(_DEPTH):
            escaped = json.dumps(escaped, ensure_ascii=is_ascii)[1:-1]
            yield escaped


def _encoded(secret: bytes) -> Iterator[str]:
    """The part that base64 keeps of it, whatever stands around it: `user:password` has it too."""
    for before in range(3):
        for encode in (b64encode, urlsafe_b64encode):
            whole = encode(bytes(before) + secret).decode().rstrip("=")
            # Bits of what stands before are in the first characters, of what stands after in the last.
            end = (before + len(secret)) * 8 // 6
            part = whole[-(-before * 8 // 6) : end]
            if len(part) >= _PART:
                yield part
