"""The plan's JSON schema, for providers that support structured output."""

from __future__ import annotations

from typing import Any

from planner.plan.plan import ACTION_TYPES


def plan_schema() -> dict[str, Any]:
    """The schema of a plan: loose enough for every provider's dialect; validation does the rest."""
    optional_text = {"type": ["string", "null"]}
    task = {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "title": {"type": "string"},
            "action_type": {"type": "string", "enum": list(ACTION_TYPES)},
            "name": optional_text,
            "instruction": {"type": "string"},
            "arguments": {"type": ["string", "object", "null"]},
            "depends_on": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["id", "action_type", "depends_on"],
    }
    return {
        "type": "object",
        "properties": {
            "tasks": {"type": "array", "items": task},
            "synthesis": optional_text,
            "clarification": optional_text,
        },
        "required": ["tasks"],
    }
