"""The schema of a result: a small part of JSON Schema, the faults of a schema, and the faults of a value."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from goalwright_planner.plan.references import spelled

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from goalwright_planner.plan.references import FieldPath

KEYWORDS = (
    "type", "properties", "required", "items", "enum", "minimum", "maximum", "minLength", "maxLength", "minItems",
    "maxItems",
)  # fmt: skip
TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")
_ARTICLES = {"object": "an", "array": "an", "integer": "an", "null": ""}
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems")
_BOUNDS = ("minimum", "maximum")
_PAIRS = (("minimum", "maximum"), ("minLength", "maxLength"), ("minItems", "maxItems"))
_SHOWN = 80
_LONGEST = 200


def schema_faults(schema: object, where: str = "output_schema") -> Iterator[str]:
    """Yield every fault of a schema."""
    if not isinstance(schema, Mapping):
        yield f"'{where}' must be an object with a JSON Schema, not {type_of(schema)}"
        return
    if not schema:
        yield f"'{where}' is empty; say at least its 'type'"
    for key in schema:
        if key not in KEYWORDS:
            yield f"'{where}' has the keyword {key!r}, which is not supported; use only {', '.join(KEYWORDS)}"
    yield from _type_faults(schema, where)
    yield from _limit_faults(schema, where)
    if "enum" in schema and not (isinstance(schema["enum"], list) and schema["enum"]):
        yield f"'{where}.enum' must be a list with one value or more"
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        yield f"'{where}.required' must be a list of field names"
    properties = schema.get("properties", {})
    if not isinstance(properties, Mapping):
        yield f"'{where}.properties' must be an object with a schema for each field, not {type_of(properties)}"
    else:
        for name, inner in properties.items():
            yield from schema_faults(inner, f"{where}.properties.{name}")
    if "items" in schema:
        yield from schema_faults(schema["items"], f"{where}.items")


def _type_faults(schema: Mapping[str, Any], where: str) -> Iterator[str]:
    if "type" not in schema:
        return
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not kinds or not all(isinstance(kind, str) and kind in TYPES for kind in kinds):
        yield f"'{where}.type' must be one of {', '.join(TYPES)}, or a list of these, not {short(schema['type'])}"


def _limit_faults(schema: Mapping[str, Any], where: str) -> Iterator[str]:
    right = {key for key in _BOUNDS if _is_number(schema.get(key))}
    right |= {key for key in _COUNTS if _is_number(schema.get(key), int) and schema[key] >= 0}
    for key in (*_BOUNDS, *_COUNTS):
        if key in schema and key not in right:
            number = "a whole number of 0 or more" if key in _COUNTS else "a number"
            yield f"'{where}.{key}' must be {number}, not {short(schema[key])}"
    for least, most in _PAIRS:
        if least in right and most in right and schema[least] > schema[most]:
            yield f"'{where}.{least}' is above '{most}': no value can fit"


def excluded(schema: Mapping[str, Any], path: FieldPath) -> str | None:
    """Return why no value of a valid schema can have a field, or None if one may have it."""
    for depth, step in enumerate(path):
        where = spelled(path[:depth]).lstrip(".") or "the result"
        kinds = _kinds(schema)
        if isinstance(step, int):
            if "array" not in kinds:
                return f"{where} is {_listed(kinds)}, not a list"
            if step >= schema.get("maxItems", step + 1):
                return f"{where} has at most {schema['maxItems']} items, and the first is [0]"
            schema = schema.get("items", {})
        else:
            if "object" not in kinds:
                return f"{where} is {_listed(kinds)}, not an object"
            fields = dict.fromkeys((*schema.get("properties", {}), *schema.get("required", ())))
            if fields and step not in fields:
                return f"{where} has no field {step!r}; its fields are: {', '.join(fields)}"
            schema = schema.get("properties", {}).get(step, {})
    return None


def _kinds(schema: Mapping[str, Any]) -> Sequence[str]:
    kinds = schema.get("type", TYPES)
    return [kinds] if isinstance(kinds, str) else kinds


def value_faults(value: Any, schema: Mapping[str, Any]) -> list[str]:
    """Return every fault of a value, in the order of its fields.

    Texts of the value are not quoted: a shortened path would differ in another checkout and break strict replay.
    """
    return error_messages(_validator()(schema).iter_errors(value))


def error_messages(errors: Iterable[Any]) -> list[str]:
    """Return the distinct errors of a jsonschema validator in plain words, in the order of the fields."""
    ordered = sorted(errors, key=lambda error: _order(error.absolute_path))
    return list(dict.fromkeys(message for error in ordered for message in _messages(error)))


@cache
def _validator() -> Any:
    """Return a validator for these keywords alone: a schema in a foreign record cannot fetch URLs or run patterns."""
    from jsonschema import Draft202012Validator, validators  # slow to import, and most plans have no schema

    supported = {key: Draft202012Validator.VALIDATORS[key] for key in KEYWORDS}
    return validators.create({}, supported, type_checker=Draft202012Validator.TYPE_CHECKER)


def _order(path: Sequence[str | int]) -> list[tuple[int, str]]:
    return [(step, "") if isinstance(step, int) else (-1, step) for step in path]


def _messages(error: Any) -> Iterator[str]:
    where = spelled(error.absolute_path).lstrip(".") or "the answer"
    limit, value = error.validator_value, error.instance
    match error.validator:
        case "type":
            yield f"{where} must be {_listed(limit if isinstance(limit, list) else [limit])}, not {type_of(value)}"
        case "required":
            yield from (f"{where} lacks the field {name!r}" for name in limit if name not in value)
        case "enum":
            yield f"{where} must be one of {', '.join(map(_json, limit))}"
        case "minimum":
            yield f"{where} must be {limit} or more, not {short(value)}"
        case "maximum":
            yield f"{where} must be {limit} or less, not {short(value)}"
        case "minLength" | "maxLength":
            bound = "at least" if error.validator == "minLength" else "at most"
            yield f"{where} must have {bound} {limit} characters, not {len(value)}"
        case "minItems" | "maxItems":
            bound = "at least" if error.validator == "minItems" else "at most"
            yield f"{where} must have {bound} {limit} items, not {len(value)}"
        case "anyOf" | "oneOf" if error.context:
            forms: dict[int, str] = {}
            for inner in error.context:
                forms.setdefault(inner.schema_path[0], next(iter(_messages(inner)), ""))
            yield f"{where} fits none of its forms: {'; or '.join(forms.values())}"
        case "additionalProperties" if limit is False:
            fields = error.schema.get("properties", {})
            unknown = [name for name in value if name not in fields]
            yield f"{where} has fields that are not in its form: {', '.join(unknown)}"
        case keyword:
            yield f"{where} does not fit {_json({keyword: limit})[:_LONGEST]}"


def canonical(value: Any) -> str:
    """Return canonical JSON: sorted keys, no spaces, whole numbers without a fraction; raises ValueError for NaN."""
    return json.dumps(_plain(value), ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))


def _plain(value: Any) -> Any:
    match value:
        case float() if value.is_integer() and abs(value) < 1e21:
            return int(value)
        case dict():
            return {key: _plain(item) for key, item in value.items()}
        case list():
            return [_plain(item) for item in value]
        case _:
            return value


def _listed(kinds: Sequence[str]) -> str:
    return " or ".join(f"{_ARTICLES.get(kind, 'a')} {kind}".strip() for kind in kinds)


def type_of(value: object, array: str = "an array") -> str:
    """Return the type of a JSON value in words."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return array
        case Mapping():
            return "an object"
        case _:
            return f"a {type(value).__name__}"


def _is_number(value: object, kind: type = object) -> bool:
    return isinstance(value, int | float) and isinstance(value, kind) and not isinstance(value, bool)


def short(value: object) -> str:
    """Return the beginning of a JSON value for a message."""
    text = _json(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
