"""The texts of a plan document in which the values of a recipe's parameters may appear.

These are titles, instructions, arguments, questions and the synthesis; never ids, names, dependencies, conditions or
schemas: a value changes what a plan is about, not what it does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from goalwright_planner.plan.task_problems import until_in

_TASK_TEXTS = ("title", "instruction")
_PARAMETER = re.compile(r"\{(\w+)\}")
_QUOTES = str.maketrans("\"'", "  ")

Change = Callable[[Any], Any]
# Returns how the value of a tool's argument changes, from the task and the argument's name.
ArgumentChange = Callable[[Mapping[str, Any], str], Change]


def filled(text: str, values: Mapping[str, str]) -> str:
    """Replace `{name}` by its value, for all names in one pass."""
    return _PARAMETER.sub(lambda match: values.get(match[1], match[0]), text)


def with_braces(text: str, names: Mapping[str, str]) -> str:
    """Replace the texts in `names` by `{name}` where they are whole words, ignoring case."""
    if not names:
        return text
    folded = {value.casefold(): name for value, name in names.items()}
    alternatives = "|".join(map(re.escape, sorted(folded, key=len, reverse=True)))
    pattern = re.compile(rf"(?<![\w{{])(?:{alternatives})(?![\w}}])", re.IGNORECASE)
    return pattern.sub(lambda match: f"{{{folded[match[0].casefold()]}}}", text)


def texts(document: Mapping[str, Any]) -> list[str]:
    """Return the texts of a plan in which a parameter may appear."""
    collected: list[str] = []

    def collect(text: Any) -> Any:
        collected.append(str(text))
        return text

    _changed(document, collect)
    return collected


def fixed_texts(document: Mapping[str, Any]) -> list[str]:
    """Return the conditions and output schemas of a plan, without quotes; no parameter can appear in them."""
    collected: list[str] = []
    for task in document.get("tasks") or ():
        if isinstance(task, Mapping):
            conditions = (task.get("when"), until_in(task))
            collected += [condition for condition in conditions if isinstance(condition, str)]
            if isinstance(schema := task.get("output_schema"), Mapping):
                collected.append(json.dumps(schema, ensure_ascii=False))
    return [text.translate(_QUOTES) for text in collected]


def with_parameters(document: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return the plan with `{name}` in place of the texts in `names`."""

    def change(value: Any) -> Any:
        if isinstance(value, str):
            return with_braces(value, names)
        return f"{{{names[str(value)]}}}" if str(value) in names else value

    return _changed(document, change)


def with_values(
    document: Mapping[str, Any],
    values: Mapping[str, str],
    numbers: Mapping[str, float],
    tools: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    """Return the plan with the values of its parameters; `tools` has the JSON schemas of the tools' parameters.

    A tool's argument or a list item that consists of one number parameter becomes a number, unless the tool takes a
    string there.
    """

    def as_text(value: Any) -> Any:
        return filled(value, values) if isinstance(value, str) else value

    def as_number(value: Any) -> Any:
        whole = _PARAMETER.fullmatch(value) if isinstance(value, str) else None
        return numbers[whole[1]] if whole and whole[1] in numbers else as_text(value)

    def argument_change(task: Mapping[str, Any], name: str) -> Change:
        schema = tools.get(str(task.get("name")), {}).get("properties", {}).get(name, {})
        return as_text if schema.get("type") == "string" else as_number

    return _changed(document, as_text, argument_change)


def _changed(document: Mapping[str, Any], change: Change, argument: ArgumentChange | None = None) -> dict[str, Any]:
    """Return the plan with each of its texts changed; numbers in arguments are changed too."""
    argument_change = argument or (lambda _task, _name: change)
    plan = dict(document)
    if isinstance(tasks := document.get("tasks"), list):
        plan["tasks"] = [_task(task, change, argument_change) if isinstance(task, Mapping) else task for task in tasks]
    if isinstance(plan.get("synthesis"), str):
        plan["synthesis"] = change(plan["synthesis"])
    return plan


def _task(document: Mapping[str, Any], change: Change, argument_change: ArgumentChange) -> dict[str, Any]:
    task = dict(document)
    for key in _TASK_TEXTS:
        if key in task:
            task[key] = _deep(task[key], change)
    if isinstance(arguments := task.get("arguments"), Mapping):
        task["arguments"] = {name: _deep(value, argument_change(task, name)) for name, value in arguments.items()}
    elif arguments is not None:
        task["arguments"] = _deep(arguments, change)
    if isinstance(task.get("for_each"), list):
        task["for_each"] = _deep(task["for_each"], argument_change(task, ""))
    if isinstance(task.get("needs_approval"), str):
        task["needs_approval"] = change(task["needs_approval"])
    for key in ("check", "when"):
        if isinstance(task.get(key), Mapping) and isinstance(task[key].get("ask"), str):
            task[key] = {**task[key], "ask": change(task[key]["ask"])}
    until = until_in(task)
    if isinstance(until, Mapping) and isinstance(until.get("ask"), str):
        task["repeat"] = {**task["repeat"], "until": {**until, "ask": change(until["ask"])}}
    return task


def _deep(value: Any, change: Change) -> Any:
    match value:
        case Mapping():
            return {key: _deep(inner, change) for key, inner in value.items()}
        case list() | tuple():
            return [_deep(inner, change) for inner in value]
        case str() | int() | float() if not isinstance(value, bool):
            return change(value)
        case _:
            return value
