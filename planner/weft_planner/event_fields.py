"""Events as plain values: the name of an event's type, its fields, and both as one JSON object."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

# The types of JSON values that hold no other values.
ATOMS = frozenset({str, int, float, bool, type(None)})


def type_name(event: object) -> str:
    """The type of an event as traces spell it: `task_started` for TaskStarted."""
    kind: type = type(event)
    return type_name_of(kind)


@cache
def type_name_of(kind: type) -> str:
    """The name that traces use for an event class."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


@cache
def field_names(kind: type) -> tuple[str, ...]:
    """The field names of an event class, or of any other dataclass."""
    return tuple(one.name for one in fields(kind))


def fields_of(value: object) -> dict[str, Any]:
    """The values of an event's fields, or of another dataclass's, by name."""
    kind: type = type(value)
    return _reader(kind)(value)


@cache
def _reader(kind: type) -> Callable[[object], dict[str, Any]]:
    """What reads a class's fields, made from their names: a loop over them takes three times as long."""
    items = ", ".join(f"{name!r}: value.{name}" for name in field_names(kind))
    made: Callable[[object], dict[str, Any]] = eval(f"lambda value: {{{items}}}")  # noqa: S307 - names in the code
    return made


def to_dict(event: object) -> dict[str, Any]:
    """The event as plain JSON values, its type first."""
    return {"type": type_name(event), **_plain_fields(event)}


def _plain_fields(value: object) -> dict[str, Any]:
    return {name: _plain(item) for name, item in fields_of(value).items()}


def _plain(value: Any) -> Any:
    if type(value) in ATOMS:
        return value
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value):
        return _plain_fields(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
