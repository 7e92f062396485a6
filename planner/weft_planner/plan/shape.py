"""The shapes in which models write plans: the full one, and one for small models that allows only valid plans.

A grammar enforces the small schema while the model writes, so the schema spells out what validation checks otherwise:
tasks have fixed ids by position, and a task can only depend on tasks before it.
"""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING, Any, Protocol

from weft_planner.plan.schema import plan_schema

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# The space sets it apart from every valid name of a skill or tool.
NO_SKILL = "no skill"
INSTRUCTION_LIMIT = 240
TITLE_LIMIT = 60

# Keywords that llama.cpp's grammar is known to support; a tool's schema may use any.
_KEYWORDS = frozenset({"type", "enum", "const", "required", "minItems", "maxItems", "minimum", "maximum"})
_NEXT_PART = re.compile(r"\bthen\b|\bafterwards\b|;|^\s*(?:\d+[.)]|[-*])\s", re.IGNORECASE | re.MULTILINE)
# What stands between things that are listed.
_LISTED = re.compile(r",\s*(?:and|or)\b|,|\band\b", re.IGNORECASE)


class PlanShape(Protocol):
    """The schema that a plan is asked for with, and the way back to a full plan document."""

    def schema(self, goal: str, names: Sequence[str], max_tasks: int, *, sub_goals: bool = True) -> dict[str, Any]:
        """The JSON schema for a goal, its selected skills, and at most `max_tasks` tasks.

        Where goals may not be nested deeper, there are no `sub_goals`.
        """

    def widen(self, document: Any) -> Any:
        """The full plan document for the one that the model wrote."""


class FullShape:
    """The full plan: validation finds what the schema cannot express."""

    def schema(self, goal: str, names: Sequence[str], max_tasks: int, *, sub_goals: bool = True) -> dict[str, Any]:
        """The same schema for all plans."""
        return plan_schema(sub_goals=sub_goals)

    def widen(self, document: Any) -> Any:
        """The document itself, or the plan in a bare list of tasks or inside a single outer key."""
        if isinstance(document, list) and document and all(isinstance(row, dict) for row in document):
            return {"tasks": document}
        if isinstance(document, dict) and len(document) == 1 and "tasks" not in document:
            (inner,) = document.values()
            if isinstance(inner, dict) and "tasks" in inner:
                return inner
        return document


class SmallShape:
    """A few tasks with fixed ids, each with one of the selected skills or none."""

    def schema(self, goal: str, names: Sequence[str], max_tasks: int, *, sub_goals: bool = True) -> dict[str, Any]:
        """A schema for as many tasks as the goal has parts: small models use all the room they are given."""
        return small_plan_schema(names, max_tasks=min(max_tasks, parts(goal)))

    def widen(self, document: Any) -> Any:
        """The full plan; a document that does not follow the small schema is left to validation."""
        rows = document.get("tasks") if isinstance(document, dict) else None
        if not isinstance(rows, list) or not all(isinstance(row, dict) and "use" in row for row in rows):
            return SHAPES["full"].widen(document)
        return widen(document)


class SmallGraphShape(SmallShape):
    """A few tasks with fixed ids, as many as the goal lists things, and one that puts them together."""

    def schema(self, goal: str, names: Sequence[str], max_tasks: int, *, sub_goals: bool = True) -> dict[str, Any]:
        """A schema with room for every thing that the goal lists; each task has a selected skill or none."""
        return small_plan_schema(names, max_tasks=min(max_tasks, listed(goal)), skill_first=False)


SHAPES: dict[str, PlanShape] = {"full": FullShape(), "small": SmallShape(), "small-graph": SmallGraphShape()}


def parts(goal: str) -> int:
    """How many consecutive parts a goal names."""
    return 1 + len(_NEXT_PART.findall(goal.strip().lstrip("-*").strip()))


def listed(goal: str) -> int:
    """How many tasks the things that a goal lists may take."""
    return max(parts(goal), 1 + len(_LISTED.findall(goal)))


def small_plan_schema(
    skills: Sequence[str],
    tools: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    max_tasks: int = 3,
    skill_first: bool = True,
) -> dict[str, Any]:
    """A JSON schema whose documents all widen to valid plans of at most `max_tasks` tasks.

    `tools` maps a tool's name to the JSON schema of its parameters.
    """
    if max_tasks < 1:
        raise ValueError(f"a plan has at least one task, not {max_tasks}")
    tasks = [_task(position, skills, tools or {}, skill_first=skill_first) for position in range(1, max_tasks + 1)]
    lengths = [_list_of(tasks[:length]) for length in range(1, max_tasks + 1)]
    return _object({"tasks": lengths[0] if max_tasks == 1 else {"anyOf": lengths}})


def widen(document: Mapping[str, Any]) -> dict[str, Any]:
    """The plan for a document of the small schema; its last task's output is the answer."""
    tasks = [_widen_task(task) for task in document["tasks"]]
    return {"tasks": tasks, "synthesis": None, "clarification": None}


def _task(
    position: int, skills: Sequence[str], tools: Mapping[str, Mapping[str, Any]], *, skill_first: bool
) -> dict[str, Any]:
    earlier = [f"t{number}" for number in range(1, position)]
    subsets = [list(ids) for size in range(position) for ids in combinations(earlier, size)]
    start = {"id": {"const": f"t{position}"}}
    end = {"depends_on": {"enum": subsets}}
    instruction = {"type": "string", "minLength": 1, "maxLength": INSTRUCTION_LIMIT}
    # Without examples of plans with several skills, a small model would use none if it had the choice.
    choices = list(skills) if skill_first and position == 1 and skills else [*skills, NO_SKILL]
    written = _object(start | {"use": {"enum": choices}, "instruction": instruction} | end)
    called = [
        _object(start | {"use": {"const": name}, "arguments": _plain(schema) | {"type": "object"}} | end)
        for name, schema in tools.items()
    ]
    return {"anyOf": [written, *called]} if called else written


def _list_of(tasks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    # `"items": false` would also limit the length, but llama.cpp's server rejects it.
    return {"type": "array", "prefixItems": list(tasks), "minItems": len(tasks), "maxItems": len(tasks)}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _plain(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A tool's parameters without keywords that a grammar may not support."""
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
    start = {"id": task.get("id"), "title": title_of(str(task.get("instruction") or task["use"]))}
    end = {"depends_on": task.get("depends_on")}
    if "arguments" in task:
        return start | {"action_type": "tool", "name": task["use"], "arguments": task["arguments"]} | end
    instruction = {"instruction": str(task.get("instruction") or "").strip()}
    if task["use"] == NO_SKILL:
        return start | {"action_type": "llm"} | instruction | end
    return start | {"action_type": "skill", "name": task["use"]} | instruction | {"arguments": ""} | end


def title_of(text: str) -> str:
    """A short title for an instruction: its first words."""
    words = " ".join(text.split())
    if len(words) <= TITLE_LIMIT:
        return words
    return words[:TITLE_LIMIT].rsplit(" ", 1)[0] + " …"
