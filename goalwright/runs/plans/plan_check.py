"""Checks the text of a plan while a person writes it: every fault with its line, or else the plan."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from goalwright.runs.plans.plan_file import load
from goalwright.runs.plans.plan_nodes import PlanNodes, id_of, pairs
from goalwright.runs.plans.plan_outline import OutlinedTask, outline
from goalwright.runs.plans.plan_text import is_editable
from goalwright_planner.plan.plan import Plan
from goalwright_planner.reading.plan_answer import read_plan
from goalwright_skills.text.nesting import is_too_deep

if TYPE_CHECKING:
    from goalwright_planner.plan.validate import Known

_NUMBER = re.compile(r"^task number (\d+)")
_NAMED = re.compile(r"^(?:task(?: id)?|the id) '([^']*)'")
_CIRCLE = re.compile(r"in a circle: (\S+) →")
# Which key of a task a fault is about, by words in the fault.
_KEYS = (
    ("'repeat", "repeat"), ("'when'", "when"), ("'for_each'", "for_each"), ("'width'", "width"), ("'first'", "first"),
    (".status>>", "when"), (".count>>", "when"),
    ("refers to <<", "instruction"), ("depends on", "depends_on"), ("in a circle", "depends_on"),
    ("there is no skill", "name"), ("there is no tool", "name"), ("'arguments'", "arguments"),
    ("has no argument", "arguments"), ("needs the argument", "arguments"), ("'depends_on'", "depends_on"),
    ("'action_type'", "action_type"), ("'instruction'", "instruction"), ("'title'", "title"), ("'name'", "name"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PlanFault:
    """One fault, with the line of the text where it is, and the id of the task that it is about, if it is about one."""

    line: int
    message: str
    task: str | None = None


@dataclass(frozen=True, slots=True)
class PlanCheck:
    """A plan that can run, if there are no faults; `goal` is the one that the text names.

    `tasks` are those that can be read, faults or not; None if the text is no document at all. If it is `editable`,
    the changes of `plan_text` can be made to it.
    """

    plan: Plan | None
    faults: tuple[PlanFault, ...] = ()
    goal: str = ""
    repairs: tuple[str, ...] = ()
    tasks: tuple[OutlinedTask, ...] | None = None
    editable: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The check as JSON."""
        return {
            "plan": self.plan.to_dict() if self.plan is not None else None,
            "goal": self.goal,
            "faults": [{"line": fault.line, "message": fault.message, "task": fault.task} for fault in self.faults],
            "repairs": list(self.repairs),
            "tasks": [task.to_dict() for task in self.tasks] if self.tasks is not None else None,
            "editable": self.editable,
        }


def check(text: str, known: Known) -> PlanCheck:
    """Read a plan in YAML or JSON and find everything that is wrong with it."""
    try:
        document = load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = str(getattr(error, "problem", None) or error).splitlines()[0]
        return PlanCheck(None, (PlanFault(mark.line + 1 if mark else 1, f"this is neither YAML nor JSON: {what}"),))
    except RecursionError:
        return PlanCheck(None, (PlanFault(1, "the plan is nested too deeply to be read"),))
    reading = read_plan(document, known)
    nodes = None if is_too_deep(document) else PlanNodes.of(text)
    tasks, editable = outline(reading.document, nodes), is_editable(nodes, document)
    if reading.faults:
        lines = _Lines(nodes)
        faults = tuple(PlanFault(lines.of(fault), fault, lines.task_of(fault)) for fault in reading.faults)
        return PlanCheck(None, faults, tasks=tasks, editable=editable)
    goal = reading.document.get("goal")
    goal = goal if isinstance(goal, str) else ""
    return PlanCheck(Plan.from_dict(reading.document), (), goal, reading.repairs, tasks, editable)


class _Lines:
    """Where the tasks of a plan and their keys stand in its text."""

    def __init__(self, nodes: PlanNodes | None) -> None:
        self._tasks = nodes.tasks if nodes is not None else []
        self._by_id = {id_of(node): node for node in self._tasks}
        self._top = nodes.key.start_mark.line + 1 if nodes is not None and nodes.key is not None else 1

    def of(self, fault: str) -> int:
        """The line that a fault is about, as far as its words tell."""
        node = self._node(fault)
        if node is None:
            return self._top
        wanted = next((key for words, key in _KEYS if words in fault), "id")
        line = next((key.start_mark.line for key, _ in pairs(node) if key.value == wanted), node.start_mark.line)
        return int(line) + 1

    def task_of(self, fault: str) -> str | None:
        """The id of the task that a fault is about."""
        node = self._node(fault)
        return id_of(node) if node is not None else None

    def _node(self, fault: str) -> yaml.Node | None:
        if number := _NUMBER.match(fault):
            at = int(number[1]) - 1
            return self._tasks[at] if at < len(self._tasks) else None
        named = _NAMED.match(fault) or _CIRCLE.search(fault)
        return self._by_id.get(named[1]) if named is not None else None
