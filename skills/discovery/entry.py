"""One file that makes skills, as it was read: its skills and all that is wrong with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from skills.discovery.scan import Found
    from skills.skill import Problem, Skill


class Entry(NamedTuple):
    """A file's skills (a broken one among them where it is broken) and its problems."""

    found: Found
    skills: tuple[Skill, ...]
    problems: tuple[Problem, ...] = ()


def reason(problem: Problem) -> str:
    """A problem as the reason in a listing, where the path stands beside it."""
    return f"line {problem.line}: {problem.message}"
