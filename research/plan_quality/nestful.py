"""NESTFUL (IBM/NESTFUL): calls of tools whose arguments refer to earlier results.

The repository publishes no prompt, so the peer uses the plain prompt below and the set's own answer format.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goalwright_planner.model import Message

from plan_quality.goals import PlanGoal, f1

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from goalwright_planner.plan.plan import Plan

_PARTS = ("executable/executable", "non-executable/non-executable-glaive", "non-executable/non-executable-sgd")
_OFFERED = 10
_PARAMETERS = ("query_parameters", "parameters", "arguments", "path_parameters")
_THEIRS = re.compile(r"\$(\w+?)(?:\.[^$]*)?\$")
_OURS = re.compile(r"<<([^<>.\s]+)\.output[^<>]*>>")
_ASK = """You call functions to answer a request. These functions are at hand:
{tools}

Answer with a JSON list of calls in order and nothing else. Each call is \
{{"name": function, "arguments": {{parameter: value}}, "label": "var1"}}, with labels var1, var2, ... \
A value that comes from an earlier call is written as "$var1.field$".

For example:
[{{"name": "find_user", "arguments": {{"email": "a@example.org"}}, "label": "var1"}}, \
{{"name": "list_orders", "arguments": {{"user_id": "$var1.id$"}}, "label": "var2"}}]

Request: {goal}"""


@dataclass(frozen=True, slots=True)
class Calls:
    """The calls of a plan: tools, arguments, and references to earlier results."""

    names: tuple[str, ...]
    arguments: tuple[tuple[str, str], ...]
    links: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class Nestful:
    """The three parts as one set; each goal is offered ten tools, including its own."""

    name: str = "nestful"
    measures: tuple[str, ...] = ("call F1", "argument F1", "reference F1")

    def read(self, folder: Path) -> list[PlanGoal]:
        """Read the goals."""
        return [goal for part in _PARTS for goal in _goals(folder / "data", part)]

    def of_plan(self, plan: Plan, goal: PlanGoal) -> Calls:
        """Return the tool tasks of a plan."""
        rows = [(task.id, task.name or "", task.arguments) for task in plan.tasks if task.action_type == "tool"]
        return _calls(rows, _OURS)

    def of_answer(self, text: str, goal: PlanGoal) -> Calls:
        """Return the calls of an answer."""
        return _listed(json.loads(text[text.index("[") : text.rindex("]") + 1]))

    def score(self, made: Calls, goal: PlanGoal) -> tuple[float, ...]:
        """Return the F1 of tools, of argument names and of references to earlier results."""
        gold: Calls = goal.gold
        return f1(made.names, gold.names), f1(made.arguments, gold.arguments), f1(made.links, gold.links)


def _goals(folder: Path, part: str) -> Iterator[PlanGoal]:
    specs = {row["name"]: row for row in json.loads((folder / f"{part}-spec.json").read_text(encoding="utf-8"))}
    for number, row in enumerate(json.loads((folder / f"{part}-data.json").read_text(encoding="utf-8"))):
        gold = _listed(row["output"])
        if not set(gold.names) <= set(specs):
            continue
        name = f"{part.rpartition('/')[2]}-{number}"
        dice = random.Random(hashlib.sha256(name.encode()).digest())
        others = sorted(set(specs) - set(gold.names))
        offered = [*dict.fromkeys(gold.names), *dice.sample(others, min(len(others), _OFFERED))][:_OFFERED]
        tools = {each: _tool(specs[each]) for each in dice.sample(offered, len(offered))}
        listed = "\n".join(json.dumps({"name": each, **tool}) for each, tool in tools.items())
        prompt = Message("user", _ASK.format(tools=listed, goal=row["input"]))
        yield PlanGoal(name, row["input"], gold, (prompt,), tools=tools)


def _tool(spec: Mapping[str, Any]) -> dict[str, Any]:
    given: Any = next((spec[key] for key in _PARAMETERS if key in spec), {})
    rows: Mapping[str, Any] = given.get("properties", given) if isinstance(given, dict) else {}
    properties = {key: {"description": str(_about(row))} for key, row in rows.items()}
    return {
        "description": str(spec.get("description", "")),
        "parameters": {"type": "object", "properties": properties},
    }


def _about(row: Any) -> Any:
    return row.get("description", "") if isinstance(row, dict) else row


def _listed(rows: Any) -> Calls:
    calls = [row for row in rows if isinstance(row, dict) and row.get("name") != "var_result"]
    return _calls([(str(row.get("label")), str(row.get("name")), row.get("arguments")) for row in calls], _THEIRS)


def _calls(rows: list[tuple[str, str, Any]], reference: re.Pattern[str]) -> Calls:
    names = {label: name for label, name, _ in rows}
    arguments: list[tuple[str, str]] = []
    links: list[tuple[str, str, str]] = []
    for _, name, given in rows:
        for key, value in given.items() if isinstance(given, dict) else ():
            arguments.append((name, key))
            found = dict.fromkeys(reference.findall(json.dumps(value, ensure_ascii=False)))
            links += [(names[label], name, key) for label in found if label in names]
    return Calls(tuple(name for _, name, _ in rows), tuple(arguments), tuple(links))
