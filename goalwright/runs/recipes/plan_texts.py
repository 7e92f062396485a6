"""The texts of a plan's document in which parameters may stand: what tasks are told, and what the answer is made of.

Never in ids, names, dependencies, conditions or forms: a value cannot change what a plan does, only what it is about.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from goalwright_planner.plan import repeat

_TASK_TEXTS = ("title", "instruction")
_WHOLE = re.compile(r"\{(\w+)\}")
_QUOTES = str.maketrans("\"'", "  ")

TextChange = Callable[[Any], Any]
# How the value of a tool's argument changes, by the task and the argument's name.
ArgumentChange = Callable[[Mapping[str, Any], str], TextChange]


def changed(document: Mapping[str, Any], change: TextChange, argument: ArgumentChange | None = None) -> dict[str, Any]:
    """A plan's document with each of its texts changed; numbers in arguments are handed over too."""
    of_argument = argument or (lambda _task, _name: change)
    tasks = document.get("tasks")
    made = dict(document)
    if isinstance(tasks, list):
        made["tasks"] = [_task(task, change, of_argument) if isinstance(task, Mapping) else task for task in tasks]
    if isinstance(made.get("synthesis"), str):
        made["synthesis"] = change(made["synthesis"])
    return made


def _task(task: Mapping[str, Any], change: TextChange, of_argument: ArgumentChange) -> dict[str, Any]:
    made = dict(task)
    for key in _TASK_TEXTS:
        if key in made:
            made[key] = _deep(made[key], change)
    if isinstance(given := made.get("arguments"), Mapping):
        made["arguments"] = {name: _deep(value, of_argument(task, name)) for name, value in given.items()}
    elif given is not None:
        made["arguments"] = _deep(given, change)
    if isinstance(made.get("for_each"), list):
        made["for_each"] = _deep(made["for_each"], of_argument(task, ""))
    if isinstance(made.get("needs_approval"), str):
        made["needs_approval"] = change(made["needs_approval"])
    for key in ("check", "when"):
        if isinstance(made.get(key), Mapping) and isinstance(made[key].get("ask"), str):
            made[key] = {**made[key], "ask": change(made[key]["ask"])}
    until = repeat.until_in(made)
    if isinstance(until, Mapping) and isinstance(until.get("ask"), str):
        made["repeat"] = {**made["repeat"], "until": {**until, "ask": change(until["ask"])}}
    return made


def _deep(value: Any, change: TextChange) -> Any:
    match value:
        case Mapping():
            return {key: _deep(inner, change) for key, inner in value.items()}
        case list() | tuple():
            return [_deep(inner, change) for inner in value]
        case str() | int() | float() if not isinstance(value, bool):
            return change(value)
        case _:
            return value


def texts(document: Mapping[str, Any]) -> list[str]:
    """All texts of a plan in which a parameter may stand."""
    found: list[str] = []

    def keep(text: Any) -> Any:
        found.append(str(text))
        return text

    changed(document, keep)
    return found


def fixed_texts(document: Mapping[str, Any]) -> list[str]:
    """What a plan compares and how results are formed, without quotes; no parameter can stand in these."""
    found: list[str] = []
    for task in document.get("tasks") or ():
        if isinstance(task, Mapping):
            conditions = (task.get("when"), repeat.until_in(task))
            found += [one for one in conditions if isinstance(one, str)]
            if isinstance(form := task.get("output_schema"), Mapping):
                found.append(json.dumps(form, ensure_ascii=False))
    return [text.translate(_QUOTES) for text in found]


def with_parameters(document: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """The plan with `{name}` wherever the text of a parameter, by its text, stands as words of their own."""
    by_text = {text.casefold(): name for text, name in names.items()}
    if not by_text:
        return dict(document)
    ordered = sorted(by_text, key=len, reverse=True)
    pattern = re.compile(rf"(?<![\w{{])(?:{'|'.join(map(re.escape, ordered))})(?![\w}}])", re.IGNORECASE)

    def change(text: Any) -> Any:
        if not isinstance(text, str):
            return f"{{{by_text[str(text)]}}}" if str(text) in by_text else text
        return pattern.sub(lambda match: f"{{{by_text[match[0].casefold()]}}}", text)

    return changed(document, change)


def with_values(
    document: Mapping[str, Any],
    values: Mapping[str, str],
    numbers: Mapping[str, float],
    tools: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    """The plan with the values of its parameters; `tools` has the JSON schemas of the tools' parameters.

    A tool's argument, or an item of a list, that is only a number's place becomes the number, unless the tool takes
    text there.
    """

    def text(value: Any) -> Any:
        return _WHOLE.sub(lambda match: values.get(match[1], match[0]), value) if isinstance(value, str) else value

    def number(value: Any) -> Any:
        whole = _WHOLE.fullmatch(value) if isinstance(value, str) else None
        return numbers[whole[1]] if whole and whole[1] in numbers else text(value)

    def argument(task: Mapping[str, Any], name: str) -> TextChange:
        taken = tools.get(str(task.get("name")), {}).get("properties", {}).get(name, {})
        return text if taken.get("type") == "string" else number

    return changed(document, text, argument)


def uses(document: Mapping[str, Any], name: str) -> bool:
    """Whether a parameter stands anywhere in a plan."""
    return any(f"{{{name}}}" in text for text in texts(document))
