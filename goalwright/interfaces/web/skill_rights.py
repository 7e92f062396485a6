"""Whether a skill can be edited on the page; if not, why, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goalwright_skills.manage.edit import project_home

if TYPE_CHECKING:
    from goalwright.interfaces.web.site import Site
    from goalwright_skills.skill import Skill

_ELSEWHERE = {
    "system": (
        "managed",
        "It is in .agents/sys.skills, which takes precedence and cannot be changed here.",
        "Change it there with another program.",
    ),
    "project": ("other folder", "It is in a folder that the settings name.", "Change it there with another program."),
    "root": ("workspace's file", "It is the SKILL.md beside the workspace's own files.", "Change it with your editor."),
    "global": (
        "home folder",
        "It is in your home folder, and all your workspaces use it.",
        "Change it there with another program, or copy it into this workspace.",
    ),
    "bundled": ("comes with goalwright", "It comes with goalwright, and each update replaces it.", ""),
}


def may_write_project(site: Site) -> bool:
    """Return whether the project's own skills may be edited here, as with `--write`."""
    return not site.read_only and site.settings.workspace_writes != "deny"


def lock(site: Site, skill: Skill, *, writes: bool) -> dict[str, Any] | None:
    """Return why a skill cannot be edited, and the next step; None if it can be.

    `writes` is the value of `may_write_project`; `copy` is whether a copy in the workspace would replace the skill.
    """
    registry = site.workspace.skills.registry
    in_project = project_home(registry, skill) is not None
    if site.read_only:
        return _lock(
            "--read-only", "This server is read-only: it was started with --read-only.", "", "goalwright serve --write"
        )
    if skill.source == "workspace" or (in_project and writes):
        return None
    elsewhere = skill.source in ("global", "bundled") or in_project
    can_copy = elsewhere and skill.state == "active" and skill.path.name == "SKILL.md"
    if in_project:
        why = "It is one of the project's files, and this server cannot change them: it was started without --write."
        return _lock("needs --write", why, "", "goalwright serve --write", copy=can_copy)
    short, why, step = _ELSEWHERE[skill.source]
    return _lock(short, why, step, copy=can_copy)


def installed() -> dict[str, Any]:
    """Return why a tool of an installed package cannot be edited."""
    why = "It belongs to an installed Python package."
    return _lock("installed package", why, "Change it where the package is developed.")


def _lock(short: str, why: str, step: str, command: str = "", *, copy: bool = False) -> dict[str, Any]:
    return {"short": short, "why": why, "next": step, "command": command, "copy": copy}
