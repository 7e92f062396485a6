"""The shapes in which models write plans: the full one, and one for small models that admits only valid plans.

A grammar enforces the small schema while the model writes, so it spells out what is otherwise checked afterwards: tasks
stand by position with fixed ids, and a task may only wait for tasks before it.
"""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING, Any, Protocol

from planner.plan.schema import plan_schema

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# A space keeps it apart from every name that a skill or a tool can have.
NO_SKILL = "no skill"
INSTRUCTION_LIMIT = 240
TITLE_LIMIT = 60

# What llama.cpp's grammar is known to take; a tool's schema may hold anything.
_KEYWORDS = frozenset({"type", "enum", "const", "required", "minItems", "maxItems", "minimum", "maximum"})


_NEXT_PART = re.compile(r"\bthen\b|\bafterwards\b|;|^\s*(?:\d+[.)]|[-*])\s", re.IGNORECASE | re.MULTILINE)


class PlanShape(Protocol):
    """How a plan is asked for, and how what was written becomes a plan document."""

    def schema(self, goal: str, names: Sequence[str], most: int) -> dict[str, Any]:
        """The JSON schema for a goal, the skills that were selected for it, and at most so many tasks."""

    def widen(self, document: Any) -> Any:
        """The plan document that the written one stands for."""


class FullShape:
    """The plan as it is: validation finds what the schema cannot say."""

    def schema(self, goal: str, names: Sequence[str], most: int) -> dict[str, Any]:
        """The one schema for all plans."""
        return plan_schema()

    def widen(self, document: Any) -> Any:
        """The document itself; a bare list of tasks, or a plan inside one outer key, is the plan it stands for."""
        if isinstance(document, list) and document and all(isinstance(row, dict) for row in document):
            return {"tasks": document}
        if isinstance(document, dict) and len(document) == 1 and "tasks" not in document:
            (inner,) = document.values()
            if isinstance(inner, dict) and "tasks" in inner:
                return inner
        return document


class SmallShape:
    """A few tasks with fixed ids, each with a skill of those selected, or none."""

    def schema(self, goal: str, names: Sequence[str], most: int) -> dict[str, Any]:
        """A schema with room for the parts that the goal names: small models fill whatever room they are given."""
        return small_plan_schema(names, most=min(most, parts(goal)))

    def widen(self, document: Any) -> Any:
        """The full plan; what is not of the small schema is left for validation to judge."""
        rows = document.get("tasks") if isinstance(document, dict) else None
        if not isinstance(rows, list) or not all(isinstance(row, dict) and "use" in row for row in rows):
            return SHAPES["full"].widen(document)
        return widen(document)


SHAPES: dict[str, PlanShape] = {"full": FullShape(), "small": SmallShape()}


def parts(goal: str) -> int:
    """How many parts a goal names one after the other."""
    return 1 + len(_NEXT_PART.findall(goal.strip().lstrip("-*").strip()))


def small_plan_schema(
    skills: Sequence[str], tools: Mapping[str, Mapping[str, Any]] | None = None, *, most: int = 3
) -> dict[str, Any]:
    """A JSON schema whose every document widens to a valid plan of at most `most` tasks.

    `tools` maps a tool's name to the JSON schema of its parameters.
    """
    if most < 1:
        raise ValueError(f"a plan has at least one task, not {most}")
    tasks = [_task(position, skills, tools or {}) for position in range(1, most + 1)]
    lengths = [_list_of(tasks[:length]) for length in range(1, most + 1)]
    return _object({"tasks": lengths[0] if most == 1 else {"anyOf": lengths}})


def widen(document: Mapping[str, Any]) -> dict[str, Any]:
    """The plan that a document of the small schema stands for; its last task's output is the answer."""
    tasks = [_widen_task(task) for task in document["tasks"]]
    return {"tasks": tasks, "synthesis": None, "clarification": None}


def _task(position: int, skills: Sequence[str], tools: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    earlier = [f"t{number}" for number in range(1, position)]
    subsets = [list(ids) for size in range(position) for ids in combinations(earlier, size)]
    start = {"id": {"const": f"t{position}"}}
    end = {"depends_on": {"enum": subsets}}
    instruction = {"type": "string", "minLength": 1, "maxLength": INSTRUCTION_LIMIT}
    # The skills were selected because they fit the goal; a small model left to choose would rather use none.
    choices = list(skills) if position == 1 and skills else [*skills, NO_SKILL]
    written = _object(start | {"use": {"enum": choices}, "instruction": instruction} | end)
    called = [
        _object(start | {"use": {"const": name}, "arguments": _plain(schema) | {"type": "object"}} | end)
        for name, schema in tools.items()
    ]
    return {"anyOf": [written, *called]} if called else written


def _list_of(tasks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    # `"items": false` would say the same of the length, but llama.cpp's server refuses it.
    return {"type": "array", "prefixItems": list(tasks), "minItems": len(tasks), "maxItems": len(tasks)}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _plain(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A tool's parameters without the keywords that a grammar may not know."""
    plain: dict[str, Any] = {key: value for key, value in schema.items() if key in _KEYWORDS}
    if isinstance(properties := schema.get("properties"), dict):
        plain["properties"] = {name: _plain(value) for name, value in properties.items()}
        plain["additionalProperties"] = False
    if isinstance(items := schema.get("items"), dict):
        plain["items"] = _plain(items)
    if isinstance(choices := schema.get("anyOf") or schema.get("oneOf"), list):
        plain["anyOf"] = [_plain(choice) for choice in choices]
    return plain


def _widen_task(task: Mapping[str, Any]) -> dict[str, Any]:
    start = {"id": task.get("id"), "title": _title(task)}
    end = {"depends_on": task.get("depends_on")}
    if "arguments" in task:
        return start | {"action_type": "tool", "name": task["use"], "arguments": task["arguments"]} | end
    instruction = {"instruction": str(task.get("instruction") or "").strip()}
    if task["use"] == NO_SKILL:
        return start | {"action_type": "llm"} | instruction | end
    return start | {"action_type": "skill", "name": task["use"]} | instruction | {"arguments": ""} | end


def _title(task: Mapping[str, Any]) -> str:
    words = " ".join(str(task.get("instruction") or task["use"]).split())
    if len(words) <= TITLE_LIMIT:
        return words
    return words[:TITLE_LIMIT].rsplit(" ", 1)[0] + " …"
