"""References in the texts of a plan, `<<id.output.field>>` or `<<item.field>>`, and the values that they point at.

A task has an `output`, a `status` and a `count`; the items of a `for_each` have them too: `<<id[1].output>>`. The steps
of a path are `.field` for an object and `[0]` for a list. A text that is JSON is parsed first.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from goalwright_planner.json_answer import NotJson, extract
from goalwright_planner.plan.task_id import item_id

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

FieldPath = tuple[str | int, ...]

# The id of a planned task or of a task of a sub-goal: `research/sources`, `parts[1]/check` or `fix#2/run`.
ID = r"[\w-]+(?:(?:\[[0-9]+\]|#[0-9]+)*/[\w-]+)*"
# The prefix of a task of an earlier turn of the conversation, as in `<<turn2.survey.output>>`.
TURN = r"(?:turn[1-9][0-9]{0,5}\.(?!(?:output|status|count)\b))?"
PATH = r"(?:\.[\w-]+|\[[0-9]{1,9}\])*"
REFERENCE = re.compile(
    rf"<<\s*(?P<id>{TURN}{ID})(?:\[(?P<item>[1-9][0-9]{{0,8}})\])?\.(?P<part>output(?P<path>{PATH})|status|count)\s*>>"
)
# Text that looks like a reference, valid or not.
_LOOKS_LIKE_ONE = re.compile(r"<<\s*[\w-]+(?:/[\w-]+)*(?:#[0-9]+)?\s*[.\[][^<>\n]*>>")
# References in the syntax of other template languages.
_FOREIGN = re.compile(r"<<([\w-]+)>>|\$?\{\{?\s*([\w-]+)\.output[\w.\[\]-]*\s*\}?\}|(?<!\w)\$([\w-]+)\.output\b")
# The item, in the texts of a task with `for_each`.
ITEM = re.compile(rf"<<\s*item(?P<path>{PATH})\s*>>")
NUMBER = ".number"

MISSING: Final = object()
_STEP = re.compile(r"\.([\w-]+)|\[([0-9]+)\]")
_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference to the output of a task or of one of its items, to a field of it, or to its `status` or `count`."""

    id: str
    path: FieldPath = ()
    part: str = "output"
    item: int | None = None

    @property
    def of(self) -> str:
        """The id of the task that has the value: the named one, or its item."""
        return self.id if self.item is None else item_id(self.id, self.item)

    @property
    def is_whole(self) -> bool:
        """Whether it is the whole output of the named task."""
        return self.part == "output" and not self.path and self.item is None

    @property
    def key(self) -> str:
        """A short unique name: `rows[0].name` in the output of the task `a` is `a.rows[0].name`."""
        if self.part == "output" and self.item is None:
            return self.id + spelled(self.path)
        return f"{self.of}:{self.part}{spelled(self.path)}"  # differs from `a.output.status` and `a.output[1]`

    def __str__(self) -> str:
        return f"<<{self.of}.{self.part}{spelled(self.path)}>>"


def earlier_id(turn: int, task: str) -> str:
    """Return the id by which references name a task of an earlier turn of the conversation."""
    return f"turn{turn}.{task}"


def references(value: object) -> Iterator[Reference]:
    """Yield every reference inside a JSON-like value."""
    for text in strings(value):
        if "<<" in text:  # most texts have none
            yield from map(reference_of, REFERENCE.finditer(text))


def unreadable(value: object) -> Iterator[str]:
    """Yield the texts in a JSON-like value that look like references and are not valid."""
    for text in strings(value):
        for match in _LOOKS_LIKE_ONE.finditer(text) if "<<" in text else ():
            if not (REFERENCE.fullmatch(match[0]) or ITEM.fullmatch(match[0])):
                yield match[0]


def foreign(value: object, ids: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the references to these tasks in the syntax of other template languages, with the id of the task."""
    for text in strings(value):
        for match in _FOREIGN.finditer(text):
            name = match[1] or match[2] or match[3]
            if name in ids:
                yield match[0], name


def reference_of(match: re.Match[str]) -> Reference:
    """Return the reference in a match of REFERENCE."""
    part = match["part"] if match["part"] in ("status", "count") else "output"
    return Reference(match["id"], path_of(match["path"] or ""), part, int(match["item"]) if match["item"] else None)


def path_of(text: str) -> FieldPath:
    """Parse the path of a reference into its steps."""
    return tuple(name or int(number) for name, number in _STEP.findall(text))


def spelled(path: Sequence[str | int]) -> str:
    """Return a path as a reference writes it: `.rows[0].name`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)


def field_of(value: Any, path: FieldPath) -> Any:
    """Return the field of a JSON value or text; raises ValueError with what is there instead."""
    for depth, step in enumerate(path):
        where = spelled(path[:depth]).lstrip(".") or "it"
        if isinstance(value, str) and (value := json_in(value)) is MISSING:
            raise ValueError(f"{where} is not JSON")
        if isinstance(step, int):
            if not isinstance(value, list | tuple):
                raise ValueError(f"{where} is not a list")  # noqa: TRY004 - one class for every missing field
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
    """Return the value at a path such as `.rows[0].name`, or MISSING."""
    try:
        return field_of(value, path_of(path))
    except ValueError:
        return MISSING


def json_in(text: str) -> Any:
    """Return the JSON object or list in a text, fenced or not, or MISSING."""
    try:
        return extract(text)
    except NotJson:
        return MISSING


def as_text(value: Any) -> str:
    """Return a JSON value as prompts have it: text unchanged, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def strings(value: object) -> Iterator[str]:
    """Yield every string inside a JSON-like value."""
    match value:
        case str():
            yield value
        case Mapping():
            for item in value.values():
                yield from strings(item)
        case list() | tuple():
            for item in value:
                yield from strings(item)


def renamed(value: Any, ids: Mapping[str, str]) -> Any:
    """Return a JSON-like value with the ids in its references replaced."""
    match value:
        case str():
            return REFERENCE.sub(lambda match: _with_id(match, ids), value)
        case Mapping():
            return {key: renamed(item, ids) for key, item in value.items()}
        case list() | tuple():
            return [renamed(item, ids) for item in value]
        case _:
            return value


def _with_id(match: re.Match[str], ids: Mapping[str, str]) -> str:
    start, end = match.start(1) - match.start(), match.end(1) - match.start()
    whole = match.group()
    return whole[:start] + ids.get(match.group(1), match.group(1)) + whole[end:]
