"""Parses untrusted JSON and TOML, with a bound on nesting."""

from __future__ import annotations

import json
import re
from typing import Any

from goalwright_skills.text.untrusted import MOST_LEVELS, is_too_deep

TOML_LIMIT = 1_000_000
_TOO_DEEP = f"it nests deeper than {MOST_LEVELS} levels"
# Strings and comments, which are skipped, and the characters that nest: brackets, and the dots of keys.
_TOML = re.compile(
    r'''"""(?:\\.|[^\\])*?(?:"""|\\?\Z)|'''
    r"""'''.*?(?:'''|\Z)|"""
    r""""(?:\\.|[^"\\\n])*"|'[^'\n]*'|#[^\n]*|(?P<mark>[\[\]{}.,=\n])""",
    re.DOTALL,
)


class TooDeep(ValueError):
    """A document nests too deeply."""

    def __init__(self) -> None:
        super().__init__(_TOO_DEEP)


def parse_json(text: str | bytes) -> Any:
    """Parse JSON; raises ValueError for invalid or too deeply nested text."""
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise TooDeep from error
    if is_too_deep(value):
        raise TooDeep
    return value


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML; raises ValueError for invalid or too deeply nested text."""
    import tomllib  # few commands read a file

    if _nests(text):  # before parsing, since the time for a dotted key is quadratic
        raise TooDeep
    try:
        table = tomllib.loads(text)
    except RecursionError as error:
        raise TooDeep from error
    if is_too_deep(table):
        raise TooDeep
    return table


def _nests(text: str) -> bool:
    """Whether brackets, or the dots of one key, are nested too deeply."""
    depth = dots = 0
    for match in _TOML.finditer(text):
        mark = match["mark"]
        if mark in ("[", "{"):
            depth += 1
        elif mark in ("]", "}"):
            depth -= 1
        elif mark == ".":
            dots += 1
        elif mark is not None:
            dots = 0
        if depth > MOST_LEVELS or dots > MOST_LEVELS:
            return True
    return False
