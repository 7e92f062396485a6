"""A tool's parameters, and their JSON schema for a model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Type = Literal["string", "integer", "number", "boolean", "array", "object"]
TYPES: tuple[str, ...] = get_args(Type)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument that a tool takes; `default` counts only if `has_default`."""

    name: str
    type: Type
    description: str = ""
    required: bool = False
    default: Any = None
    has_default: bool = False
    enum: tuple[Any, ...] = ()

    @property
    def schema(self) -> dict[str, Any]:
        """The parameter as a JSON schema property."""
        document: dict[str, Any] = {"type": self.type}
        if self.type == "array":
            document["items"] = {}  # some providers refuse an array without `items`
        if self.description:
            document["description"] = self.description
        if self.enum:
            document["enum"] = list(self.enum)
        if self.has_default:
            document["default"] = self.default
        return document


def schema(parameters: Sequence[Parameter]) -> dict[str, Any]:
    """The parameters as one JSON schema of type object that allows no others."""
    required = [parameter.name for parameter in parameters if parameter.required]
    return object_schema({parameter.name: parameter.schema for parameter in parameters}, required)


def object_schema(properties: Mapping[str, Any], required: Sequence[str]) -> dict[str, Any]:
    """The JSON schema of an object with these properties and no others."""
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def fits(value: Any, kind: str) -> bool:
    """Whether a JSON value has the named type; true and false are not numbers, 3.0 is an integer."""
    match kind:
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return not isinstance(value, bool) and (
                isinstance(value, int) or (isinstance(value, float) and value.is_integer())
            )
        case "number":
            return not isinstance(value, bool) and isinstance(value, int | float) and math.isfinite(value)
        case "array":
            return isinstance(value, list)
        case "object":
            return isinstance(value, dict)
    return False


def declared(name: str, item: Mapping[str, Any]) -> tuple[Parameter | None, list[tuple[str, str]]]:
    """A parameter as a manifest declares it, or all its faults, each with its remedy."""
    faults: list[tuple[str, str]] = []
    kind = item.get("type", "string")
    if kind not in TYPES:
        faults.append((f"has the unknown type {kind!r}", f"write one of {', '.join(TYPES)}"))
    required = item.get("required", False)
    if not isinstance(required, bool):
        faults.append((f"has the invalid value {required!r} for required", "write true or false"))
    description = item.get("description", "")
    if not isinstance(description, str):
        faults.append(("has a description that is not text", "put it in quotation marks"))
    enum = item.get("enum") or []
    if not isinstance(enum, list) or (kind in TYPES and not all(fits(v, kind) for v in enum)):
        faults.append(("has an enum that is not a list of values of its type", f"list values of type {kind}"))
    default = item.get("default")
    if default is not None and kind in TYPES and not fits(default, kind):
        faults.append((f"has a default of another type: {default!r}", f"write a default of type {kind}"))
    elif default is not None and isinstance(enum, list) and enum and default not in enum and default != "":
        faults.append((f"has a default that is not in its enum: {default!r}", "add it to the enum"))
    if faults:
        return None, faults
    given = default is not None
    return Parameter(name, kind, description.strip(), required, default, given, tuple(enum)), []
