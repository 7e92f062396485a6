"""Reads frontmatter that is not valid YAML key by key, as its author meant it.

Most such files contain one unquoted colon or bracket. Each key is parsed as YAML on its own, and a value that is not
valid YAML is read as plain text.
"""

from __future__ import annotations

import re
import textwrap
from typing import Any

from goalwright_skills.format.plain_yaml import Fields, Malformed, Unsafe
from goalwright_skills.format.safe_yaml import load

_KNOWN = "name|description|license|compatibility|metadata|allowed-tools|model|arguments|when_to_use"
_KEY = re.compile(rf"(?:([A-Za-z_][\w.-]*)[ \t]*:(?=\s|$)|({_KNOWN}):)", re.IGNORECASE)
# A key that is indented by mistake, below a value that ends on its own line.
_SLIPPED = re.compile(r"[ \t]{1,3}(name|description)[ \t]*:(?=\s|$)", re.IGNORECASE)
_STYLE = re.compile(r"([|>])[-+0-9]*\s*")
KEYS = 500


def read(block: str) -> Fields:
    """Return the block's fields, each parsed as YAML if it is valid, otherwise as text."""
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
    """Return the lines of each top-level key, the first line without the key itself."""
    chunks: dict[str, list[str]] = {}
    current: list[str] = []
    for line in textwrap.dedent(block).split("\n"):
        match = _KEY.match(line)
        if match is not None and len(chunks) < KEYS:
            current = chunks[match[1] or match[2]] = [line[match.end() :]]
        elif (slipped := _SLIPPED.match(line)) and slipped[1] not in chunks and _ended(current):
            current = chunks[slipped[1]] = [line[slipped.end() :]]
        else:
            current.append(line)
    return {key: "\n".join(lines) for key, lines in chunks.items()}


def remedy(block: str, line: int) -> str:
    """Return a remedy for the line at which YAML fails."""
    lines = block.split("\n")
    number = min(line, len(lines)) - 1
    if re.match(r" *\t", lines[number]):
        return "indent with spaces, not with tabs"
    value = next((above.partition(":")[2].strip() for above in lines[number::-1] if _KEY.match(above)), "")
    if value.startswith('"') and "\\" in value:
        return "put the value in single quotes, or write each backslash twice"
    if value[:1] in ("'", '"') and value:
        return "close the quotes at the end of the value, and use the other kind inside them"
    return "put the value in double quotes"


def text(chunk: str) -> str:
    """Read a value as plain text: dedent block scalars, join other lines and remove surrounding quotes."""
    first, _, rest = chunk.partition("\n")
    style = _STYLE.fullmatch(first.strip())
    if style is not None:
        lines = textwrap.dedent(rest).strip("\n")
        return lines if style[1] == "|" else re.sub(r"(?<!\n)\n(?!\n)", " ", lines)
    joined = " ".join(line.strip() for line in chunk.split("\n") if line.strip())
    if len(joined) > 1 and joined[0] == joined[-1] and joined[0] in "'\"":
        return joined[1:-1]
    if joined[:1] in ("'", '"') and joined.count(joined[0]) == 1:
        return joined[1:]
    return joined


def _ended(lines: list[str]) -> bool:
    """Whether a value is plain, so that it may end with its line."""
    value = lines[0].strip() if len(lines) == 1 else ""
    return bool(value) and value[0] not in "|>\"'[{"


def _unclosed(chunk: str) -> bool:
    """Whether a value opens a list or a mapping and never closes it, which makes its meaning ambiguous."""
    start = chunk.strip()[:1]
    return (start == "[" and "]" not in chunk) or (start == "{" and "}" not in chunk)


def _value(chunk: str) -> tuple[Any, str | None]:
    try:
        fields = load(f"key:{chunk}" if chunk[:1] in ("", " ", "\n") else f"key: {chunk}")
    except Unsafe:
        raise
    except Malformed:
        if "\n\t" in chunk:
            return _value(re.sub(r"(?<=\n)\t+", lambda tabs: "  " * len(tabs[0]), chunk))
        return text(chunk), None
    if fields.values.keys() != {"key"}:
        return text(chunk), None
    return fields.values["key"], fields.texts.get("key")
