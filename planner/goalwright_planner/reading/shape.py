"""The schemas with which models are asked for plans: the full one, and a numbered one for small models.

A grammar enforces the numbered schema while the model writes, so that an invalid plan is impossible: tasks have ids by
position, `t1`, `t2`, …, and a task can only depend on earlier ones.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any, Protocol

from goalwright_planner.plan.references import references
from goalwright_planner.plan.task import ACTION_TYPES, GOAL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# No skill name has a space.
NO_SKILL = "no skill"
INSTRUCTION_LIMIT = 240
TITLE_LIMIT = 60
# How many arguments of a tool are offered; required ones come first.
_MOST_ARGUMENTS = 20
_TEXT: Mapping[str, Any] = {"type": "string", "maxLength": INSTRUCTION_LIMIT}
_KINDS: Mapping[str, Mapping[str, Any]] = {
    "number": {"type": "number"},
    "integer": {"type": "integer"},
    "boolean": {"type": "boolean"},
    "array": {"type": "array", "items": {"anyOf": [_TEXT, {"type": "number"}]}, "maxItems": _MOST_ARGUMENTS},
    "object": {"type": "object"},
}

_NEXT_PART = re.compile(r"\bthen\b|\bafterwards\b|;|^\s*(?:\d+[.)]|[-*])\s", re.IGNORECASE | re.MULTILINE)
# The separators of a list in a sentence.
_LISTED = re.compile(r",\s*(?:and|or)\b|,|\band\b", re.IGNORECASE)

_ADAPTIVE: dict[str, Any] = {
    "needs_approval": {"type": ["boolean", "string", "null"]},
    "when": {"type": ["string", "object", "null"]},
    "for_each": {"type": ["string", "array", "null"], "items": {"type": "string"}},
    "width": {"type": ["integer", "null"]},
    "first": {"type": ["integer", "null"]},
    "output_schema": {"type": ["object", "null"]},
    "check": {
        "type": ["object", "null"],
        "properties": {"ask": {"type": "string"}, "tries": {"type": "integer"}, "model": {"type": ["string", "null"]}},
        "required": ["ask"],
    },
    "model": {"type": ["string", "null"]},
}

_OF_GOALS: dict[str, Any] = {"most_tasks": {"type": ["integer", "null"]}, "max_cost": {"type": ["number", "null"]}}

_REPEAT: dict[str, Any] = {
    "type": ["object", "null"],
    "properties": {"until": {"type": ["string", "object"]}, "most": {"type": "integer"}},
    "required": ["until", "most"],
}

# The reasons for unused skills.
UNUSED: dict[str, Any] = {"type": ["object", "null"], "additionalProperties": {"type": "string"}}


@dataclass(frozen=True, slots=True)
class AskedPlan:
    """The request for a plan: a goal, the skills selected for it, and at most `max_tasks` tasks.

    - `sub_goals`: whether a task may be a goal. `repeats`: whether tasks may have rounds.
    - `unused`: whether the plan may give reasons for unused skills. `direct`: whether it may be an answer instead.
    - `room`: the least number of tasks that the schema allows, even if the goal lists fewer things.
    - `tools`: the tools that the plan may call, with the JSON schema of their parameters.
    """

    goal: str
    skills: Sequence[str]
    max_tasks: int
    sub_goals: bool = True
    unused: bool = False
    direct: bool = False
    repeats: bool = False
    room: int = 1
    tools: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


class PlanShape(Protocol):
    """The schema with which a model is asked for a plan, and the way back to a full plan document."""

    def schema(self, asked: AskedPlan) -> dict[str, Any]:
        """Return the JSON schema of the requested plan."""

    def widen(self, document: Any) -> Any:
        """Return the full plan document for the normal form of the model's document."""

    def left_out(self, skill: str) -> str:
        """Return the fault of a plan that leaves out a required skill."""


