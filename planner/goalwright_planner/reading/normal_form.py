"""Brings a plan document into its normal form.

Documented aliases become the right keys, wrappers are removed, and ids are spelled as the tasks spell them. An unknown
key is a fault if it may change what the plan does; any other is dropped with a warning. A document in normal form stays
as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goalwright_planner.plan import unused_skills
from goalwright_planner.plan.references import foreign, references
from goalwright_planner.plan.task import ACTION_TYPES
from goalwright_planner.reading.loose_json import is_ellipsis, marks_omission
from goalwright_skills.text.formatting import clip

if TYPE_CHECKING:
    from collections.abc import Sequence

PLAN_KEYS = ("tasks", "synthesis", "clarification", "goal", unused_skills.KEY, "joined")
TASK_LISTS = ("steps",)
EDGES = "edges"
_TASK_KEYS = ("id", "title", "action_type", "name", "instruction", "arguments", "depends_on")
_OPTIONAL_KEYS = (
    "when", "for_each", "width", "first", "most_tasks", "max_cost", "needs_approval", "output_schema", "check", "model",
    "repeat", "use",
)  # fmt: skip
_ALIASES = {
    "depends_on": ("dependencies", "deps", "requires", "after"),
    "instruction": ("description", "prompt", "task"),
    "action_type": ("action", "type"),
    "id": ("task_id",),
}
_CALL_KEYS = {"name", "arguments", "type", "id", "function", "parameters"}
_WRAPPERS = 4
_MOST_QUOTED = 200
_SEPARATOR = re.compile(r"[-=~.]+>|<[-=~.]+|[→⟶⇒➔➡←⇐]|[,;\n|&]|\s+and\s+")
_ARROW = re.compile(r"[-=~.]+>|<[-=~.]+|[→⟶⇒➔➡←⇐]")
_AROUND_ID = " \t`'\"“”()[]{}<>$@#"
_FOLDED = re.compile(r"[\s_\-./]+")


def folded(key: object) -> str:
    """Return a key without case and separators: `Depends-On` is `dependson`. A key of YAML may be a number."""
    return _FOLDED.sub("", str(key)).casefold()


_WRITE_DEPENDENCIES = "write what each task waits for in its 'depends_on'"
# Keys that models invent to control tasks, by what a plan has instead: without them, the plan would do something else.
_CONTROLS = {
    folded(key): remedy
    for remedy, keys in {
        "use 'needs_approval'": (
            "requires_approval", "approval", "approve", "confirm", "confirmation", "requires_confirmation",
            "needs_confirmation", "human_input", "human_review", "human_approval", "ask_human", "ask_user",
        ),
        "use 'when'": ("if", "condition", "conditions", "only_if", "run_if", "skip", "skip_if", "unless"),
        "use 'repeat' or 'for_each'": (
            "until", "while", "loop", "loop_until", "repeat_until", "for_every", "iterations", "max_iterations",
            "times", "rounds", "retry", "retries", "max_retries",
        ),
        _WRITE_DEPENDENCIES: (
            "order", "execution_order", "sequence", "sequential", "parallel", "parallel_group", "level", "stage",
            "stages", "phase", "phases", "step", "wave", "execution_mode", "dag", "graph", "mermaid", "graphviz",
        ),
        "say it in 'instruction'": ("constraints", "constraint", "limit", "limits", "timeout", "deadline", "budget"),
    }.items()
    for key in keys
}  # fmt: skip
_TOOL_INPUTS = frozenset(("args", "parameters", "params", "input", "inputs"))
_RIGHT_KEYS = {folded(name): key for key in (*_TASK_KEYS, *_OPTIONAL_KEYS) for name in (key, *_ALIASES.get(key, ()))}
_RIGHT_PLAN_KEYS = {folded(key): key for key in PLAN_KEYS} | dict.fromkeys(TASK_LISTS, "tasks")


@dataclass(slots=True)
class NormalForm:
    """A plan document in normal form, the repairs, and the faults that cannot be found later.

    `dropped` are the unknown keys of its tasks.
    """

    document: Any
    repairs: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)


def normal_form(document: Any) -> NormalForm:
    """Bring a document into its normal form."""
    form = NormalForm(unwrapped(document, ("tasks", "clarification")))
    if form.document is not document:
        form.repairs.append("the plan was inside another object")
    if not isinstance(form.document, Mapping):
        return form
    plan = _with_right_plan_keys(form.document, form)
    _repair_unused(plan, form)
    rows = plan.get("tasks")
    if isinstance(rows, list) and all(isinstance(row, Mapping) for row in rows):
        plan = _with_tasks(plan, [_with_right_keys(row, form) for row in rows], form)
    if plan != form.document:
        form.document = plan
    return form


def _with_tasks(plan: dict[str, Any], tasks: list[dict[str, Any]], form: NormalForm) -> dict[str, Any]:
    """Return the plan with its known keys and normal tasks."""
    question = plan.get("clarification")
    if tasks and isinstance(question, str) and question.strip():
        form.repairs.append(f"the question beside the tasks was not asked: {clip(question.strip(), _MOST_QUOTED)!r}")
    ids = task_ids(tasks)
    for task in tasks:
        _respell(task, ids, form)
    for key in [key for key in plan if key not in PLAN_KEYS]:
        _take_plan_key(key, plan.pop(key), tasks, ids, form)
    for task in tasks:
        _drop_unknown(task, ids, form)
        if is_ellipsis(task.get("instruction")):
            form.faults.append(f"task {task.get('id')!r}: its instruction was left out; write it")
    return plan | {"tasks": tasks}


def task_ids(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the ids of tasks, by themselves and in lower case."""
    ids = [str(row.get("id")) for row in rows]
    return {task_id.casefold(): task_id for task_id in ids} | {task_id: task_id for task_id in ids}


