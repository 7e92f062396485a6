"""Checks events from a file, which anyone may have edited: every value must have its declared type."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from weft_executor.journal import codec
from weft_planner import approvals, events, model
from weft_planner.plan import plan as plans
from weft_skills.errors import InputError
from weft_skills.selection import detector
from weft_skills.tools import envelope

# Names in annotations that their own modules import only for type checking.
_NAMES = vars(plans) | vars(detector) | vars(model) | vars(events) | vars(approvals) | {"Mapping": Mapping}


def faults(kind: str, body: Mapping[str, Any]) -> list[str]:
    """Everything that is wrong with an event, field by field."""
    try:
        event = codec.event(kind, body)
    except InputError as error:
        return [str(error.__cause__)]
    if event is None:  # this version does not know its type
        return []
    event_class: type = type(event)
    found = [
        f"{name!r} is {_short(getattr(event, name))}"
        for name, hint in _hints(event_class).items()
        if not fits(getattr(event, name), hint)
    ]
    if found:
        return found
    match event:
        case events.PlanMade(plan=plan) | events.RunStarted(plan=plans.Plan() as plan):
            return list(plan_faults(plan))
        case events.ToolCalled(envelope=document) if not _is_envelope(document):
            return [f"'envelope' is {_short(document)}"]
        case _:
            return []


def plan_faults(plan: plans.Plan) -> Iterator[str]:
    """What keeps a recorded plan from being run: its ids and its graph."""
    import networkx as nx

    names = [task.id for task in plan.tasks]
    if len(set(names)) < len(names):
        yield "two tasks of 'plan' have the same id"
    for task in plan.tasks:
        yield from (
            f"task {task.id!r} of 'plan' depends on {before!r}, which is not in it"
            for before in task.depends_on
            if before not in plan
        )
    if not nx.is_directed_acyclic_graph(plan.graph):
        yield "the tasks of 'plan' depend on each other in a circle"


def _is_envelope(document: Mapping[str, Any]) -> bool:
    try:
        return fits(codec.envelope(document), envelope.Envelope)
    except (AttributeError, KeyError, TypeError):
        return False


def fits(value: Any, hint: Any) -> bool:
    """Whether a value read from JSON is of a declared type."""
    kind, parts = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if kind in (Union, UnionType):
        return any(fits(value, part) for part in parts)
    if kind is Literal:
        return isinstance(value, str) and value in parts
    if kind is tuple:
        return isinstance(value, tuple) and all(fits(item, parts[0]) for item in value)
    if kind is Mapping:
        return isinstance(value, Mapping) and all(fits(item, parts[1]) for item in value.values())
    if hint in (int, float):
        is_number = isinstance(value, hint if hint is int else int | float) and not isinstance(value, bool)
        return is_number and math.isfinite(value)
    if is_dataclass(hint) and isinstance(hint, type):
        return isinstance(value, hint) and all(fits(getattr(value, name), one) for name, one in _hints(hint).items())
    return isinstance(value, hint)


@cache
def _hints(kind: type) -> dict[str, Any]:
    if kind is plans.Plan:  # its graph is derived, and its annotation cannot be evaluated at run time
        return {"tasks": tuple[plans.Task, ...], "synthesis": str | None, "clarification": str | None}
    declared = get_type_hints(kind, localns=_NAMES)
    return {one.name: declared[one.name] for one in fields(kind) if one.init}


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:60] + "…"
