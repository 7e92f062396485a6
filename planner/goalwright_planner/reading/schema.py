"""The plan's JSON schema, for providers that support structured output."""

from __future__ import annotations

from typing import Any

from goalwright_planner.plan.changes.sub_goals import GOAL
from goalwright_planner.plan.task import ACTION_TYPES

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
