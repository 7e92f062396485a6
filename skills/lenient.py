"""Frontmatter that is not valid YAML, read as the person who wrote it meant it: key by key.

Most such files hold one unquoted colon or bracket. Each key is given to the YAML parser on its own, and what
it refuses is taken as plain text.
"""

from __future__ import annotations

import re
import textwrap
from typing import Any

from skills.safeyaml import load
from skills.scalar import Fields, Malformed, Unsafe

_KNOWN = "name|description|license|compatibility|metadata|allowed-tools|model|arguments|when_to_use"
_KEY = re.compile(rf"(?:([A-Za-z_][\w.-]*)[ \t]*:(?=\s|$)|({_KNOWN}):)", re.IGNORECASE)
_STYLE = re.compile(r"([|>])[-+0-9]*\s*")
KEYS = 500


def read(block: str) -> Fields:
    """The block's fields, each as YAML where it is, else as text."""
    fields = Fields()
    for key, chunk in chunks(block).items():
        if key.lower() in ("name", "description") and _unclosed(chunk):
            raise Unsafe(f"{key} opens a bracket that is never closed", 1)
        value, text = _value(chunk)
        fields.values[key] = value
        if text is not None:
            fields.texts[key] = text
    return fields


def chunks(block: str) -> dict[str, str]:
    """Each top-level key's own lines, the first one without the key."""
    found: dict[str, list[str]] = {}
    current: list[str] = []
    for line in textwrap.dedent(block).split("\n"):
        match = _KEY.match(line)
        if match is not None and len(found) < KEYS:
            current = found[match[1] or match[2]] = [line[match.end() :]]
        else:
            current.append(line)
    return {key: "\n".join(lines) for key, lines in found.items()}


def text(chunk: str) -> str:
    """A value as plain text: block scalars dedented, other lines joined, quotes around it removed."""
    first, _, rest = chunk.partition("\n")
    style = _STYLE.fullmatch(first.strip())
    if style is not None:
        lines = textwrap.dedent(rest).strip("\n")
        return lines if style[1] == "|" else re.sub(r"(?<!\n)\n(?!\n)", " ", lines)
    joined = " ".join(line.strip() for line in chunk.split("\n") if line.strip())
    if len(joined) > 1 and joined[0] == joined[-1] and joined[0] in "'\"":
        return joined[1:-1]
    return joined


def _unclosed(chunk: str) -> bool:
    """Whether a value begins as a list or a mapping and never ends: no reading of it is what its writer meant."""
    start = chunk.strip()[:1]
    return (start == "[" and "]" not in chunk) or (start == "{" and "}" not in chunk)


def _value(chunk: str) -> tuple[Any, str | None]:
    try:
        fields = load(f"key:{chunk}" if chunk[:1] in ("", " ", "\n") else f"key: {chunk}")
    except Unsafe:
        raise
    except Malformed:
        return text(chunk), None
    if fields.values.keys() != {"key"}:
        return text(chunk), None
    return fields.values["key"], fields.texts.get("key")
