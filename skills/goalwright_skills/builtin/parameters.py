"""The parameters of a built-in tool, as the JSON schema that a model sees."""

from __future__ import annotations

from typing import Any

from goalwright_skills.tools.parameter import object_schema


def takes(*required: str, **properties: dict[str, Any]) -> dict[str, Any]:
    """The schema of a tool that takes these properties and no others; `required` are the names of those it needs."""
    return object_schema(properties, required)


def text(description: str) -> dict[str, Any]:
    """A parameter that is a text."""
    return {"type": "string", "description": description}


def whole(description: str, least: int) -> dict[str, Any]:
    """A parameter that is a whole number."""
    return {"type": "integer", "minimum": least, "description": description}
