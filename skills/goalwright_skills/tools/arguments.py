"""Check a call's arguments against a tool's parameters before anything starts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from goalwright_skills.text.formatting import clip, guess
from goalwright_skills.tools.parameter import Parameter, fits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SHOWN = 80


def check(parameters: Sequence[Parameter], arguments: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The arguments with defaults filled in, and everything that is wrong with them; null counts as absent."""
    known = {parameter.name: parameter for parameter in parameters}
    given = {name: value for name, value in arguments.items() if value is not None}
    faults = [_unknown(name, known) for name in arguments if name not in known]
    filled: dict[str, Any] = {}
    for parameter in parameters:
        if parameter.name in given:
            value = given[parameter.name]
            fault = _fault(parameter, value)
            if fault:
                faults.append(fault)
            filled[parameter.name] = int(value) if parameter.type == "integer" and not fault else value
        elif parameter.required and not parameter.has_default:
            faults.append(f"missing parameter: {parameter.name} — {_asked(parameter)}")
        elif parameter.has_default:
            filled[parameter.name] = parameter.default
    return filled, faults


def _fault(parameter: Parameter, value: Any) -> str:
    if not fits(value, parameter.type):
        return f"parameter {parameter.name} has the wrong type: {_shown(value)} — {_asked(parameter)}"
    if parameter.enum and value not in parameter.enum:
        allowed = ", ".join(_shown(choice) for choice in parameter.enum)
        return (
            f"parameter {parameter.name} has a value that is not allowed: {_shown(value)} — "
            f"give one of {allowed}{_described(parameter)}"
        )
    return ""


def _unknown(name: str, known: Mapping[str, Parameter]) -> str:
    if not known:
        return f"unknown parameter: {name} — this tool takes none, leave it out"
    near = guess(name, known, cutoff=0.5)
    listed = ", ".join(known)
    if near:
        parameter = known[near]
        return (
            f"unknown parameter: {name} — did you mean {parameter.name}{_described(parameter)}? "
            f"The parameters are: {listed}"
        )
    return f"unknown parameter: {name} — leave it out; the parameters are: {listed}"


def _asked(parameter: Parameter) -> str:
    article = "an" if parameter.type[0] in "aio" else "a"
    return f"give {article} {parameter.type}{_described(parameter)}"


def _described(parameter: Parameter) -> str:
    return f" ({parameter.description})" if parameter.description else ""


def _shown(value: Any) -> str:
    return clip(json.dumps(value, ensure_ascii=False, default=str), SHOWN)
