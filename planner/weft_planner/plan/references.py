"""References in a plan's texts, `<<id.output.field>>` or `<<item.field>>`, and the values that they point at.

A path is read in JSON values: `.field` of an object, `[0]` of a list. A text is read as JSON first, if it is any.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from weft_planner.plan.json_answer import NotJson, extract

if TYPE_CHECKING:
    from collections.abc import Sequence

FieldPath = tuple[str | int, ...]

# A task's id: a planned one, or one in the plan of a sub-goal, such as `research/sources` or `parts[1]/check`.
ID = r"[\w-]+(?:(?:\[[0-9]+\])*/[\w-]+)*"
PATH = r"(?:\.[\w-]+|\[[0-9]{1,9}\])*"
# What an instruction, an argument or a check may refer to: a task's output, or a field of it.
REFERENCE = re.compile(rf"<<\s*({ID})\.output({PATH})\s*>>")
# What a condition, a question or `for_each` may refer to: a task's output or a part of it, its status, its count.
VALUE = re.compile(rf"<<\s*(?P<id>{ID})\.(?P<part>output(?P<path>{PATH})|status|count)\s*>>")
# What stands for the item in the instruction and arguments of a task with `for_each`.
ITEM = re.compile(rf"<<\s*item(?P<path>{PATH})\s*>>")
NUMBER = ".number"

MISSING: Final = object()
_STEP = re.compile(r"\.([\w-]+)|\[([0-9]+)\]")
_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Reference:
    """A task's output, or with a path, a field of it."""

    id: str
    path: FieldPath = ()

    @property
    def key(self) -> str:
        """What it refers to, as it is written without `.output`: `rows[0].name` of the task `a` is `a.rows[0].name`."""
        return self.id + spelled(self.path)

    def __str__(self) -> str:
        return f"<<{self.id}.output{spelled(self.path)}>>"


def references(value: object, pattern: re.Pattern[str] = REFERENCE) -> Iterator[Reference]:
    """Every reference inside a JSON-like value."""
    for text in strings(value):
        if "<<" in text:  # most texts have none, and every task is asked for its own several times
            yield from map(reference_of, pattern.finditer(text))


def reference_of(match: re.Match[str]) -> Reference:
    """The reference that a pattern has found."""
    return Reference(match[1], path_of(match[2]))


def path_of(text: str) -> FieldPath:
    """The steps of a path as it stands in a reference."""
    return tuple(name or int(number) for name, number in _STEP.findall(text))


def spelled(path: Sequence[str | int]) -> str:
    """A path as it stands in a reference: `.rows[0].name`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)


def field_of(value: Any, path: FieldPath) -> Any:
    """The field of a JSON value or text; raises ValueError, which says what there is instead."""
    for place, step in enumerate(path):
        where = spelled(path[:place]).lstrip(".") or "it"
        if isinstance(value, str) and (value := json_in(value)) is MISSING:
            raise ValueError(f"{where} is not JSON")
        if isinstance(step, int):
            if not isinstance(value, list | tuple):
                raise ValueError(f"{where} is not a list")  # noqa: TRY004 - one kind of error, whatever is missing
            if step >= len(value):
                raise ValueError(f"{where} has {len(value)} items, and the first is [0]")
        elif not isinstance(value, dict):
            raise ValueError(f"{where} is not an object")  # noqa: TRY004
        elif step not in value:
            raise ValueError(f"{where} has no field {step!r}; its fields are: {_some(value)}")
        value = value[step]
    return value


def _some(names: Mapping[str, Any]) -> str:
    return (", ".join(list(names)[:_SHOWN]) + (" …" if len(names) > _SHOWN else "")) or "none"


def value_at(value: Any, path: str) -> Any:
    """The value at a path such as `.rows[0].name`; MISSING if there is none."""
    try:
        return field_of(value, path_of(path))
    except ValueError:
        return MISSING


def json_in(text: str) -> Any:
    """The JSON object or list that a text is, or holds in a fence; MISSING if it is none."""
    try:
        return extract(text)
    except NotJson:
        return MISSING


def as_text(value: Any) -> str:
    """A JSON value as it stands in a prompt: text as it is, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def strings(value: object) -> Iterator[str]:
    """Every string inside a JSON-like value."""
    match value:
        case str():
            yield value
        case Mapping():
            for item in value.values():
                yield from strings(item)
        case list() | tuple():
            for item in value:
                yield from strings(item)


def renamed(value: Any, ids: Mapping[str, str], pattern: re.Pattern[str] = REFERENCE) -> Any:
    """A JSON-like value whose references name other tasks."""
    match value:
        case str():
            return pattern.sub(lambda match: _with_id(match, ids), value)
        case Mapping():
            return {key: renamed(item, ids, pattern) for key, item in value.items()}
        case list() | tuple():
            return [renamed(item, ids, pattern) for item in value]
        case _:
            return value


def _with_id(match: re.Match[str], ids: Mapping[str, str]) -> str:
    start, end = match.start(1) - match.start(), match.end(1) - match.start()
    whole = match.group()
    return whole[:start] + ids.get(match.group(1), match.group(1)) + whole[end:]
