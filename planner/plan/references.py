"""References in a plan's texts, `<<id.output.field>>` or `<<item.field>>`, and the values that they point at.

A path is read in JSON values: `.field` of an object, `[0]` of a list. A text is read as JSON first, if it is any.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from planner.plan.json_answer import NotJson, extract

PATH = r"(?:\.[\w-]+|\[[0-9]{1,9}\])*"
# What a condition, a question or `for_each` may refer to: a task's output or a part of it, its status, its count.
VALUE = re.compile(rf"<<\s*(?P<id>[\w-]+)\.(?P<part>output(?P<path>{PATH})|status|count)\s*>>")
# What stands for the item in the instruction and arguments of a task with `for_each`.
ITEM = re.compile(rf"<<\s*item(?P<path>{PATH})\s*>>")
NUMBER = ".number"

MISSING: Final = object()
_STEP = re.compile(r"\.([\w-]+)|\[([0-9]+)\]")


def value_at(value: Any, path: str) -> Any:
    """The value at a path such as `.rows[0].name`; MISSING if there is none."""
    for match in _STEP.finditer(path):
        if isinstance(value, str):
            value = json_in(value)
        name, place = match.groups()
        if name is not None:
            value = value.get(name, MISSING) if isinstance(value, dict) else MISSING
        else:
            value = value[int(place)] if isinstance(value, list | tuple) and int(place) < len(value) else MISSING
        if value is MISSING:
            return MISSING
    return value


def json_in(text: str) -> Any:
    """The JSON object or list that a text is, or holds in a fence; MISSING if it is none."""
    try:
        return extract(text)
    except NotJson:
        return MISSING


def as_text(value: Any) -> str:
    """A JSON value as it stands in a prompt: text as it is, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
