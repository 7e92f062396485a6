"""Forms that MCP servers ask people to fill in: flat, with text, numbers, booleans and choices."""

from __future__ import annotations

import json
import re
from datetime import date, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from goalwright_skills.text.untrusted import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_MOST_FIELDS = 50
_LONGEST_LINE = 300
_SECRET = re.compile(
    r"pass(?:word|phrase|code)|\bpin\b|secret|credential|api[ _-]?key|access[ _-]?key|private[ _-]?key|\btoken\b"
    r"|card[ _-]?number|\bcvv\b",
    re.IGNORECASE,
)
_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])|_")
_TRUE, _FALSE = ("true", "yes", "y", "on", "1"), ("false", "no", "n", "off", "0")


def fields(schema: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the fields of a form by name."""
    rows = schema.get("properties")
    table = rows if isinstance(rows, dict) else {}
    return {str(name): row if isinstance(row, dict) else {} for name, row in list(table.items())[:_MOST_FIELDS]}


def described(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield one line for each field of a form: its name, type and description."""
    required = _required(schema)
    for name, row in fields(schema).items():
        description = str(row.get("description") or row.get("title") or "")
        kind = f"one of {', '.join(map(str, row['enum']))}" if isinstance(row.get("enum"), list) else row.get("type")
        notes = [str(kind or "text"), *(["required"] if name in required else [])]
        notes += [f"default {json.dumps(row['default'], ensure_ascii=False)}"] if "default" in row else []
        yield printable(f"{name} ({', '.join(notes)}){': ' if description else ''}{description}")[:_LONGEST_LINE]


def asks_secret(schema: Mapping[str, Any], message: str = "") -> str | None:
    """Return the field of a form that asks for a secret, which servers may not do; None if there is none."""
    for name, row in fields(schema).items():
        words = _WORDS.sub(" ", name)
        if row.get("format") == "password" or _SECRET.search(f"{words} {row.get('title') or ''}"):
            return name
    names = list(fields(schema))
    request = re.search(r"\b(?:enter|type|give|provide|paste)\b.{0,40}", message, re.IGNORECASE)
    return names[0] if len(names) == 1 and request and _SECRET.search(request[0]) else None


def parse_answer(schema: Mapping[str, Any], text: str) -> tuple[dict[str, Any], list[str]]:
    """Return the values of an answer, with defaults filled in, and their faults.

    An answer is a JSON object; for a form with one field, the value alone is enough.
    """
    form_fields = fields(schema)
    values_given = _parse_values(form_fields, text)
    if values_given is None:
        names = ", ".join(form_fields) or "no fields"
        return {}, [f"it is not a JSON object of the fields: {names}"]
    values = {name: row["default"] for name, row in form_fields.items() if "default" in row} | values_given
    faults = [f"{name!r:.60} is not a field of the form" for name in values_given if name not in form_fields]
    faults += [f"{name} is missing" for name in _required(schema) if name not in values]
    for name, value in list(values.items()):
        if name in form_fields:
            values[name], value_faults = _value(form_fields[name], value)
            faults += [f"{name} {fault}" for fault in value_faults]
    return values, faults


def _required(schema: Mapping[str, Any]) -> list[str]:
    names = schema.get("required")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def _parse_values(form_fields: Mapping[str, Any], text: str) -> dict[str, Any] | None:
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        parsed = None
    if isinstance(parsed, dict):
        return parsed
    if len(form_fields) == 1:
        return {next(iter(form_fields)): text}
    if not form_fields or not text.strip():
        return {}
    return None


def _value(row: Mapping[str, Any], value: Any) -> tuple[Any, list[str]]:
    """Convert a value to its field's type; strings are parsed as numbers and booleans."""
    kind = row.get("type")
    if kind == "array":
        return _list_value(row, value)
    if choices := list(_choices(row)):
        return (value, []) if value in choices else (value, [f"must be one of: {', '.join(choices)}"])
    if kind == "boolean":
        return _boolean(value)
    if kind in ("number", "integer"):
        return _number(row, value)
    if not isinstance(value, str):
        return value, ["must be text"]
    return value, list(_text_faults(row, value))


def _choices(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield the choices, which may be plain or have titles."""
    for value in row["enum"] if isinstance(row.get("enum"), list) else ():
        yield str(value)
    for key in ("oneOf", "anyOf"):
        for choice in row[key] if isinstance(row.get(key), list) else ():
            if isinstance(choice, dict) and "const" in choice:
                yield str(choice["const"])


def _list_value(row: Mapping[str, Any], value: Any) -> tuple[Any, list[str]]:
    if isinstance(value, str):
        try:
            parsed = json.loads(value)
        except ValueError:
            parsed = None
        value = parsed if isinstance(parsed, list) else [part.strip() for part in value.split(",") if part.strip()]
    if not isinstance(value, list):
        return value, ["must be a list"]
    items = row.get("items")
    choices = list(_choices(items)) if isinstance(items, dict) else []
    faults = [f"has {part!r:.60}, which is not one of: {', '.join(choices)}" for part in value if part not in choices]
    for key, is_wrong, word in (("minItems", int.__lt__, "at least"), ("maxItems", int.__gt__, "at most")):
        bound = row.get(key)
        if isinstance(bound, int) and is_wrong(len(value), bound):
            faults.append(f"must have {word} {bound}")
    return value, faults


def _boolean(value: Any) -> tuple[Any, list[str]]:
    word = str(value).strip().lower()
    if isinstance(value, bool) or word in (*_TRUE, *_FALSE):
        return value if isinstance(value, bool) else word in _TRUE, []
    return value, ["must be true or false"]


def _number(row: Mapping[str, Any], value: Any) -> tuple[Any, list[str]]:
    is_integer = row.get("type") == "integer"
    try:
        if isinstance(value, str):
            value = int(value) if is_integer else float(value)
    except ValueError:
        pass
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300
    if not is_number or (is_integer and value != int(value)):
        return value, ["must be a whole number" if is_integer else "must be a number"]
    low, high = row.get("minimum"), row.get("maximum")
    faults = [f"must be at least {low}"] if isinstance(low, int | float) and value < low else []
    faults += [f"must be at most {high}"] if isinstance(high, int | float) and value > high else []
    return value, faults


def _text_faults(row: Mapping[str, Any], value: str) -> Iterator[str]:
    low, high = row.get("minLength"), row.get("maxLength")
    if isinstance(low, int) and len(value) < low:
        yield f"must have at least {low} characters"
    if isinstance(high, int) and len(value) > high:
        yield f"must have at most {high} characters"
    kind = row.get("format")
    if isinstance(kind, str) and not _has_format(kind, value):
        yield f"must be {_FORMATS.get(kind, kind)}"


_FORMATS = {
    "email": "an e-mail address",
    "uri": "an address such as https://example.com",
    "date": "a date such as 2026-01-31",
    "date-time": "a time such as 2026-01-31T12:00:00Z",
}


def _has_format(kind: str, value: str) -> bool:
    try:
        match kind:
            case "email":
                return re.fullmatch(r"[^@\s]{1,64}@[^@\s]{1,255}", value) is not None
            case "uri":
                return bool(urlsplit(value).scheme)
            case "date":
                date.fromisoformat(value)
            case "date-time":
                datetime.fromisoformat(value)
    except ValueError:
        return False
    return True
