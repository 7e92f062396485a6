"""Parses the checks of a case: objects with one known check as their key."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from goalwright_executor.model_loop.data_schema import DataSchema
from goalwright_skills.errors import InputError
from goalwright_skills.text.formatting import guess, shorten

_NAME_LENGTH = 80
_LONGEST = 10_000
_FILE_KEYS = ("path", "contains", "json_schema", "min_bytes", "exact")
_TASK_KEYS = ("min", "max", "min_parallel")


class BadCheck(ValueError):
    """A check is invalid."""


@dataclass(frozen=True, slots=True)
class CaseCheck:
    """A check: its kind, its value, and its `raw` form from the case file; texts match in any case unless `exact`."""

    kind: str
    value: Any
    exact: bool = False
    raw: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def name(self) -> str:
        """A short name for the check."""
        return shorten(
            self.value if self.kind == "expectation" else f"{self.kind}: {_text_of(self.value)}", _NAME_LENGTH
        )


def read_check(raw: object) -> CaseCheck:
    """Parse a check; raises BadCheck if it is invalid."""
    if isinstance(raw, str):  # a sentence, as `expectations` has them
        raw = {"expectation": raw}
    if not isinstance(raw, Mapping):
        raise BadCheck(f'a check must be an object such as {{"contains": "Dear"}}, not {type(raw).__name__}')
    kinds = [key for key in raw if key in _READERS]
    if len(kinds) != 1:
        if kinds:
            raise BadCheck(f"a check can have only one of {', '.join(kinds)}")
        near = next((near for key in raw if (near := guess(str(key), _READERS))), "")
        raise BadCheck(
            f"there is no check {', '.join(map(str, raw))!r}; "
            + (f"did you mean {near!r}?" if near else f"checks are: {', '.join(_READERS)}")
        )
    (kind,) = kinds
    unknown = [str(key) for key in raw if key not in (kind, "exact")]
    if unknown:
        raise BadCheck(f"the check {kind!r} has the unknown key {unknown[0]!r}")
    try:
        return CaseCheck(kind, _READERS[kind](raw[kind]), _flag(raw.get("exact", False)), dict(raw))
    except BadCheck as error:
        raise BadCheck(str(error) if kind in str(error) else f"the check {kind!r}: {error}") from error


def _text_of(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_text_of(inner)}" for key, inner in value.items())
    return " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise BadCheck(f"it must be a string, not {value!r}")
    if len(value) > _LONGEST:
        raise BadCheck(f"it is longer than {_LONGEST:,} characters")
    return value


def _regex(value: Any) -> str:
    try:
        re.compile(_text(value))
    except (re.error, OverflowError, RecursionError) as error:
        raise BadCheck(f"{value!r} is not a regular expression: {error}") from error
    return str(value)


def _schema(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise BadCheck("'json_schema' must be a JSON Schema object")
    try:
        return DataSchema.of(value).document
    except InputError as error:
        raise BadCheck(error.message.replace("schema=", "'json_schema'", 1)) from error


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise BadCheck(f"it must be a number of 0 or more, not {value!r}")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise BadCheck("'exact' must be true or false")
    return value


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise BadCheck(f"it must be an integer of 0 or more, not {value!r}")
    return value


def _check_keys(value: Mapping[Any, Any], kind: str, keys: tuple[str, ...]) -> None:
    if unknown := [str(key) for key in value if key not in keys]:
        raise BadCheck(f"'{kind}' has the unknown key {unknown[0]!r}; it has: {', '.join(keys)}")


def _file(value: Any) -> Mapping[str, Any]:
    if isinstance(value, str):
        value = {"path": value}
    if not isinstance(value, Mapping) or "path" not in value:
        raise BadCheck('\'file\' needs a path or pattern, such as {"path": "*.csv"}')
    _check_keys(value, "file", _FILE_KEYS)
    readers: dict[str, Callable[[Any], Any]] = {
        "path": _text,
        "contains": _text,
        "json_schema": _schema,
        "min_bytes": _count,
        "exact": _flag,
    }
    return {key: readers[key](inner) for key, inner in value.items()}


def _tasks(value: Any) -> Mapping[str, int]:
    if not isinstance(value, Mapping) or not value:
        raise BadCheck(f"'tasks' needs bounds: {', '.join(_TASK_KEYS)}")
    _check_keys(value, "tasks", _TASK_KEYS)
    return {key: _count(inner) for key, inner in value.items()}


def _command(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(part, str) and part for part in value):
        raise BadCheck('\'command\' needs a program and its arguments, such as ["python", "grade.py"]')
    return tuple(value)


_READERS: dict[str, Callable[[Any], Any]] = {
    "contains": _text,
    "not_contains": _text,
    "regex": _regex,
    "json_schema": _schema,
    "file": _file,
    "skill": _text,
    "tasks": _tasks,
    "max_cost": _number,
    "max_seconds": _number,
    "max_calls": _count,
    "command": _command,
    "expectation": _text,
}