class FullShape:
    """The full plan; validation checks what the schema cannot express."""

    def schema(self, asked: AskedPlan) -> dict[str, Any]:
        """Return the same schema for all goals."""
        return plan_schema(sub_goals=asked.sub_goals, unused=asked.unused, direct=asked.direct, repeats=asked.repeats)

    def widen(self, document: Any) -> Any:
        """Return the document itself."""
        return document

    def left_out(self, skill: str) -> str:
        """Return a fault that asks for a task or a reason."""
        return (
            f"no task uses the skill {skill!r}, which was selected with certainty; give it a task of action_type "
            f"'skill', or say in 'unused' why none uses it: {{\"{skill}\": \"why\"}}"
        )


class NumberedShape:
    """A few tasks with ids by position, each with at most one of the selected skills or tools."""

    def schema(self, asked: AskedPlan) -> dict[str, Any]:
        """Return a schema with room for the things that the goal lists: small models fill all the room they get."""
        return numbered_schema(asked.skills, min(asked.max_tasks, max(asked.room, listed(asked.goal))), asked.tools)

    def widen(self, document: Any) -> Any:
        """Return the full plan; a document that does not follow the numbered schema is left to validation."""
        rows = document.get("tasks") if isinstance(document, dict) else None
        if not isinstance(rows, list) or not all(isinstance(row, dict) and "use" in row for row in rows):
            return document
        tasks = [_widened_call(row) if _is_call(row) else _widened(row) for row in rows]
        whole = {"tasks": tasks, "synthesis": None, "clarification": None}
        return whole | {key: document[key] for key in ("unused",) if key in document}

    def left_out(self, skill: str) -> str:
        """Return a fault that asks for a task; the schema has no room for a reason."""
        return f'no task uses the skill {skill}, which fits the goal; write it in the "use" of the task that it fits'


SHAPES: dict[str, PlanShape] = {"full": FullShape(), "numbered": NumberedShape()}


def plan_schema(
    *, sub_goals: bool = True, unused: bool = False, direct: bool = False, repeats: bool = False
) -> dict[str, Any]:
    """Return the schema of a plan, loose enough for every provider's dialect; validation does the rest.

    It has `unused`, `answer` and `repeat` only if the request needs them: the schema is part of the hash of a request.
    """
    actions = [action for action in ACTION_TYPES if sub_goals or action != GOAL]
    optional_text = {"type": ["string", "null"]}
    task: dict[str, Any] = {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "title": {"type": "string"},
            "action_type": {"type": "string", "enum": actions},
            "name": optional_text,
            "instruction": {"type": "string"},
            "arguments": {"type": ["string", "object", "null"]},
            "depends_on": {"type": "array", "items": {"type": "string"}},
            **_ADAPTIVE,
        },
        "required": ["id", "action_type", "depends_on"],
    }
    if GOAL in actions:
        task["properties"] |= _OF_GOALS
    if repeats:
        task["properties"]["repeat"] = _REPEAT
    return {
        "type": "object",
        "properties": {
            "tasks": {"type": "array", "items": task, "minItems": 1},
            "synthesis": optional_text,
            "clarification": optional_text,
            **({"unused": UNUSED} if unused else {}),
            **({"answer": optional_text} if direct else {}),
        },
        "required": [],  # a question or an answer may replace the tasks
    }


def listed(goal: str) -> int:
    """Return how many tasks the things that a goal lists may need."""
    steps = 1 + len(_NEXT_PART.findall(goal.strip().lstrip("-*").strip()))
    return max(steps, 1 + len(_LISTED.findall(goal)))


def numbered_schema(
    skills: Sequence[str], max_tasks: int, tools: Mapping[str, Mapping[str, Any]] | None = None
) -> dict[str, Any]:
    """Return a JSON schema whose documents widen to valid plans of at most `max_tasks` tasks."""
    if max_tasks < 1:
        raise ValueError(f"a plan has at least one task, not {max_tasks}")
    tasks = [_task(position, skills, tools or {}) for position in range(1, max_tasks + 1)]
    defined = {f"t{position}": task for position, task in enumerate(tasks, start=1)} if tools else {}
    if tools:  # each task is long and is repeated in every longer list
        tasks = [{"$ref": f"#/$defs/{name}"} for name in defined]
        defined |= {_arguments_of(at): _arguments(tool) for at, tool in enumerate(tools.values())}
    lengths = [_list_of(tasks[:length]) for length in range(1, max_tasks + 1)]
    whole = _object({"tasks": lengths[0] if max_tasks == 1 else {"anyOf": lengths}})
    return whole | {"$defs": defined} if defined else whole


