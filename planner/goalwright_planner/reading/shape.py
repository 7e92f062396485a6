"""The shapes in which models write plans: in full, or numbered, which leaves a small model no room for an invalid plan.

A grammar enforces the numbered schema while the model writes, so the schema spells out what validation would check:
tasks have ids by position, `t1`, `t2`, …, and a task can only depend on those before it.
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

# The space sets it apart from every valid name of a skill.
NO_SKILL = "no skill"
INSTRUCTION_LIMIT = 240
TITLE_LIMIT = 60
# Arguments of a tool that a model is offered: those that it needs come first.
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
# What stands between things that are listed.
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

# Why skills that fit are not used, by their names.
UNUSED: dict[str, Any] = {"type": ["object", "null"], "additionalProperties": {"type": "string"}}


@dataclass(frozen=True, slots=True)
class AskedPlan:
    """What a plan is asked for: a goal, the skills selected for it, and at most `max_tasks` tasks.

    Where goals may not be nested deeper, there are no `sub_goals`; where a skill must be used, the plan may say in
    `unused` why it is not; where `direct`, there may be an answer instead; where `repeats`, tasks may have rounds.
    There is `room` for at least that many tasks, even if the goal lists fewer things. `tools` are those that the plan
    may call, with the JSON schema of their parameters.
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
    """The schema that a plan is asked for with, and the way back to a full plan document."""

    def schema(self, asked: AskedPlan) -> dict[str, Any]:
        """The JSON schema of the plan that is asked for."""

    def widen(self, document: Any) -> Any:
        """The full plan document for the one that the model wrote, in its normal form."""

    def left_out(self, skill: str) -> str:
        """The fault of a plan that leaves out a skill which must be used."""


class FullShape:
    """The full plan: validation finds what the schema cannot express."""

    def schema(self, asked: AskedPlan) -> dict[str, Any]:
        """The same schema for all goals."""
        return plan_schema(sub_goals=asked.sub_goals, unused=asked.unused, direct=asked.direct, repeats=asked.repeats)

    def widen(self, document: Any) -> Any:
        """The document itself."""
        return document

    def left_out(self, skill: str) -> str:
        """The plan may say why."""
        return (
            f"no task uses the skill {skill!r}, which was selected with certainty; give it a task of action_type "
            f"'skill', or say in 'unused' why none uses it: {{\"{skill}\": \"why\"}}"
        )


class NumberedShape:
    """A few tasks with ids by position, each with one of the selected skills or tools, or none."""

    def schema(self, asked: AskedPlan) -> dict[str, Any]:
        """A schema with room for every thing that the goal lists: small models use all the room they are given."""
        return numbered_schema(asked.skills, min(asked.max_tasks, max(asked.room, listed(asked.goal))), asked.tools)

    def widen(self, document: Any) -> Any:
        """The full plan; a document that does not follow the numbered schema is left to validation."""
        rows = document.get("tasks") if isinstance(document, dict) else None
        if not isinstance(rows, list) or not all(isinstance(row, dict) and "use" in row for row in rows):
            return document
        tasks = [_widened_call(row) if _is_call(row) else _widened(row) for row in rows]
        whole = {"tasks": tasks, "synthesis": None, "clarification": None}
        return whole | {key: document[key] for key in ("unused",) if key in document}

    def left_out(self, skill: str) -> str:
        """There is no room for a reason."""
        return f'no task uses the skill {skill}, which fits the goal; write it in the "use" of the task that it fits'


SHAPES: dict[str, PlanShape] = {"full": FullShape(), "numbered": NumberedShape()}


