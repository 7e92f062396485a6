"""Joins what keys state about the order of tasks to the `depends_on` of these tasks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goalwright_planner.reading.edges.edge_text import edges_among, texts_in
from goalwright_planner.reading.edges.left_out import says_left_out
from goalwright_planner.reading.edges.numbers import number_in, orders_tasks
from goalwright_planner.reading.edges.stated import NEXT, Stated, between, stated
from goalwright_planner.reading.edges.task_names import folded

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goalwright_planner.reading.edges.edge_text import Edge
    from goalwright_planner.reading.edges.task_names import TaskNames

_NEXT = frozenset(folded(key) for key in NEXT)
_WRITE = "write what each task waits for in its 'depends_on'"
# Keys of a plan that are prose or names; what they call a task orders nothing, unless it is an edge.
PROSE = frozenset(
    {"title", "name", "summary", "description", "objective", "reasoning", "thought", "thoughts", "thinking", "analysis"}
    | {"rationale", "explanation", "notes", "note", "comment", "comments", "version", "id", "overview", "context"}
    | {"answer", "language"}
)


@dataclass(slots=True)
class NormalForm:
    """A plan document in normal form, what was repaired on the way, and the faults that only this step can see.

    `dropped` are the unknown keys of its tasks; `before` has what each task waits for, by its id.
    """

    document: Any
    repairs: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    before: dict[str, list[str]] = field(default_factory=dict)

    def upstream(self, task_id: object) -> set[str]:
        """All that a task waits for, directly or through others."""
        found: set[str] = set()
        left = list(self.before.get(str(task_id), ()))
        while left:
            one = left.pop()
            if one not in found:
                found.add(one)
                left += self.before.get(one, ())
        return found

    def has(self, edges: Sequence[Edge]) -> bool:
        """Whether all these edges follow from what tasks wait for."""
        indirect = [edge for edge in edges if edge[0] not in self.before.get(edge[1], ())]
        upstream = {after: self.upstream(after) for _, after in indirect}
        return all(before in upstream[after] for before, after in indirect)


def join_edges(tasks: list[dict[str, Any]], extra: Mapping[str, Any], names: TaskNames, form: NormalForm) -> None:
    """Read the other keys of a plan, and those of tasks that say what comes after them: edges first, then orders."""
    form.before = {
        str(task.get("id")): [one for one in task["depends_on"] if isinstance(one, str)]
        if isinstance(task.get("depends_on"), list)
        else []
        for task in tasks
    }
    _join_next(tasks, names, form)
    found = {key: _stated(key, value, names, form) for key, value in extra.items()}
    for key in sorted(extra, key=lambda key: (one := found[key]) is not None and one.order):
        _join(found[key], f"the plan's key '{key}'", tasks, form)
        if found[key] is None and (says_left_out(key) or says_left_out(extra[key])):
            form.faults.append(f"the plan's key '{key}' says that tasks were left out; write every task")
        elif found[key] is None:
            form.repairs.append(f"the unknown key '{key}' of the plan was dropped")


def _stated(key: str, value: Any, names: TaskNames, form: NormalForm) -> Stated | None:
    """What a key of the plan states; prose is not read, but must not say more than the tasks do."""
    if len(names.ids) < 2:
        return None  # one task has no edges
    if folded(key) in PROSE:
        return (
            None if form.has([edge for text in texts_in(value) for edge in edges_among(text, names)]) else Stated(None)
        )
    return stated(key, value, names)


def _join_next(tasks: list[dict[str, Any]], names: TaskNames, form: NormalForm) -> None:
    for task in tasks:
        for key in [key for key in task if folded(str(key)) in _NEXT]:
            after = names.all_of(task[key])
            if after and task.get("id") not in after:
                edges = [(str(task.get("id")), one) for one in after]
                _join(Stated.of(edges), f"task {task.get('id')!r}: '{key}'", tasks, form)
                del task[key]


def _join(what: Stated | None, key: str, tasks: list[dict[str, Any]], form: NormalForm) -> None:
    """Let tasks wait as a key states; what it cannot be read as exactly is a fault."""
    if what is None:
        return
    if what.edges is None:
        form.faults.append(f"{key} names tasks, but what it says of them cannot be read exactly; {_WRITE}")
    elif form.has(what.edges):
        form.repairs.append(f"{key} says what 'depends_on' says, and was dropped")
    elif what.order and any(form.before.values()):
        before, after = next(edge for edge in what.edges if not form.has([edge]))
        form.faults.append(
            f"{key} has {after!r} after {before!r}, which 'depends_on' does not say; {_WRITE}, and leave that key out"
        )
    else:
        _add(what.edges, tasks, form)
        form.repairs.append(f"{key} read as 'depends_on'")


def _add(edges: Sequence[Edge], tasks: list[dict[str, Any]], form: NormalForm) -> None:
    for before, after in edges:
        waits = form.before.setdefault(after, [])
        if before not in waits:
            waits.append(before)
    for task in tasks:
        given = task.get("depends_on")
        waits = form.before[str(task.get("id"))]
        if (given is None or isinstance(given, list)) and waits:
            task["depends_on"] = [*(given or ()), *(one for one in waits if one not in (given or ()))]


def join_numbers(tasks: list[dict[str, Any]], unknown: Sequence[str], names: TaskNames, form: NormalForm) -> None:
    """Read numbers of tasks that order them: every task waits for all of the number before its own."""
    for key in [key for key in unknown if orders_tasks(key) and len(tasks) > 1]:
        values = {str(task.get("id")): task[key] for task in tasks if task.get(key) is not None}
        if len({str(value) for value in values.values()}) < 2:
            _take_out(key, tasks, form)
            form.repairs.append(f"the unknown key '{key}' of tasks was dropped")
            continue
        numbers = {task_id: number_in(value) for task_id, value in values.items()}
        if any(number is None for number in numbers.values()):
            if not any(form.before.values()) and not any(names.named_in(value) for value in values.values()):
                form.faults.append(f"the key '{key}' of tasks seems to order them; {_WRITE}, and leave that key out")
            continue
        levels: dict[int, list[str]] = {}
        for task_id, number in numbers.items():
            levels.setdefault(number or 0, []).append(task_id)
        edges = between([levels[number] for number in sorted(levels)])
        if len(values) < len(tasks) and not form.has(edges):
            form.faults.append(f"only some tasks have the key '{key}', which orders them; {_WRITE}")
        else:
            _join(Stated.of(edges, order=True), f"the key '{key}' of tasks", tasks, form)
        _take_out(key, tasks, form)


def _take_out(key: str, tasks: list[dict[str, Any]], form: NormalForm) -> None:
    form.dropped.append(key)
    for task in tasks:
        task.pop(key, None)
