"""Plan-over-Graph (zsq259/Plan-over-Graph): reach a target by rules that take time, in parallel where they can run."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goalwright_planner.model import Message

from plan_quality.goals import PlanGoal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from goalwright_planner.plan.plan import Plan

_NODE = re.compile(r"\bN\d+\b")
_RULE = re.compile(r"(\bN\d+(?:\s*\+\s*N\d+)*)\s*->\s*(N\d+(?:\s*\+\s*N\d+)*)")


@dataclass(frozen=True, slots=True)
class Step:
    """The application of a rule after other steps."""

    source: frozenset[str]
    target: frozenset[str]
    after: frozenset[int]


@dataclass(frozen=True, slots=True)
class PlanOverGraph:
    """The abstract tasks of all sizes as one set."""

    name: str = "plan_over_graph"
    measures: tuple[str, ...] = ("reaches the target", "optimum over makespan")

    def read(self, folder: Path) -> list[PlanGoal]:
        """Read the goals whose files exist."""
        template = _template(folder)
        return [
            PlanGoal(f"{file.stem}-{row['id']}", _text(row["question"]), row, _published(template, row["question"]))
            for file in sorted((folder / "data" / "dev" / "test").glob("*-1-100-*.json"))
            for row in _rows(file)
            if "question" in row
        ]

    def of_plan(self, plan: Plan, goal: PlanGoal) -> list[Step]:
        """Return the first rule named by each task."""
        places = {task.id: place for place, task in enumerate(plan.tasks)}
        steps = []
        for task in plan.tasks:
            rule = _RULE.search(task.instruction or task.title)
            source, target = (frozenset(_NODE.findall(side)) for side in (rule.groups() if rule else ("", "")))
            steps.append(Step(source, target, frozenset(places[before] for before in task.depends_on)))
        return steps

    def of_answer(self, text: str, goal: PlanGoal) -> list[Step]:
        """Return the subtasks of an answer."""
        rows = json.loads(text[text.index("[") : text.rindex("]") + 1])
        places = {row["name"]: place for place, row in enumerate(rows)}
        return [
            Step(_names(row["source"]), _names(row["target"]), frozenset(places[one] for one in row["dependencies"]))
            for row in rows
        ]

    def score(self, made: Sequence[Step], goal: PlanGoal) -> tuple[float, ...]:
        """Return whether the steps reach the target, and the optimum over their makespan."""
        taken = makespan(made, goal.gold["question"])
        optimum = shortest(goal.gold["question"])
        return float(taken is not None), optimum / taken if taken else 0.0


def makespan(steps: Sequence[Step], question: dict[str, Any]) -> float | None:
    """Return the time at which the target is reached, if every step is a rule whose sources its dependencies provide."""
    rules = {(_names(rule["source"]), _names(rule["target"])): rule["time"] for rule in question["rules"]}
    ends: dict[int, float] = {}
    had: dict[int, frozenset[str]] = {}
    for _ in steps:
        for place, step in enumerate(steps):
            if place in ends or not step.after <= ends.keys():
                continue
            there = frozenset(question["initial_source"]).union(*(had[one] for one in step.after))
            if (step.source, step.target) not in rules or not step.source <= there:
                return None
            begin = max((ends[one] for one in step.after), default=0)
            ends[place], had[place] = begin + rules[step.source, step.target], there | step.target
    reached = [ends[place] for place in ends if question["target"] in steps[place].target]
    return min(reached) if reached and len(ends) == len(steps) else None


def shortest(question: dict[str, Any]) -> float:
    """Return the shortest time to reach the target."""
    known = dict.fromkeys(question["initial_source"], 0.0)
    changed = True
    while changed:
        changed = False
        for rule in question["rules"]:
            if all(node in known for node in rule["source"]):
                end = max((known[node] for node in rule["source"]), default=0.0) + rule["time"]
                for node in rule["target"]:
                    if end < known.get(node, float("inf")):
                        known[node], changed = end, True
    return known.get(question["target"], 0.0)


def _rows(file: Path) -> list[dict[str, Any]]:
    try:
        rows = json.loads(file.read_text(encoding="utf-8"))
    except ValueError:  # a pointer to a large file
        return []
    return rows if isinstance(rows, list) else []


def _names(value: Any) -> frozenset[str]:
    return frozenset([value] if isinstance(value, str) else map(str, value))


def _template(folder: Path) -> dict[str, str]:
    tree = ast.parse((folder / "template" / "abstask_plan.py").read_text(encoding="utf-8"))
    return {
        node.targets[0].id: str(node.value.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
    }


def _published(template: dict[str, str], question: dict[str, Any]) -> tuple[Message, ...]:
    rules = [{key: rule[key] for key in ("source", "target", "time", "cost")} for rule in question["rules"]]
    text = template["instruction"].replace("{example}", template["example"])
    return (Message("user", text.replace("{task}", json.dumps(question | {"rules": rules}))),)


def _text(question: dict[str, Any]) -> str:
    rules = "\n".join(
        f"- {' + '.join(rule['source'])} -> {' + '.join(rule['target'])}: {rule['time']} minutes"
        for rule in question["rules"]
    )
    return (
        f"Make {question['target']} from {', '.join(question['initial_source'])} in the shortest time. Each step "
        f"applies one of these rules, and needs everything on the left of its arrow:\n{rules}\n"
        "One task for each step that is needed; its instruction is the rule alone, as in `N1 + N2 -> N3`."
    )
