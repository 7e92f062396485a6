"""Skills that a goal names outright: `use skill NAME`, `use the NAME skill`, `--skill NAME`, `$NAME`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from skills.selection.detector import Selection

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skills.skill import Skill

_NAME = r"[\"'`“「]?\$?([A-Za-z0-9][A-Za-z0-9_-]*)[\"'`”」]?"
_END = r"(?![A-Za-z0-9_-])"
_FORMS = (
    re.compile(rf"\b(?:use|load)\s+(?:the\s+)?skill\s+{_NAME}{_END}", re.IGNORECASE),
    re.compile(rf"\b(?:use|load)\s+(?:the\s+)?{_NAME}\s+skill\b", re.IGNORECASE),
    re.compile(rf"(?<![\w-])--skill(?:\s+|=){_NAME}{_END}"),
    re.compile(rf"(?<![\w$\\])(?:\$)([A-Za-z0-9][A-Za-z0-9_-]*){_END}"),
)


def named(goal: str, skills: Sequence[Skill]) -> list[Selection]:
    """The known skills that the goal names, in the order it names them."""
    first: dict[str, Selection] = {}
    for match, name in sorted(_mentions(goal, skills), key=lambda found: found[0].start()):
        first.setdefault(name, Selection(name, 1.0, f"the goal asks for it: {match[0].strip()!r}"))
    return list(first.values())


def without_names(goal: str, skills: Sequence[Skill]) -> str:
    """The goal without the words that name known skills, which say nothing about what to do."""
    for start, end in [match.span() for match, _ in _mentions(goal, skills)]:
        goal = goal[:start] + " " * (end - start) + goal[end:]
    return goal


def _mentions(goal: str, skills: Sequence[Skill]) -> Iterator[tuple[re.Match[str], str]]:
    known = {skill.name for skill in skills}
    for form in _FORMS:
        for match in form.finditer(goal):
            name = match[1] if match[1] in known else match[1].lower()
            if name in known:
                yield match, name
