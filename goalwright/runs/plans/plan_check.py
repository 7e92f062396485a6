"""Checks the text of a plan while a person edits it: the plan, or every fault with its line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import yaml

from goalwright.runs.plans.plan_file import load
from goalwright.runs.plans.plan_nodes import PlanNodes, pairs
from goalwright.runs.plans.plan_text import is_editable
from goalwright_planner.plan.plan import Plan
from goalwright_planner.reading.normal_form import right_key
from goalwright_planner.reading.plan_answer import read_plan
from goalwright_skills.text.untrusted import is_too_deep

if TYPE_CHECKING:
    from goalwright_planner.plan.known import Known

_NUMBER = re.compile(r"^task number (\d+)")
_NAMED = re.compile(r"^(?:task(?: id)?|the id) '([^']*)'")
_CIRCLE = re.compile(r"in a circle: (\S+) →")
# The key of a task that a fault is about, by words in the fault.
_KEYS = (
    ("'repeat", "repeat"), ("'when'", "when"), ("'for_each'", "for_each"), ("'width'", "width"), ("'first'", "first"),
    (".status>>", "when"), (".count>>", "when"),
    ("refers to <<", "instruction"), ("depends on", "depends_on"), ("in a circle", "depends_on"),
    ("there is no skill", "name"), ("there is no tool", "name"), ("'arguments'", "arguments"),
    ("has no argument", "arguments"), ("needs the argument", "arguments"), ("'depends_on'", "depends_on"),
    ("'action_type'", "action_type"), ("'instruction'", "instruction"), ("'title'", "title"), ("'name'", "name"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class OutlinedTask:
    """A task of a plan that may have faults, with its first and last line."""

    id: str
    title: str
    action_type: str
    name: str
    depends_on: tuple[str, ...]
    line: int
    end: int


@dataclass(frozen=True, slots=True)
class PlanFault:
    """A fault, its line, and the id of the task that it is about."""

    line: int
    message: str
    task: str | None = None


@dataclass(frozen=True, slots=True)
class PlanCheck:
    """A valid plan, or its faults; `goal` is the goal in the text.

    `tasks` are the tasks that can be read; None if the text cannot be parsed. `editable` says whether `plan_text` can
    edit it.
    """

    plan: Plan | None
    faults: tuple[PlanFault, ...] = ()
    goal: str = ""
    repairs: tuple[str, ...] = ()
    tasks: tuple[OutlinedTask, ...] | None = None
    editable: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the check as JSON."""
        return {
            "plan": self.plan.to_dict() if self.plan is not None else None,
            "goal": self.goal,
            "faults": [{"line": fault.line, "message": fault.message, "task": fault.task} for fault in self.faults],
            "repairs": list(self.repairs),
            "tasks": [asdict(task) for task in self.tasks] if self.tasks is not None else None,
            "editable": self.editable,
        }


def check(text: str, known: Known) -> PlanCheck:
    """Read a plan in YAML or JSON and find all its faults."""
    try:
        document = load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = str(getattr(error, "problem", None) or error).splitlines()[0]
        return PlanCheck(None, (PlanFault(mark.line + 1 if mark else 1, f"this is neither YAML nor JSON: {problem}"),))
    except RecursionError:
        return PlanCheck(None, (PlanFault(1, "the plan is nested too deeply to be read"),))
    reading = read_plan(document, known)
    too_deep = is_too_deep(document)
    nodes = None if too_deep else PlanNodes.of(text)
    tasks, editable = _outline(reading.document, nodes), not too_deep and is_editable(document)
    if reading.faults:
        lines = _Lines(nodes)
        faults = tuple(PlanFault(lines.of(fault), fault, lines.task_of(fault)) for fault in reading.faults)
        return PlanCheck(None, faults, tasks=tasks, editable=editable)
    goal = reading.document.get("goal")
    goal = goal if isinstance(goal, str) else ""
    return PlanCheck(Plan.from_dict(reading.document), (), goal, reading.repairs, tasks, editable)


def _outline(document: Any, nodes: PlanNodes | None) -> tuple[OutlinedTask, ...]:
    """Return the tasks of a document in normal form that have an id."""
    rows = document.get("tasks") if isinstance(document, Mapping) else None
    if not isinstance(rows, list):
        return ()
    lines = [(1, 1)] * len(rows)
    if nodes is not None and len(nodes.tasks) == len(rows):
        lines = [(nodes.line(node.start_mark.index), nodes.line(nodes.end(node))) for node in nodes.tasks]
    tasks = [_outlined(row, *span) for row, span in zip(rows, lines, strict=True) if isinstance(row, Mapping)]
    return tuple(task for task in tasks if task.id)


def _outlined(row: Mapping[str, Any], line: int, end: int) -> OutlinedTask:
    needs = row.get("depends_on")
    depends_on = tuple(dict.fromkeys(filter(None, map(_text, needs if isinstance(needs, list) else ()))))
    texts = {key: _text(row.get(key)) for key in ("id", "title", "action_type", "name")}
    return OutlinedTask(**texts, depends_on=depends_on, line=line, end=end)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _id_of(node: yaml.Node) -> str | None:
    return next((str(value.value) for key, value in pairs(node) if right_key(key.value) == "id"), None)


class _Lines:
    """The lines of a plan's tasks and their keys."""

    def __init__(self, nodes: PlanNodes | None) -> None:
        self._tasks = nodes.tasks if nodes is not None else []
        self._by_id = {_id_of(node): node for node in self._tasks}
        self._top = nodes.key.start_mark.line + 1 if nodes is not None and nodes.key is not None else 1

    def of(self, fault: str) -> int:
        """Return the line that a fault is about, as far as its words tell."""
        node = self._node(fault)
        if node is None:
            return self._top
        name = next((key for words, key in _KEYS if words in fault), "id")
        line = next((key.start_mark.line for key, _ in pairs(node) if key.value == name), node.start_mark.line)
        return int(line) + 1

    def task_of(self, fault: str) -> str | None:
        """Return the id of the task that a fault is about."""
        node = self._node(fault)
        return _id_of(node) if node is not None else None

    def _node(self, fault: str) -> yaml.Node | None:
        if number := _NUMBER.match(fault):
            index = int(number[1]) - 1
            return self._tasks[index] if index < len(self._tasks) else None
        named = _NAMED.match(fault) or _CIRCLE.search(fault)
        return self._by_id.get(named[1]) if named is not None else None
