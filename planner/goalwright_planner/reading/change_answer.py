"""Reads a change of a plan from a model's answer: text, JSON document, normal form, validated change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goalwright_planner.json_answer import NotJson
from goalwright_planner.plan import unused_skills
from goalwright_planner.plan.change import Change, problems
from goalwright_planner.plan.task import ACTION_TYPES, Task
from goalwright_planner.plan.task_id import parent_of
from goalwright_planner.plan.task_problems import row_problems
from goalwright_planner.reading.normal_form import normal_form, unwrapped
from goalwright_planner.reading.plan_answer import faults_beside, find
from goalwright_planner.reading.shape import UNUSED, plan_schema
from goalwright_skills.text.untrusted import is_too_deep

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from goalwright_planner.plan.known import Known
    from goalwright_planner.plan.plan import Plan

_KEYS = ("add", "drop", "rewire", "synthesis", "give_up", unused_skills.KEY)
_DECIDING = ("add", "drop", "rewire", "give_up")
_FORM = "one JSON object with 'add', 'drop', 'rewire', 'synthesis' and 'give_up'"


@dataclass(frozen=True, slots=True)
class ChangeReading:
    """A change as it was read, or why the model gives up; the change can be made if there are no faults."""

    change: Change
    give_up: str = ""
    faults: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()


def change_schema(*, unused: bool = False, repeats: bool = False) -> dict[str, Any]:
    """Return the JSON schema of a change; `unused` and `repeats` are as in the schema of a plan."""
    text: dict[str, Any] = {"type": ["string", "null"]}
    return {
        "type": "object",
        "properties": {
            "add": {"type": "array", "items": plan_schema(repeats=repeats)["properties"]["tasks"]["items"]},
            "drop": {"type": "array", "items": {"type": "string"}},
            "rewire": {"type": "object", "additionalProperties": {"type": "string"}},
            "synthesis": text,
            "give_up": text,
            **({unused_skills.KEY: UNUSED} if unused else {}),
        },
        "required": ["add", "drop", "rewire", "give_up"],
    }


def read_change(text: str, plan: Plan, begun: Mapping[str, str], known: Known) -> ChangeReading:
    """Read the change in a model's answer; `begun` has the status of each task that has started."""
    try:
        answer = find(text, *_DECIDING)
    except NotJson as error:
        return ChangeReading(Change(), faults=(f"{error}; answer with {_FORM}",))
    if is_too_deep(answer.document):
        return ChangeReading(Change(), faults=(f"the answer is nested too deeply; answer with {_FORM}",))
    document = unwrapped(answer.document, _DECIDING)
    if not isinstance(document, Mapping) or document.keys().isdisjoint(_DECIDING):
        answered = "a whole plan" if isinstance(document, Mapping) and "tasks" in document else "no change of the plan"
        return ChangeReading(Change(), faults=(f"the answer is {answered}; answer with {_FORM}",))
    unused = document.get(unused_skills.KEY)
    reasons = unused_skills.reasons_in(unused)
    repairs = [repair for repair in (answer.repair, unused_skills.repair(unused, reasons)) if repair]
    faults = list(_kind_problems(document))
    if faults:
        return ChangeReading(Change(), faults=tuple(faults))
    give_up = (document.get("give_up") or "").strip()
    extra = {key: value for key, value in document.items() if key not in _KEYS}
    rows, repaired, faults = _rows(document.get("add") or [], extra, plan)
    faults += faults_beside(answer, {"tasks": [*(task.to_dict() for task in plan.tasks), *rows]})
    if faults := faults or [
        fault for number, row in enumerate(rows, 1) if not _is_sound(row) for fault in row_problems(number, row, known)
    ]:
        return ChangeReading(Change(), faults=tuple(faults))
    change = Change(
        tuple(Task.from_dict(row) for row in rows),
        tuple(dict.fromkeys(_listed(document.get("drop")))),
        dict(document.get("rewire") or {}),
        document.get("synthesis"),
        reasons,
    )
    faults = [*_sense_problems(change, give_up), *problems(change, plan, begun, known)]
    return ChangeReading(change, give_up, tuple(faults), tuple(repairs + repaired))


def _kind_problems(document: Mapping[str, Any]) -> Iterator[str]:
    add, drop, rewire = (document.get(key) for key in ("add", "drop", "rewire"))
    if add is not None and not (isinstance(add, list) and all(isinstance(row, Mapping) for row in add)):
        yield "'add' must be a list of tasks"
    if drop is not None and not all(isinstance(name, str) for name in _listed(drop)):
        yield "'drop' must be a list of task ids"
    if rewire is not None and not (
        isinstance(rewire, Mapping) and all(isinstance(name, str) for name in rewire.values())
    ):
        yield "'rewire' must be an object that maps the id of a task to the id of the one that takes its place"
    for key in ("synthesis", "give_up"):
        if document.get(key) is not None and not isinstance(document[key], str):
            yield f"'{key}' must be a string or null"


def _sense_problems(change: Change, give_up: str) -> Iterator[str]:
    changes = bool(change.added or change.dropped or change.rewired or change.synthesis)
    if give_up and changes:
        yield "the answer changes the plan and gives up; do one of them"
    elif not give_up and not changes:
        yield "the change is empty; change something, or say in 'give_up' why nothing can be done"


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _rows(
    added: Sequence[Mapping[str, Any]], extra: Mapping[str, Any], plan: Plan
) -> tuple[list[Any], list[str], list[str]]:
    """Return the added tasks in the normal form of a plan with the existing tasks before them, repairs and faults.

    The `extra` keys of the change are read like keys of a plan, but only added tasks may get dependencies from them.
    """
    if not added and not extra:
        return [], [], []
    before = [task.to_dict() for task in plan.tasks]
    form = normal_form({"tasks": [*before, *added], **extra})
    rows = list((form.document.get("tasks") if isinstance(form.document, Mapping) else None) or ())
    changed = [row["id"] for row, old in zip(rows, before, strict=False) if row != old]
    if changed:
        form.faults.append(
            f"a key of the change adds dependencies to tasks of the plan ({', '.join(changed)}); "
            "only 'depends_on' of added tasks and 'rewire' can change dependencies"
        )
    return rows[len(before) :], form.repairs, form.faults


def _is_sound(row: Mapping[str, Any]) -> bool:
    """Whether a row can be read as a task, with or without faults."""
    texts = [row.get(key) for key in ("title", "name", "instruction")]
    before = row.get("depends_on")
    return (
        isinstance(row.get("id"), str)
        and bool(row["id"])
        and parent_of(row["id"]) is None  # only tasks that grow have such ids
        and row.get("action_type") in ACTION_TYPES
        and all(text is None or isinstance(text, str) for text in texts)
        and (before is None or (isinstance(before, list) and all(isinstance(name, str) for name in before)))
    )
