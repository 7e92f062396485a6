"""Brings a plan document into its normal form: aliases of keys, wrappers and spellings that can mean one thing only.

No key disappears silently. An alias counts as the right key where that one is absent; an unknown key is a fault if it
names other tasks, or holds text where the instruction is missing; any other is dropped, and said to be. What keys state
about the order of tasks becomes their `depends_on`, or is a fault. A document that is in normal form stays as it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from goalwright_planner.plan import unused_skills
from goalwright_planner.plan.task import ACTION_TYPES
from goalwright_planner.reading.edges.edge_text import edges_among, texts_in
from goalwright_planner.reading.edges.joining import NormalForm, join_edges, join_numbers
from goalwright_planner.reading.edges.left_out import is_dots, says_left_out
from goalwright_planner.reading.edges.stated import WAITS
from goalwright_planner.reading.edges.task_names import TaskNames, folded
from goalwright_skills.text.shorten import clip

if TYPE_CHECKING:
    from collections.abc import Sequence

_ALIASES: dict[str, tuple[str, ...]] = {
    "depends_on": WAITS,
    "instruction": ("description", "prompt", "task", "instructions", "details", "objective"),
    "action_type": ("action", "type", "kind"),
    "id": ("task_id",),
    "title": (),
    "name": ("skill", "tool", "skill_name", "tool_name"),
    "arguments": ("args", "parameters", "params"),
}
ADAPTIVE: dict[str, tuple[str, ...]] = {
    "when": ("if", "condition", "only_if", "run_if"),
    "for_each": ("for_every",),
    "width": (),
    "first": (),
    "most_tasks": (),
    "max_cost": (),
    "needs_approval": (),
    "output_schema": ("result_schema",),
    "check": (),
    "model": (),
    "repeat": (),
}
# Keys that list results to build on; they count as `depends_on` where they hold nothing else.
_INPUTS = tuple(
    folded(key)
    for key in (
        "inputs", "input", "input_from", "inputs_from", "input_tasks", "input_task", "context", "context_from", "uses",
        "uses_output_of", "uses_results_of", "consumes", "reads", "reads_from", "based_on", "sources", "data_from",
        "receives", "references", "takes", "previous", "prior_tasks", "upstream_outputs",
    )
)  # fmt: skip
_TASK_KEYS = ("id", "title", "action_type", "name", "instruction", "arguments", "depends_on", "use")
PLAN_KEYS = ("tasks", "synthesis", "clarification", "goal", unused_skills.KEY, "joined")
_MOST_QUOTED = 200
_UNUSED = frozenset(folded(key) for key in ("unused_skills", "skills_unused", "not_used", "skills_not_used"))
# What else a plan may call the list of its tasks.
TASK_LISTS = ("steps", "subtasks", "nodes", "plan")
_CALL_KEYS = {"name", "arguments", "type", "id", "function", "parameters"}
_READ_AS = {key: (key, *aliases) for key, aliases in (_ALIASES | ADAPTIVE).items()}
_RIGHT_KEY = {folded(alias): key for key, aliases in _READ_AS.items() for alias in aliases}


def normal_form(document: Any) -> NormalForm:
    """Bring a document into its normal form."""
    form = NormalForm(_unwrapped(document))
    if form.document is not document:
        form.repairs.append("the plan was inside another object")
    if not isinstance(form.document, Mapping):
        return form
    form.document = _with_tasks(form)
    rows = form.document.get("tasks")
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        return form
    question = form.document.get("clarification")
    if rows and isinstance(question, str) and question.strip():
        form.repairs.append(f"the question beside the tasks was not asked: {clip(question.strip(), _MOST_QUOTED)!r}")
    tasks = [_with_right_keys(row, form) for row in rows]
    names = TaskNames.of(tasks)
    for task in tasks:
        _spell(task, names, form)
    extra = {
        key: form.document[key]
        for key in form.document
        if key not in PLAN_KEYS and not _holds_tasks(form.document[key])
    }
    join_edges(tasks, extra, names, form)
    join_numbers(tasks, _unknown(tasks), names, form)
    for task in tasks:
        _drop_unknown(task, names, form)
        if is_dots(task.get("instruction")):
            form.faults.append(f"{_label(task.get('id'))}: its instruction was left out; write it")
    if extra or any(task != row for task, row in zip(tasks, rows, strict=True)):
        form.document = {key: value for key, value in form.document.items() if key not in extra} | {"tasks": tasks}
    return form


def right_key(name: str) -> str | None:
    """The key of a task that a name means, however it is spelled; None if it means none."""
    return _RIGHT_KEY.get(folded(name))


def _unwrapped(document: Any) -> Any:
    """The plan inside a tool call, a single outer key, or a bare list of tasks."""
    for _ in range(4):
        if isinstance(document, list) and document and all(_is_task(row) for row in document):
            return {"tasks": document}
        if isinstance(document, list) and len(document) == 1 and isinstance(document[0], Mapping):
            document = document[0]
        if not isinstance(document, Mapping) or _key_in(document, "tasks"):
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
        if isinstance(value, Mapping) and (
            _key_in(value, "tasks") or any(isinstance(value.get(key), list) for key in TASK_LISTS)
        ):
            return value
    return None


def _key_in(document: Mapping[str, Any], key: str) -> str | None:
    """The key of a document that is this one, in whatever case."""
    return key if key in document else next((name for name in document if folded(str(name)) == key), None)


def _is_task(value: object) -> bool:
    return isinstance(value, Mapping) and any(_RIGHT_KEY.get(folded(str(key))) in _TASK_KEYS[:7] for key in value)


def _with_tasks(form: NormalForm) -> Mapping[str, Any]:
    """The plan with its tasks under `tasks`, as a list; another key that holds tasks is a fault."""
    document = dict(form.document)
    for key in PLAN_KEYS:
        if (cased := _key_in(document, key)) is not None and cased != key:
            document = {(key if name == cased else name): value for name, value in document.items()}
            form.repairs.append(f"'{cased}' read as '{key}'")
    if "tasks" not in document:
        lists = [key for key in document if folded(str(key)) in TASK_LISTS and _lists_tasks(document[key])]
        if len(lists) == 1:
            document = {("tasks" if key == lists[0] else key): value for key, value in document.items()}
            form.repairs.append(f"'{lists[0]}' read as 'tasks'")
    _take_unused(document, form)
    rows = document.get("tasks")
    if isinstance(rows, Mapping) and rows and all(_has_id(row, key) for key, row in rows.items()):
        document["tasks"] = [{"id": key, **row} for key, row in rows.items()]
        form.repairs.append("tasks by id read as a list")
    for key in [key for key in document if key not in PLAN_KEYS and _holds_tasks(document[key])]:
        form.faults.append(f"the plan has an unknown key '{key}' that holds tasks; put all tasks into 'tasks'")
    return document if document != form.document else form.document


def _take_unused(document: dict[str, Any], form: NormalForm) -> None:
    """Read why skills are not used, under another key or as a list, as reasons by skill; no plan is lost for them."""
    key = unused_skills.KEY
    others = [name for name in document if folded(str(name)) in _UNUSED]
    if key not in document and len(others) == 1:
        document[key] = document.pop(others[0])
        form.repairs.append(f"'{others[0]}' read as '{key}'")
    given = document.get(key)
    reasons = unused_skills.reasons_in(given)
    if repair := unused_skills.repair(given, reasons):
        document[key] = reasons
        form.repairs.append(repair)


def _has_id(row: object, key: str) -> bool:
    return isinstance(row, Mapping) and row.get("id", key) == key


def _lists_tasks(value: object) -> bool:
    rows = list(value.values()) if isinstance(value, Mapping) else value
    return isinstance(rows, list) and bool(rows) and all(map(_is_task, rows))


def _holds_tasks(value: object) -> bool:
    """Whether a value has tasks in it that say what to do, rather than names of tasks."""
    rows = list(value.values()) if isinstance(value, Mapping) else value
    return isinstance(rows, list) and any(map(says_what_to_do, rows))


def says_what_to_do(row: object) -> bool:
    """Whether a value is a task, rather than the name of one."""
    if not isinstance(row, Mapping):
        return False
    task = {_RIGHT_KEY.get(folded(str(key))): value for key, value in row.items() if key != "task"}
    return "instruction" in task or str(task.get("action_type")).lower() in ACTION_TYPES


def _with_right_keys(row: Mapping[str, Any], form: NormalForm) -> dict[str, Any]:
    """One task with the right keys for those that it has under other names."""
    task = dict(row)
    named: dict[str | None, list[str]] = {}
    for name in row:
        named.setdefault(_RIGHT_KEY.get(folded(str(name))), []).append(name)
    label = _label(row[named["id"][0]] if "id" in named else None)
    for key in _READ_AS:
        if key in named:
            _rename(task, key, named[key], label, form)
    given = [name for name in task if folded(str(name)) in ("input", "inputs") and isinstance(task[name], Mapping)]
    if str(task.get("action_type")).strip().lower() == "tool" and len(given) == 1:
        _rename(task, "arguments", given, label, form)
    if _is_number(task.get("id")):
        task["id"] = str(task["id"])
        form.repairs.append(f"{label}: 'id' respelt")
    return task


def _rename(task: dict[str, Any], key: str, aliases: Sequence[str], label: str, form: NormalForm) -> None:
    """Read one alias as the right key; two that differ, or one beside the right key, are left to the unknown keys."""
    aliases = [alias for alias in aliases if alias != key]
    if task.get(key) is not None or not aliases or any(task[alias] != task[aliases[0]] for alias in aliases):
        return
    task.pop(key, None)
    first = aliases[0]
    renamed = {(key if name == first else name): value for name, value in task.items() if name not in aliases[1:]}
    task.clear()
    task.update(renamed)
    form.repairs.append(f"{label}: '{first}' read as '{key}'")


def _spell(task: dict[str, Any], names: TaskNames, form: NormalForm) -> None:
    """Dependencies as a list of ids, an upper-case action type, and arguments as the action takes them."""
    label, before = _label(task.get("id")), dict(task)
    wanted = task.get("depends_on")
    if isinstance(wanted, list):
        task["depends_on"] = [_dependency(one, names) for one in wanted]
    elif wanted is not None and not isinstance(wanted, Mapping | bool):
        listed = names.all_of(wanted)
        task["depends_on"] = wanted if listed is None else listed
    _take_inputs(task, names, form)
    if isinstance(task.get("action_type"), str):
        task["action_type"] = task["action_type"].strip().lower()
    if task.get("action_type") == "tool" and isinstance(task.get("arguments"), str):
        task["arguments"] = _arguments(task["arguments"])
    if task.get("action_type") == "skill" and isinstance(task.get("arguments"), Mapping | list):
        task["arguments"] = json.dumps(task["arguments"], ensure_ascii=False) if task["arguments"] else ""
    form.repairs += [f"{label}: '{key}' respelt" for key in task if key in before and task[key] != before[key]]


def _take_inputs(task: dict[str, Any], names: TaskNames, form: NormalForm) -> None:
    """Read the results that a task lists as its inputs as what it waits for, if it says nothing else of that."""
    inputs = [key for key in task if folded(str(key)) in _INPUTS and names.all_of(task[key])]
    if task.get("depends_on") is None and len(inputs) == 1:
        listed = names.all_of(task[inputs[0]])
        _rename(task, "depends_on", inputs, _label(task.get("id")), form)
        task["depends_on"] = listed


def _dependency(wanted: Any, names: TaskNames) -> Any:
    """The id of one dependency, if it names a task; else as it stands, which is a fault."""
    if isinstance(wanted, Mapping) and len(wanted) == 1:
        ((key, inner),) = wanted.items()
        if folded(str(key)) in ("id", "taskid", "task"):
            wanted = inner
    found = names.id_of(wanted)
    return str(wanted) if found is None and _is_number(wanted) else wanted if found is None else found


def _arguments(text: str) -> Any:
    if text.lstrip().startswith("{"):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


def _unknown(tasks: Sequence[Mapping[str, Any]]) -> list[str]:
    """The keys of tasks that have no meaning."""
    return list(dict.fromkeys(key for task in tasks for key in task if key not in _TASK_KEYS and key not in ADAPTIVE))


def _drop_unknown(task: dict[str, Any], names: TaskNames, form: NormalForm) -> None:
    label = _label(task.get("id"))
    for key in _unknown([task]):
        said = [*names.named_in(task[key]), *_comes_after(task, key, names)]
        others = [one for one in dict.fromkeys(said) if one != task.get("id")]
        upstream = form.upstream(task.get("id")) if others else set()
        named = [one for one in others if one not in upstream]
        if _holds_tasks(task[key]):
            form.faults.append(f"{label}: the unknown key '{key}' holds tasks; put all tasks into 'tasks' of the plan")
        elif named:
            what = f"the unknown key '{key}' names other tasks ({', '.join(named)})"
            form.faults.append(f"{label}: {what}; list what it waits for in 'depends_on'")
        elif says_left_out(key) or says_left_out(task[key]):
            form.faults.append(f"{label}: the key '{key}' says that something was left out; write it all")
        elif _is_text(task[key]) and not _is_text(task.get("instruction")) and task.get("action_type") != "tool":
            form.faults.append(
                f"{label}: the unknown key '{key}' holds text, but 'instruction' is missing; use that key"
            )
            continue
        form.repairs.append(f"{label}: the unknown key '{key}' was dropped")
        form.dropped.append(key)
        del task[key]


def _comes_after(task: Mapping[str, Any], key: str, names: TaskNames) -> list[str]:
    """The tasks that come before others by the words of a key: `runs after survey` speaks of its own task."""
    texts = list(texts_in(task[key]))
    own = [f"`{task.get('id')}` {text}" for text in texts]
    return [before for text in (*texts, *own) for before, _ in edges_among(text, names)]


def _label(task_id: object) -> str:
    return f"task {task_id!r}"


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
