"""Whether a goal contains material besides its request: functions to use, data, code, or a story before the task.

A plan need not repeat the material, since tasks see the goal.
"""

from __future__ import annotations

import re
from typing import Literal

Material = Literal["functions", "choices", "data"]

# "The tools you can use:", "the action list you can take:"
_USABLE = re.compile(
    r"\b(?:you|we|i)[ \t]+(?:can|may|could)[ \t]+"
    r"(?:use|take|call|choose|select|pick|operate|perform)\b[^.:\n{}\[\]]{0,30}:",
    re.IGNORECASE,
)
# "Tools:", "Available functions:", at the beginning of a sentence.
_GIVEN = re.compile(
    r"(?:^|(?<=[.!?\]\n]))[ \t]*(?:(?:the|my|our|available|possible|given)[ \t]+){0,2}"
    r"(?:tools|functions|apis|endpoints|commands|actions|tables|columns|schema|context)[ \t]*:",
    re.IGNORECASE,
)
# "Your task is to:", "Question:", after another sentence.
_LABEL = re.compile(
    r"(?<=[.!?\]\n])[ \t]*(?:(?:your|my|our|the)[ \t]+)?(?:task|goal|problem|question|instruction|request)"
    r"(?:[ \t]+(?:is|are)(?:[ \t]+to)?)?[ \t]*:",
    re.IGNORECASE,
)
# Data in brackets; shorter brackets are part of a sentence.
_DATA = re.compile(r"\{[^{}\[\]]{15,}\}|\[[^{}\[\]]{40,}\]")
_SIGNS = re.compile(r"[\"':=]")
_CODE = "```"
# "The api list you can use:", "api_list:", "Functions:"
_FUNCTIONS = re.compile(
    r"\b(?:api|tool|function|endpoint|command)s?(?:[ _]list)?\b[^.:\n{}\[\]]{0,30}:",
    re.IGNORECASE,
)
# "There are some choices: A. Oslo", "Options:"
_CHOICES = re.compile(r"\b(?:choices|options)\b[^.:\n{}\[\]]{0,30}:", re.IGNORECASE)


def material_of(goal: str) -> Material | None:
    """Return the kind of material in a goal: functions, with or without answers to choose from, or other data."""
    if not brings_material(goal):
        return None
    if _FUNCTIONS.search(goal) is None:
        return "data"
    return "choices" if _CHOICES.search(goal) is not None else "functions"


def brings_material(goal: str) -> bool:
    """Whether a goal lists what can be used, contains data or code, or has its task after an introduction."""
    return (
        _CODE in goal
        or _USABLE.search(goal) is not None
        or _GIVEN.search(goal) is not None
        or _LABEL.search(goal) is not None
        or any(_SIGNS.search(match[0]) for match in _DATA.finditer(goal))
    )
