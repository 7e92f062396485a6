"""Says that a new skill takes the place of another of its name, or does not count because of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright.interfaces.cli.commands.skills.open_workspace import open_skills
from goalwright.interfaces.cli.view import output

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from goalwright.workspace.skills import WorkspaceSkills

_BUNDLED = "that comes with goalwright"
_REMEDY = "to have both, choose another name"


def warn(workspace: Path, names: Iterable[str]) -> None:
    """Print a warning for each of the new skills and tools that is not the only one of its name."""
    skills = open_skills(workspace, quiet=True)
    for name in names:
        for text in _conflicts(skills, name):
            output.say_warning(text)


def _conflicts(skills: WorkspaceSkills, name: str) -> Iterator[str]:
    from goalwright.workspace.skill_list import installed_tools

    rows = [row for row in skills.registry.list_skills(all=True) if row.name == name and row.state != "broken"]
    counted = next((row for row in rows if row.state != "shadowed"), None)
    for row in rows:
        if row.state == "shadowed" and counted is not None and counted.source in ("workspace", "project"):
            where = _BUNDLED if row.source == "bundled" else f"in {row.base_dir}"
            yield f"{name!r} is now used instead of the skill of that name {where}; {_REMEDY}"
        elif row.state == "shadowed" and counted is not None:
            yield f"{name!r} is not used: {counted.file} has the same name, and counts first; choose another name"
    if any(
        tool.name == name and tool.source == "bundled" for tool in installed_tools(skills.preferences, everything=True)
    ):
        yield f"{name!r} is now used instead of the tool of that name {_BUNDLED}; {_REMEDY}"
