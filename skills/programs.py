"""Reading a skill.yaml at discovery: a row for each tool that its folder offers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from skills.entry import Entry, reason
from skills.skill import Problem, Skill

if TYPE_CHECKING:
    from skills.locations import Location
    from skills.scan import Found


def executable(found: Found, location: Location) -> Entry:
    """A skill.yaml's tools; where it offers none, one broken row that says why."""
    from skills import manifest  # needs a YAML parser, which a workspace without tools does without

    path = Path(found.path)
    try:
        tools, problems = manifest.read(path.parent)
    except OSError as error:
        unreadable = Problem(path, 1, f"it cannot be read ({error.strerror or error})", "make it a readable text file")
        tools, problems = [], [unreadable]
    rows = [
        Skill(tool.name, tool.description, found.path, location.source, "executable", stamp=found.stamp)
        for tool in tools
    ]
    if not rows and problems:
        name = manifest.domain(path.parent)
        why = reason(problems[0])
        rows = [Skill(name, "", found.path, location.source, "executable", "broken", why, stamp=found.stamp)]
    return Entry(found, tuple(rows), tuple(problems))
