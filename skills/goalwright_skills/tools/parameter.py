"""A tool's parameters: their JSON schema, their declaration in a manifest, and the validation of arguments."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from goalwright_skills.text.formatting import clip, guess

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
        """Return the parameter as a JSON schema property."""
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
    """Return the parameters as a JSON schema of type object that allows no others."""
    required = [parameter.name for parameter in parameters if parameter.required]
    return object_schema({parameter.name: parameter.schema for parameter in parameters}, required)


def object_schema(properties: Mapping[str, Any], required: Sequence[str]) -> dict[str, Any]:
    """Return the JSON schema of an object with these properties and no others."""
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def fits(value: Any, kind: str) -> bool:
    """Return whether a JSON value has the named type; true and false are not numbers, 3.0 is an integer."""
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
    """Parse a parameter of a manifest; returns None and all faults with their remedies if it is invalid."""
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
    has_default = default is not None
    return Parameter(name, kind, description.strip(), required, default, has_default, tuple(enum)), []


_VALUE_LIMIT = 80


def check_arguments(parameters: Sequence[Parameter], arguments: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the arguments with defaults filled in, and all their faults; null counts as absent."""
    by_name = {parameter.name: parameter for parameter in parameters}
    present = {name: value for name, value in arguments.items() if value is not None}
    faults = [_unknown(name, by_name) for name in arguments if name not in by_name]
    filled: dict[str, Any] = {}
    for parameter in parameters:
        if parameter.name in present:
            value = present[parameter.name]
            fault = _fault(parameter, value)
            if fault:
                faults.append(fault)
            filled[parameter.name] = int(value) if parameter.type == "integer" and not fault else value
        elif parameter.required and not parameter.has_default:
            faults.append(f"missing parameter: {parameter.name} — {_type_request(parameter)}")
        elif parameter.has_default:
            filled[parameter.name] = parameter.default
    return filled, faults


def _fault(parameter: Parameter, value: Any) -> str:
    if not fits(value, parameter.type):
        return f"parameter {parameter.name} has the wrong type: {_as_json(value)} — {_type_request(parameter)}"
    if parameter.enum and value not in parameter.enum:
        allowed = ", ".join(_as_json(choice) for choice in parameter.enum)
        return (
            f"parameter {parameter.name} has a value that is not allowed: {_as_json(value)} — "
            f"give one of {allowed}{_in_brackets(parameter)}"
        )
    return ""


def _unknown(name: str, by_name: Mapping[str, Parameter]) -> str:
    if not by_name:
        return f"unknown parameter: {name} — this tool takes none, leave it out"
    nearest = guess(name, by_name, cutoff=0.5)
    listed = ", ".join(by_name)
    if nearest:
        parameter = by_name[nearest]
        return (
            f"unknown parameter: {name} — did you mean {parameter.name}{_in_brackets(parameter)}? "
            f"The parameters are: {listed}"
        )
    return f"unknown parameter: {name} — leave it out; the parameters are: {listed}"


def _type_request(parameter: Parameter) -> str:
    article = "an" if parameter.type[0] in "aio" else "a"
    return f"give {article} {parameter.type}{_in_brackets(parameter)}"


def _in_brackets(parameter: Parameter) -> str:
    return f" ({parameter.description})" if parameter.description else ""


def _as_json(value: Any) -> str:
    return clip(json.dumps(value, ensure_ascii=False, default=str), _VALUE_LIMIT)


def tool_parameters(*required: str, **properties: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a tool with these properties and no others; `required` names the mandatory ones."""
    return object_schema(properties, required)


def string_parameter(description: str) -> dict[str, Any]:
    """Return the schema of a string parameter."""
    return {"type": "string", "description": description}


def integer_parameter(description: str, minimum: int) -> dict[str, Any]:
    """Return the schema of an integer parameter."""
    return {"type": "integer", "minimum": minimum, "description": description}
