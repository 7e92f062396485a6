"""Reading a skill.yaml at discovery: one row for each tool in it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from goalwright_skills.discovery.entry import Entry, reason
from goalwright_skills.skill import Problem, Skill

if TYPE_CHECKING:
    from goalwright_skills.discovery.locations import Location
    from goalwright_skills.discovery.scan import Found
    from goalwright_skills.skill import State


def executable(found: Found, location: Location) -> Entry:
    """The entry of a skill.yaml: its tools, and a broken row with the reason for each that cannot be offered."""
    from goalwright_skills.programs import (  # lazily: they need a YAML parser, which a workspace without tools does not
        manifest,
        manifest_file,
    )

    path = Path(found.path)
    try:
        tools, problems = manifest_file.read(path.parent)
    except OSError as error:
        unreadable = Problem(path, 1, f"it cannot be read ({error.strerror or error})", "make it a readable text file")
        tools, problems = [], [unreadable]

    def row(name: str, description: str, state: State, why: str | None) -> Skill:
        place = (found.path, location.source)
        return Skill(name, description, *place, "executable", state, why, stamp=found.stamp)

    rows = [row(tool.name, tool.description, "active", None) for tool in tools]
    offered = {tool.name for tool in tools}
    broken: dict[str, Problem] = {}
    for problem in problems:
        broken.setdefault(problem.tool or manifest.domain(path.parent), problem)
    rows += [row(name, "", "broken", reason(fault)) for name, fault in broken.items() if name not in offered]
    return Entry(found, tuple(rows), tuple(problems))
