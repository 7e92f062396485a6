"""Derives a tool's parameters from a function's signature and its descriptions from the docstring."""

from __future__ import annotations

import inspect
import json
import re
import textwrap
import types
import typing
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from goalwright_skills.tools.parameter import Parameter, Type

if TYPE_CHECKING:
    from collections.abc import Callable

WORKSPACE = "workspace"
KINDS: dict[Any, Type] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    list: "array",
    dict: "object",
}
ARGUMENT = re.compile(r"^\s*(?P<name>\w+)(?:\s*\([^)]*\))?:\s*(?P<text>.*)$")


@lru_cache(maxsize=256)  # each workspace that a process opens offers the same functions
def offered(function: Callable[..., Any], name: str) -> tuple[tuple[Parameter, ...], str]:
    """Return the parameters and the description that a model sees."""
    description, described = docstring(inspect.getdoc(function) or "")
    hints = _hints(function, name)
    inputs = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name == WORKSPACE and _is_path(hints.get(WORKSPACE, Path)):
            continue
        if parameter.name not in hints or parameter.kind not in {
            parameter.POSITIONAL_OR_KEYWORD,
            parameter.KEYWORD_ONLY,
        }:
            raise TypeError(f"{name}: parameter {parameter.name} has no type that JSON schema can express")
        where = f"{name}: parameter {parameter.name}"
        kind, enum = _kind(hints[parameter.name], where)
        has_default = parameter.default is not parameter.empty
        default = parameter.default if has_default else None
        _check_default(default, where)
        text = described.get(parameter.name, "")
        shown = has_default and default is not None
        inputs.append(Parameter(parameter.name, kind, text, not has_default, default, shown, enum))
    return tuple(inputs), description


def _hints(function: Callable[..., Any], name: str) -> dict[str, Any]:
    """Return the types of a function's parameters; raises TypeError if a type cannot be resolved."""
    if not inspect.isroutine(function):
        raise TypeError(f"{name} is not a function")
    if inspect.isasyncgenfunction(function):
        raise TypeError(f"{name} is an async generator: return a list")
    origin = inspect.unwrap(function)
    parameters = types.SimpleNamespace(__annotations__=dict(getattr(origin, "__annotations__", {})))
    parameters.__annotations__.pop("return", None)  # the return type may only exist for type checkers
    try:
        return typing.get_type_hints(parameters, getattr(origin, "__globals__", {}))
    except NameError as error:
        raise TypeError(f"{name} has a type in its signature that cannot be found: {error.name}") from error


def _is_path(hint: Any) -> bool:
    return hint is Path or Path in typing.get_args(hint)


def _check_default(default: Any, where: str) -> None:
    """Raise TypeError if JSON cannot express a default."""
    try:
        json.dumps(default, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(f"{where} has a default that JSON cannot express: {default!r}") from error


def docstring(text: str) -> tuple[str, dict[str, str]]:
    """Return the first paragraph as one line, and the descriptions in the `Args:` section by parameter."""
    summary = " ".join(text.split("\n\n", 1)[0].split())
    described: dict[str, str] = {}
    section = re.search(r"^Args:\n(?P<body>(?:[ \t]+.*\n?|\n)+)", text, re.MULTILINE)
    if section is None:
        return summary, described
    lines = textwrap.dedent(section["body"]).splitlines()
    current = ""
    for line in lines:
        match = ARGUMENT.match(line)
        if match and not line.startswith((" ", "\t")):
            current = match["name"]
            described[current] = match["text"].strip()
        elif current and line.strip():
            described[current] += " " + line.strip()
    return summary, described


def _kind(hint: Any, where: str) -> tuple[Type, tuple[Any, ...]]:
    """Return the JSON schema type of a type hint, and the values of a Literal; `X | None` counts as X."""
    origin = typing.get_origin(hint)
    if origin in {typing.Union, types.UnionType}:
        options = [option for option in typing.get_args(hint) if option is not type(None)]
        if len(options) == 1:
            return _kind(options[0], where)
    if origin is Literal:
        values = tuple(value for value in typing.get_args(hint) if value is not None)
        kinds = {KINDS.get(type(value)) for value in values}
        if len(kinds) == 1 and (kind := kinds.pop()) is not None:
            return kind, values
        raise TypeError(f"{where} has values of several types, or of one that JSON lacks: {hint}")
    kind = KINDS.get(origin or hint)
    if kind is None:
        raise TypeError(f"{where} has a type that JSON schema cannot express: {hint}")
    return kind, ()
