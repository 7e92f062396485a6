"""Brings a plan document into its normal form: aliases of keys, wrappers and spellings that can mean one thing only.

No key disappears silently. An alias counts as the right key where that one is absent; an unknown key is a fault if it
names other tasks, or holds text where the instruction is missing; any other is dropped, and said to be. A document that
is in normal form stays as it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_ALIASES = {
    "depends_on": (
        "dependencies", "deps", "depends", "dependsOn", "dependency", "depend_on", "prerequisites", "requires", "needs",
        "after", "parents", "predecessors", "upstream",
    ),
    "instruction": ("description", "prompt", "task", "instructions", "details", "objective"),
    "action_type": ("action", "type", "kind", "actionType"),
    "id": ("task_id", "taskId"),
    "name": ("skill", "tool", "skill_name", "tool_name"),
    "arguments": ("args", "parameters", "params"),
}  # fmt: skip
ADAPTIVE = {
    "when": ("if", "condition", "only_if", "run_if"),
    "for_each": ("foreach", "forEach", "for_every"),
    "width": (),
    "first": (),
    "most_tasks": (),
    "max_cost": (),
    "needs_approval": (),
    "output_schema": ("outputSchema", "result_schema"),
    "check": (),
    "model": (),
}
_TASK_KEYS = ("id", "title", "action_type", "name", "instruction", "arguments", "depends_on", "use")
_PLAN_KEYS = ("tasks", "synthesis", "clarification", "goal")
_LISTS = ("steps", "subtasks", "nodes", "plan")
_CALL_KEYS = {"name", "arguments", "type", "id", "function", "parameters"}


@dataclass(slots=True)
class NormalForm:
    """A plan document in normal form, what was repaired on the way, and the faults that only this step can see.

    `dropped` are the unknown keys of its tasks.
    """

    document: Any
    repairs: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)


def normal_form(document: Any) -> NormalForm:
    """Bring a document into its normal form, by the rules of its run."""
    form = NormalForm(_unwrapped(document))
    if form.document is not document:
        form.repairs.append("the plan was inside another object")
    if not isinstance(form.document, Mapping):
        return form
    form.document = _with_tasks(form)
    rows = form.document.get("tasks")
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        return form
    ids = [str(_id_of(row)) for row in rows]
    more: Mapping[str, Sequence[str]] = ADAPTIVE
    tasks = [_task(row, ids, form, more) for row in rows]
    if any(task != row for task, row in zip(tasks, rows, strict=True)):
        form.document = {**form.document, "tasks": tasks}
    return form


def _unwrapped(document: Any) -> Any:
    """The plan inside a tool call, a single outer key, or a bare list of tasks."""
    for _ in range(4):
        if isinstance(document, list) and document and all(_is_task(row) for row in document):
            return {"tasks": document}
        if isinstance(document, list) and len(document) == 1 and isinstance(document[0], Mapping):
            document = document[0]
        if not isinstance(document, Mapping) or "tasks" in document:
            return document
        inner = _inner(document)
        if inner is None:
            return document
        document = inner
    return document


def _inner(document: Mapping[str, Any]) -> Any:
    if document.keys() <= _CALL_KEYS:
        for key in ("function", "arguments", "parameters"):
            value = document.get(key)
            if isinstance(value, str) and value.lstrip().startswith("{"):
                try:
                    value = json.loads(value)
                except ValueError:
                    return None
            if isinstance(value, Mapping):
                return value
    if len(document) == 1:
        (value,) = document.values()
        if isinstance(value, Mapping) and ("tasks" in value or any(isinstance(value.get(key), list) for key in _LISTS)):
            return value
    return None


def _is_task(value: object) -> bool:
    return isinstance(value, Mapping) and any(key in value for key in (*_TASK_KEYS, *_ALIASES["id"]))


def _with_tasks(form: NormalForm) -> Mapping[str, Any]:
    """The plan with its tasks under `tasks`, as a list; unknown keys are dropped, or are faults."""
    document = dict(form.document)
    if "tasks" not in document:
        lists = [key for key in _LISTS if _holds_tasks(document.get(key))]
        if len(lists) == 1:
            document = {("tasks" if key == lists[0] else key): value for key, value in document.items()}
            form.repairs.append(f"'{lists[0]}' read as 'tasks'")
    rows = document.get("tasks")
    if isinstance(rows, Mapping) and rows and all(_has_id(row, key) for key, row in rows.items()):
        document["tasks"] = [{"id": key, **row} for key, row in rows.items()]
        form.repairs.append("tasks by id read as a list")
    for key in [key for key in document if key not in _PLAN_KEYS]:
        if _holds_tasks(document[key]):
            form.faults.append(f"the plan has an unknown key '{key}' that holds tasks; put all tasks into 'tasks'")
        elif "tasks" in document:
            form.repairs.append(f"the unknown key '{key}' of the plan was dropped")
            del document[key]
    return document if document != form.document else form.document


def _has_id(row: object, key: str) -> bool:
    return isinstance(row, Mapping) and row.get("id", key) == key


def _holds_tasks(value: object) -> bool:
    rows = list(value.values()) if isinstance(value, Mapping) else value
    return isinstance(rows, list) and bool(rows) and all(map(_is_task, rows))


def _id_of(row: Mapping[str, Any]) -> Any:
    return next((row[key] for key in ("id", *_ALIASES["id"]) if key in row), None)


def _task(
    row: Mapping[str, Any], ids: Sequence[str], form: NormalForm, more: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """One task with the right keys and spellings; `more` are keys that it may have besides, with their aliases."""
    label = f"task {_id_of(row)!r}"
    task = dict(row)
    for key, aliases in (*_ALIASES.items(), *more.items()):
        _rename(task, key, [alias for alias in aliases if alias in task], label, form)
    _spell(task, ids, label, form)
    others = [other for other in ids if other != task.get("id")]
    for key in [key for key in task if key not in _TASK_KEYS and key not in more]:
        if named := _named(task[key], others):
            if named != _named(task.get("depends_on"), others):
                what = f"the unknown key '{key}' names other tasks ({', '.join(named)})"
                form.faults.append(f"{label}: {what}; list what it waits for in 'depends_on'")
        elif _is_text(task[key]) and not _is_text(task.get("instruction")) and task.get("action_type") != "tool":
            form.faults.append(
                f"{label}: the unknown key '{key}' holds text, but 'instruction' is missing; use that key"
            )
            continue
        form.repairs.append(f"{label}: the unknown key '{key}' was dropped")
        form.dropped.append(key)
        del task[key]
    return task


def _rename(task: dict[str, Any], key: str, aliases: Sequence[str], label: str, form: NormalForm) -> None:
    """Read one alias as the right key; two that differ, or one beside the right key, are left to the unknown keys."""
    if key in task or not aliases or any(task[alias] != task[aliases[0]] for alias in aliases):
        return
    first = aliases[0]
    renamed = {(key if name == first else name): value for name, value in task.items() if name not in aliases[1:]}
    task.clear()
    task.update(renamed)
    form.repairs.append(f"{label}: '{first}' read as '{key}'")


def _spell(task: dict[str, Any], ids: Sequence[str], label: str, form: NormalForm) -> None:
    """Numbers as ids, one dependency as text, an upper-case action type, and arguments as JSON text."""
    before = dict(task)
    if _is_number(task.get("id")):
        task["id"] = str(task["id"])
    wanted = task.get("depends_on")
    if isinstance(wanted, list):
        task["depends_on"] = [str(before) if _is_number(before) else before for before in wanted]
    elif _is_number(wanted):
        task["depends_on"] = [str(wanted)]
    elif isinstance(wanted, str):
        parts = [part.strip() for part in wanted.split(",") if part.strip()]
        if wanted in ids:
            task["depends_on"] = [wanted]
        elif all(part in ids for part in parts):
            task["depends_on"] = parts
    if isinstance(task.get("action_type"), str):
        task["action_type"] = task["action_type"].strip().lower()
    if task.get("action_type") == "tool" and isinstance(task.get("arguments"), str):
        task["arguments"] = _arguments(task["arguments"])
    form.repairs += [f"{label}: '{key}' respelt" for key in task if task[key] != before[key]]


def _arguments(text: str) -> Any:
    if text.lstrip().startswith("{"):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


def _named(value: object, ids: Sequence[str]) -> list[str]:
    """The other tasks that a value names: as one text, a list, or parts of a text between commas."""
    return sorted({text for text in _texts(value) if text in ids})


def _texts(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value.strip()
            yield from (part.strip() for part in value.split(","))
        case bool():
            return
        case int():
            yield str(value)
        case list():
            for item in value:
                yield from _texts(item)
        case Mapping():
            for key, item in value.items():
                yield str(key)
                yield from _texts(item)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
