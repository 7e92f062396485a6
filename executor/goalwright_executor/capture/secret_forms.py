"""The other forms of a secret: escaped in JSON and URLs, encoded in base64 and hex, line by line, and broken up."""

from __future__ import annotations

import json
import re
from base64 import b64encode, urlsafe_b64encode
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus

if TYPE_CHECKING:
    from collections.abc import Iterator

# The shortest line of a secret that is redacted by itself, and the shortest piece of base64.
_LINE = 12
_PART = 8
# The shortest form that is also found broken up, and what may stand in the breaks: spaces and line ends, as they are or
# escaped, and the characters that continue a line or join two strings.
_BROKEN = 16
_WRAPPED = 60  # programs break base64 after 60 characters or more
_GAP = r"(?:[\s\"'+]|\\[nrt]?){0,64}?"
# How often a secret may be escaped: a tool's arguments are JSON inside JSON, and may hold JSON themselves.
_DEPTH = 3


def forms(secret: str) -> set[str]:
    """All texts that give the secret away: itself, and its forms inside other texts."""
    data = secret.encode()
    return {secret, *_written(secret), *_encoded(data)}


def line_forms(secret: str) -> set[str]:
    """The lines of a multi-line key, and their forms inside other texts."""
    return {form for line in _lines(secret) for form in (line, *_written(line))}


def _written(text: str) -> set[str]:
    return {*_escaped(text), quote(text), quote(text, safe=""), quote_plus(text)}


def _lines(secret: str) -> Iterator[str]:
    """The lines of a multi-line key; a line with a space may be plain words."""
    lines = _split(secret)
    return (line for line in lines if len(lines) > 1 and len(line) >= _LINE and " " not in line)


def _split(secret: str) -> list[str]:
    """The lines of a secret, of which the ends may be escaped, as in a .env file."""
    return [line.strip() for line in secret.replace("\\n", "\n").splitlines()]


def breakable(secret: str) -> Iterator[str]:
    """The forms of a secret that are also looked for with line ends or spaces in them; none that may be words."""
    body = "".join(line for line in _split(secret) if not line.startswith("--"))
    encoded = b64encode(secret.encode()).decode().rstrip("=")
    for form, shortest in ((body, _BROKEN), (encoded, _WRAPPED)):
        if len(form) >= shortest and not form.isalpha() and not any(map(str.isspace, form)):
            yield form


@lru_cache(maxsize=512)
def broken(form: str) -> re.Pattern[str]:
    """What finds a form of a secret with breaks in it."""
    return re.compile(_GAP.join(map(re.escape, form)))


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