def offered_arguments(parameters: Mapping[str, Any]) -> list[str]:
    """Return the names of a tool's arguments: all required ones, and as many others as there is room for."""
    properties, required = parameters.get("properties", {}), parameters.get("required", ())
    names = sorted(properties, key=lambda name: name not in required)
    return names[: max(_MOST_ARGUMENTS, sum(name in required for name in properties))]


def title_of(text: str) -> str:
    """Return a short title for an instruction: its first words."""
    words = " ".join(text.split())
    if len(words) <= TITLE_LIMIT:
        return words
    return words[:TITLE_LIMIT].rsplit(" ", 1)[0] + " …"


def _task(position: int, skills: Sequence[str], tools: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    earlier = [f"t{number}" for number in range(1, position)]
    subsets = [list(ids) for size in range(position) for ids in combinations(earlier, size)]
    task_id = {"const": f"t{position}"}
    skill_task = _object(
        {
            "id": task_id,
            "use": {"enum": [*skills, NO_SKILL]},
            "instruction": {"type": "string", "minLength": 1, "maxLength": INSTRUCTION_LIMIT},
            "depends_on": {"enum": subsets},
        }
    )
    calls = [
        _object({"id": task_id, "use": {"const": name}, "arguments": {"$ref": f"#/$defs/{_arguments_of(at)}"}})
        for at, name in enumerate(tools)
    ]
    return {"anyOf": [*calls, skill_task]} if calls else skill_task


def _arguments_of(tool: int) -> str:
    return f"arguments{tool + 1}"


def _arguments(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a tool's arguments, each of its own type or a text that may have a reference.

    Only names and types are taken, since no grammar can be made of some schemas.
    """
    arguments = {name: _argument(parameters["properties"][name]) for name in offered_arguments(parameters)}
    return _object(arguments) | {"required": [name for name in arguments if name in parameters.get("required", ())]}


def _argument(schema: Any) -> Mapping[str, Any]:
    kind = schema.get("type") if isinstance(schema, dict) else None
    if kind == "string":
        return _TEXT
    others = [_KINDS[kind]] if isinstance(kind, str) and kind in _KINDS else list(_KINDS.values())
    return {"anyOf": [_TEXT, *others]}


def _list_of(tasks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    # `"items": false` would also limit the length, but llama.cpp's server rejects it.
    return {"type": "array", "prefixItems": list(tasks), "minItems": len(tasks), "maxItems": len(tasks)}


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _widened(row: Mapping[str, Any]) -> dict[str, Any]:
    instruction = str(row.get("instruction") or "").strip()
    task = {"id": row.get("id"), "title": title_of(instruction or row["use"]), "instruction": instruction}
    if row["use"] == NO_SKILL:
        return task | {"action_type": "llm", "depends_on": row.get("depends_on")}
    return task | {"action_type": "skill", "name": row["use"], "arguments": "", "depends_on": row.get("depends_on")}


def _is_call(row: Mapping[str, Any]) -> bool:
    """Whether a row calls a tool: it has arguments and no instruction."""
    return isinstance(row.get("arguments"), dict) and "instruction" not in row


def _widened_call(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the task of a tool, which depends on the tasks that its arguments refer to."""
    return {
        "id": row.get("id"),
        "title": title_of(str(row["use"])),
        "action_type": "tool",
        "name": row["use"],
        "arguments": row["arguments"],
        "depends_on": list(dict.fromkeys(reference.id for reference in references(row["arguments"]))),
    }
