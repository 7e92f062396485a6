"""A SKILL.md or skill.yaml as discovery read it: its skills and its problems."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from goalwright_skills.discovery.scan import Found
    from goalwright_skills.skill import Problem, Skill


class Entry(NamedTuple):
    """A file's skills, a broken file's being one in state `broken`, and its problems."""

    found: Found
    skills: tuple[Skill, ...]
    problems: tuple[Problem, ...] = ()


def reason(problem: Problem) -> str:
    """A problem as the `reason` of a listed skill, without the path that is shown beside it."""
    return f"line {problem.line}: {problem.message}"
