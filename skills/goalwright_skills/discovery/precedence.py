"""Decides which skills are active: the strongest of each name, unless a variable or a setting disables it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from goalwright_skills.preferences import OFF, WITHOUT
from goalwright_skills.skill import IGNORED, NAME_RULES, Problem, Skill
from goalwright_skills.switches import is_off

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from goalwright_skills.discovery.scan import Entry
    from goalwright_skills.skill import State


def settle(
    entries: Iterable[Entry], env: Mapping[str, str], off: Collection[str] = (), without: Collection[str] = ()
) -> tuple[list[Skill], list[Problem]]:
    """Return all skills with their states, in the order of the entries, and a problem for each duplicate.

    The entries are sorted by location (strongest first), then by path. `off` are the names that the user has switched
    off, `without` the names that a run leaves out. Of two skills of one name in one location, the last one is kept.
    """
    rows = [(skill, entry.found.location) for entry in entries for skill in entry.skills]
    kept: dict[str, tuple[Skill, int]] = {}
    problems: list[Problem] = []
    for skill, location in rows:
        if skill.state == "broken":
            continue
        before = kept.get(skill.name)
        if before is not None and before[1] == location:
            what = f"{skill.name!r} exists twice in one location: {before[0].file} is ignored"
            problems.append(Problem(skill.path, 1, what, "rename one of the two", "duplicate"))
        if before is None or before[1] == location:
            kept[skill.name] = (skill, location)
    disabled = {name: value for name, value in env.items() if name.startswith("SKILL_") and is_off(value)}
    switched = {**dict.fromkeys(without, WITHOUT), **dict.fromkeys(off, OFF)}
    return [_state(skill, kept, disabled, switched) for skill, _ in rows], problems


def tighten(entry: Entry) -> Entry:
    """Apply the setting `strict_skills`: break an entry whose name is invalid or differs from its folder."""
    if not any(problem.rule in NAME_RULES for problem in entry.problems):
        return entry
    problems = tuple(replace(fault, until=IGNORED) if fault.rule in NAME_RULES else fault for fault in entry.problems)
    reason = next(fault for fault in problems if fault.rule in NAME_RULES).reason
    skills = tuple(_marked(skill, "broken", reason) if skill.state == "active" else skill for skill in entry.skills)
    return entry._replace(skills=skills, problems=problems)


def switches(skill: Skill) -> Sequence[str]:
    """Return the environment variables that disable a skill by its name or, for a tool, by its folder's name."""
    return [f"SKILL_{re.sub(r'[^A-Z0-9]', '_', name.upper())}_ENABLED" for name in _names(skill)]


def _names(skill: Skill) -> Sequence[str]:
    return [skill.name] if skill.kind == "context" else [skill.name, skill.base_dir.name]


def _state(
    skill: Skill, kept: Mapping[str, tuple[Skill, int]], disabled: Mapping[str, str], off: Mapping[str, str]
) -> Skill:
    if skill.state == "broken":
        return skill
    winner = kept[skill.name][0]
    if winner is not skill:
        return _marked(skill, "shadowed", f"shadowed by {winner.file}")
    if disabled:
        for switch in switches(skill):
            if switch in disabled:
                return _marked(skill, "disabled", f"disabled by {switch}={disabled[switch]}")
    if off and (reasons := [off[name] for name in _names(skill) if name in off]):
        return _marked(skill, "disabled", reasons[0])
    return skill


def _marked(skill: Skill, state: State, reason: str) -> Skill:
    """Return the skill in another state; `dataclasses.replace` would take three times as long."""
    s = skill
    described = s.name, s.description, s.file, s.source, s.kind
    return Skill(*described, state, reason, s.model, s.extra, s.stamp)