def right_key(name: object) -> str | None:
    """Return the key of a task that a name stands for, in any case, or None."""
    return _RIGHT_KEYS.get(folded(name))


def unwrapped(document: Any, keys: Collection[str]) -> Any:
    """Return the object with one of these keys inside a tool call or a single outer key.

    A bare list of tasks is a plan. A document without such an object stays as it is.
    """
    inner = document
    for _ in range(_WRAPPERS):
        if "tasks" in keys and is_task_list(inner):
            return {"tasks": inner}
        if isinstance(inner, list) and len(inner) == 1:
            inner = inner[0]
        if not isinstance(inner, Mapping):
            return document
        if _has_key(inner, keys):
            return inner
        inner = _inner(inner)
    return document


def has_key(document: Any, keys: Collection[str]) -> bool:
    """Whether a document, without its wrappers, has one of these keys."""
    inner = unwrapped(document, keys)
    return isinstance(inner, Mapping) and _has_key(inner, keys)


def _has_key(document: Mapping[str, Any], keys: Collection[str]) -> bool:
    return any(name in keys or _RIGHT_PLAN_KEYS.get(folded(name)) in keys for name in document)


def _inner(document: Mapping[str, Any]) -> Any:
    """Return the value inside a tool call or a single key, or None."""
    if document.keys() <= _CALL_KEYS:
        for key in ("function", "arguments", "parameters"):
            value = _parsed(document.get(key))
            if isinstance(value, Mapping):
                return value
    return next(iter(document.values())) if len(document) == 1 else None