def plan_schema(
    *, sub_goals: bool = True, unused: bool = False, direct: bool = False, repeats: bool = False
) -> dict[str, Any]:
    """The schema of a plan: loose enough for every provider's dialect; validation does the rest.

    It has `unused` only where a skill must be used, `answer` only where there may be one instead of a plan, and
    `repeat` only where the goal asks for rounds: the hash of a request is made of its schema too.
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
        "required": [],  # a question, or an answer, stands in the place of tasks
    }


def listed(goal: str) -> int:
    """How many tasks the things that a goal lists may take."""
    steps = 1 + len(_NEXT_PART.findall(goal.strip().lstrip("-*").strip()))
    return max(steps, 1 + len(_LISTED.findall(goal)))


def numbered_schema(
    skills: Sequence[str], max_tasks: int, tools: Mapping[str, Mapping[str, Any]] | None = None
) -> dict[str, Any]:
    """A JSON schema whose documents all widen to valid plans of at most `max_tasks` tasks, but for tools' arguments."""
    if max_tasks < 1:
        raise ValueError(f"a plan has at least one task, not {max_tasks}")
    tasks = [_task(position, skills, tools or {}) for position in range(1, max_tasks + 1)]
    defined = {f"t{position}": task for position, task in enumerate(tasks, start=1)} if tools else {}
    if tools:  # each task is long, and stands in every list that is long enough
        tasks = [{"$ref": f"#/$defs/{name}"} for name in defined]
        defined |= {_arguments_of(at): _arguments(tool) for at, tool in enumerate(tools.values())}
    lengths = [_list_of(tasks[:length]) for length in range(1, max_tasks + 1)]
    whole = _object({"tasks": lengths[0] if max_tasks == 1 else {"anyOf": lengths}})
    return whole | {"$defs": defined} if defined else whole


def offered_arguments(parameters: Mapping[str, Any]) -> list[str]:
    """The names of a tool's arguments: all that it needs, and of the others as many as there is room for."""
    every, needed = parameters.get("properties", {}), parameters.get("required", ())
    names = sorted(every, key=lambda name: name not in needed)
    return names[: max(_MOST_ARGUMENTS, sum(name in needed for name in every))]


def title_of(text: str) -> str:
    """A short title for an instruction: its first words."""
    words = " ".join(text.split())
    if len(words) <= TITLE_LIMIT:
        return words
    return words[:TITLE_LIMIT].rsplit(" ", 1)[0] + " …"


def _task(position: int, skills: Sequence[str], tools: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    earlier = [f"t{number}" for number in range(1, position)]
    subsets = [list(ids) for size in range(position) for ids in combinations(earlier, size)]
    task_id = {"const": f"t{position}"}
    told = _object(
        {
            "id": task_id,
            "use": {"enum": [*skills, NO_SKILL]},
            "instruction": {"type": "string", "minLength": 1, "maxLength": INSTRUCTION_LIMIT},
            "depends_on": {"enum": subsets},
        }
    )
    called = [
        _object({"id": task_id, "use": {"const": name}, "arguments": {"$ref": f"#/$defs/{_arguments_of(at)}"}})
        for at, name in enumerate(tools)
    ]
    return {"anyOf": [*called, told]} if called else told


def _arguments_of(tool: int) -> str:
    return f"arguments{tool + 1}"


def _arguments(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """An object with a tool's arguments, each of its own type, or a text, which may refer to an earlier result.

    Only names and types are taken: a stranger's schema may hold what no grammar can be made of.
    """
    given = {name: _argument(parameters["properties"][name]) for name in offered_arguments(parameters)}
    return _object(given) | {"required": [name for name in given if name in parameters.get("required", ())]}


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
    """Whether a row calls a tool: it says with what, and not what to do."""
    return isinstance(row.get("arguments"), dict) and "instruction" not in row


def _widened_call(row: Mapping[str, Any]) -> dict[str, Any]:
    """A tool's task; it waits for the tasks whose results its arguments refer to."""
    return {
        "id": row.get("id"),
        "title": title_of(str(row["use"])),
        "action_type": "tool",
        "name": row["use"],
        "arguments": row["arguments"],
        "depends_on": list(dict.fromkeys(reference.id for reference in references(row["arguments"]))),
    }
