"""Checks the text of a plan while a person writes it: every fault with its line, or else the plan."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from weft.runs.plans.plan_file import load
from weft_planner.plan.plan import Plan
from weft_planner.plan.reading import read_plan
from weft_skills.format.safe_yaml import JsonLoader

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weft_planner.plan.validate import Known

_NUMBER = re.compile(r"^task number (\d+)")
_NAMED = re.compile(r"^(?:task(?: id)?|the id) '([^']*)'")
_CIRCLE = re.compile(r"in a circle: (\S+) →")
_TASKS = ("tasks", "steps", "subtasks")
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
    """One fault, with the line of the text where it is."""

    line: int
    message: str


@dataclass(frozen=True, slots=True)
class PlanCheck:
    """A plan that can run, if there are no faults; `goal` is the one that the text names."""

    plan: Plan | None
    faults: tuple[PlanFault, ...] = ()
    goal: str = ""
    repairs: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The check as JSON."""
        return {
            "plan": self.plan.to_dict() if self.plan is not None else None,
            "goal": self.goal,
            "faults": [{"line": fault.line, "message": fault.message} for fault in self.faults],
            "repairs": list(self.repairs),
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
    if reading.faults:
        lines = _Lines(text)
        return PlanCheck(None, tuple(PlanFault(lines.of(fault), fault) for fault in reading.faults))
    goal = reading.document.get("goal")
    return PlanCheck(Plan.from_dict(reading.document), (), goal if isinstance(goal, str) else "", reading.repairs)


class _Lines:
    """Where the tasks of a plan and their keys stand in its text."""

    def __init__(self, text: str) -> None:
        self._tasks: list[yaml.MappingNode | None] = []
        self._top = 1
        try:
            root = yaml.compose(text, JsonLoader)
        except (yaml.YAMLError, RecursionError):  # JSON that is not YAML
            return
        for key, value in _pairs(root):
            if key.value in _TASKS and isinstance(value, yaml.SequenceNode):
                self._top = key.start_mark.line + 1
                self._tasks = [node if isinstance(node, yaml.MappingNode) else None for node in value.value]

    def of(self, fault: str) -> int:
        """The line that a fault is about, as far as its words tell."""
        node = self._node(fault)
        if node is None:
            return self._top
        wanted = next((key for words, key in _KEYS if words in fault), "id")
        line = next((key.start_mark.line for key, _ in _pairs(node) if key.value == wanted), node.start_mark.line)
        return int(line) + 1

    def _node(self, fault: str) -> yaml.MappingNode | None:
        if number := _NUMBER.match(fault):
            at = int(number[1]) - 1
            return self._tasks[at] if at < len(self._tasks) else None
        named = _NAMED.match(fault) or _CIRCLE.search(fault)
        if named is None:
            return None
        same = [node for node in self._tasks if node is not None and _id(node) == named[1]]
        return same[-1] if same else None


def _pairs(node: Any) -> Iterator[tuple[yaml.ScalarNode, Any]]:
    if isinstance(node, yaml.MappingNode):
        yield from ((key, value) for key, value in node.value if isinstance(key, yaml.ScalarNode))


def _id(node: yaml.MappingNode) -> str | None:
    return next((value.value for key, value in _pairs(node) if key.value in ("id", "task_id")), None)