def _parsed(value: Any) -> Any:
    """Return the JSON object in a text; any other value stays as it is."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def is_task_list(value: object) -> bool:
    """Whether a value is a list of nothing but tasks."""
    return isinstance(value, list) and bool(value) and all(map(_is_task, value))


def _is_task(value: object) -> bool:
    """Whether a value is a task rather than the name of one."""
    if not isinstance(value, Mapping):
        return False
    task = {right_key(key): item for key, item in value.items() if key != "task"}
    return "instruction" in task or str(task.get("action_type")).lower() in ACTION_TYPES


def _holds_tasks(value: object) -> bool:
    rows = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return any(map(_is_task, rows))


def _with_right_plan_keys(document: Mapping[str, Any], form: NormalForm) -> dict[str, Any]:
    plan: dict[str, Any] = {}
    for name, value in document.items():
        key = _RIGHT_PLAN_KEYS.get(folded(name), name)
        if key != name and key in document:
            key = name
        elif key != name:
            form.repairs.append(f"'{name}' read as '{key}'")
        plan[key] = value
    return plan


def _repair_unused(plan: dict[str, Any], form: NormalForm) -> None:
    """Read the reasons for unused skills as an object; nothing in them makes a plan invalid."""
    value = plan.get(unused_skills.KEY)
    reasons = unused_skills.reasons_in(value)
    if repair := unused_skills.repair(value, reasons):
        plan[unused_skills.KEY] = reasons
        form.repairs.append(repair)


def _with_right_keys(row: Mapping[str, Any], form: NormalForm) -> dict[str, Any]:
    """Return a task with aliases under the right key; one beside another with the same meaning stays unknown."""
    names: dict[str | None, list[str]] = {}
    for name in row:
        names.setdefault(right_key(name), []).append(name)
    task: dict[str, Any] = {}
    label = f"task {row[names['id'][0]] if 'id' in names else None!r}"
    for name, value in row.items():
        key = right_key(name)
        others = [other for other in names[key] if other != name and row[other] is not None]
        if key is None or key == name or others:
            if not (value is None and key in task):
                task[name] = value
        else:
            task[key] = value
            form.repairs.append(f"{label}: '{name}' read as '{key}'")
    if _is_number(task.get("id")):
        task["id"] = str(task["id"])
        form.repairs.append(f"{label}: 'id' respelt")
    return task


def _respell(task: dict[str, Any], ids: Mapping[str, str], form: NormalForm) -> None:
    """Write dependencies as a list of ids, the action in lower case, and arguments as the action takes them."""
    before = dict(task)
    dependencies = task.get("depends_on")
    if isinstance(dependencies, str):
        names = [name.strip() for name in dependencies.split(",") if name.strip()]
        dependencies = names if all(name in ids for name in names) else [dependencies]
    elif _is_number(dependencies):
        dependencies = [dependencies]
    if isinstance(dependencies, list):
        task["depends_on"] = [str(name) if _is_number(name) else name for name in dependencies]
    if isinstance(task.get("action_type"), str):
        task["action_type"] = task["action_type"].strip().lower()
    if task.get("action_type") == "tool":
        task |= {"arguments": _parsed(task["arguments"])} if "arguments" in task else {}
    elif task.get("action_type") == "skill" and isinstance(task.get("arguments"), Mapping | list):
        task["arguments"] = json.dumps(task["arguments"], ensure_ascii=False) if task["arguments"] else ""
    form.repairs += [f"task {task.get('id')!r}: '{key}' respelt" for key in before if task[key] != before[key]]


def _take_plan_key(key: str, value: Any, tasks: list[dict[str, Any]], ids: Mapping[str, str], form: NormalForm) -> None:
    """Add a plan's list of edges to its tasks; any other unknown key is a fault or dropped."""
    if folded(key) == EDGES and value:
        edges = _edges_in(value, [str(task.get("id")) for task in tasks])
        if edges is None:
            form.faults.append(
                f"the plan's key '{key}' must be a list of [before, after], in the order of the tasks, "
                f'or of {{"from": id, "to": id}}; or {_WRITE_DEPENDENCIES}'
            )
        else:
            _add_edges(edges, tasks)
            form.repairs.append(f"the plan's key '{key}' read as 'depends_on'")
    elif _holds_tasks(value):
        form.faults.append(f"the plan has an unknown key '{key}' that holds tasks; put all tasks into 'tasks'")
    elif named := task_names(value, ids):
        form.faults.append(f"the plan's key '{key}' names tasks ({', '.join(named)}); {_WRITE_DEPENDENCIES}")
    elif right_key(key) == "depends_on" and value:
        form.faults.append(f"the plan has the unknown key '{key}'; {_WRITE_DEPENDENCIES}")
    elif remedy := _control(key, value):
        form.faults.append(f"the plan has the unknown key '{key}', which would have no effect; {remedy}")
    elif marks_omission(key) or marks_omission(value):
        form.faults.append(f"the plan's key '{key}' says that tasks were left out; write every task")
    else:
        form.repairs.append(f"the unknown key '{key}' of the plan was dropped")


def _edges_in(value: Any, ids: Sequence[str]) -> list[tuple[str, str]] | None:
    """Return the edges of a list, or None if any part of it is something else.

    A pair does not say which task waits, so pairs must follow the order of the tasks.
    """
    places = {task_id: number for number, task_id in enumerate(ids)}
    edges = []
    for entry in value if isinstance(value, list) else (None,):
        match entry:
            case [str() | int() as before, str() | int() as after]:
                in_order = places.get(str(before), 0) < places.get(str(after), 0)
            case {"from": str() | int() as before, "to": str() | int() as after, **others}:
                in_order = not others
            case _:
                return None
        if not in_order or str(before) not in places or str(after) not in places:
            return None
        edges.append((str(before), str(after)))
    return edges


def _add_edges(edges: Sequence[tuple[str, str]], tasks: Sequence[dict[str, Any]]) -> None:
    added: dict[str, list[str]] = {}
    for before, after in edges:
        added.setdefault(after, []).append(before)
    for task in tasks:
        waits = task.get("depends_on")
        if str(task.get("id")) in added and (waits is None or isinstance(waits, list)):
            task["depends_on"] = list(dict.fromkeys([*(waits or ()), *added[str(task["id"])]]))


def _drop_unknown(task: dict[str, Any], ids: Mapping[str, str], form: NormalForm) -> None:
    """Drop the unknown keys of a task; one that may change what it does is a fault."""
    label = f"task {task.get('id')!r}"
    waits = task["depends_on"] if isinstance(task.get("depends_on"), list) else []
    for key in [key for key in task if key not in _TASK_KEYS and key not in _OPTIONAL_KEYS]:
        value = task.pop(key)
        form.dropped.append(key)
        named = [name for name in task_names(value, ids) if name != task.get("id") and name not in waits]
        if _holds_tasks(value):
            fault = "holds tasks; put all tasks into 'tasks' of the plan"
        elif named:
            fault = f"names other tasks ({', '.join(named)}); list what it waits for in 'depends_on'"
        elif remedy := _control(key, value):
            fault = f"would have no effect; {remedy}"
        elif marks_omission(key) or marks_omission(value):
            fault = "says that something was left out; write it all"
        elif task.get("action_type") == "tool":
            lost = value and not task.get("arguments") and folded(key) in _TOOL_INPUTS
            fault = "would have no effect; use 'arguments'" if lost else ""
        else:
            lost = _is_text(value) and not _is_text(task.get("instruction"))
            fault = "holds text, but 'instruction' is missing; use that key" if lost else ""
        if fault:
            form.faults.append(f"{label}: the unknown key '{key}' {fault}")
        else:
            form.repairs.append(f"{label}: the unknown key '{key}' was dropped")


def _control(key: str, value: Any) -> str:
    """Return what to write instead of a key that controls tasks; empty if the key, or its value, has no effect."""
    name = folded(key)
    if value in (None, "", [], {}) or value is (name == "parallel"):
        return ""
    return _CONTROLS.get(name, "")


def task_names(value: object, ids: Mapping[str, str]) -> list[str]:
    """Return the tasks that a value names: by their ids alone, in a list of ids, beside an arrow, or by a reference."""
    names = {reference.id for reference in references(value)}.intersection(ids)
    names.update(task_id for _, task_id in foreign(value, ids))
    for text in _texts(value):
        parts = [part.strip(_AROUND_ID).casefold() for part in _SEPARATOR.split(text) if part.strip(_AROUND_ID)]
        if _ARROW.search(text) or all(part in ids for part in parts):
            names.update(part for part in parts if part in ids)
    return sorted({ids[name] for name in names})


def may_change_tasks(key: str) -> bool:
    """Whether a key of a plan, by its name, may change its tasks or make the plan invalid."""
    return folded(key) == EDGES or folded(key) in _CONTROLS or right_key(key) == "depends_on"


def _texts(value: object) -> Iterator[str]:
    """Yield every text inside a JSON-like value, keys and numbers of lists included."""
    match value:
        case str():
            yield value
        case Mapping():
            for key, item in value.items():
                yield str(key)
                yield from _texts(item)
        case list():
            for item in value:
                yield from _texts(str(item) if _is_number(item) else item)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
