"""Why a skill cannot be edited on the page, and what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goalwright_skills.manage.edit import project_home

if TYPE_CHECKING:
    from goalwright.interfaces.web.site import Site
    from goalwright_skills.skill import Skill

_ELSEWHERE = {
    "system": (
        "managed",
        "It is in .agents/sys.skills, which comes first and is not changed here.",
        "Change it there with another program.",
    ),
    "project": ("other folder", "It is in a folder that the settings name.", "Change it there with another program."),
    "root": ("workspace's file", "It is the SKILL.md beside the workspace's own files.", "Change it with your editor."),
    "global": (
        "home folder",
        "It is in your home folder, where all your workspaces use it.",
        "Change it there with another program, or copy it for this workspace alone.",
    ),
    "bundled": ("comes with goalwright", "It comes with goalwright, which replaces it with each update.", ""),
}


def may_write_project(site: Site) -> bool:
    """Whether skills among the project's files may be edited here: if the server was started with `--write`."""
    return not site.read_only and site.settings.workspace_writes != "deny"


def lock(site: Site, skill: Skill, *, writes: bool) -> dict[str, Any] | None:
    """Why a skill cannot be edited, in a word or two and in full, and the next step; None if it can be.

    `writes` is what `may_write_project` says. `copy` tells whether a copy in the workspace would take its place.
    """
    registry = site.workspace.skills.registry
    in_project = project_home(registry, skill) is not None
    if site.read_only:
        return _lock(
            "--read-only", "This server only shows: it was started with --read-only.", "", "goalwright serve --write"
        )
    if skill.source == "workspace" or (in_project and writes):
        return None
    elsewhere = skill.source in ("global", "bundled") or in_project
    can_copy = elsewhere and skill.state == "active" and skill.path.name == "SKILL.md"
    if in_project:
        why = "It is one of the project's files, and this server may not change those: it was started without --write."
        return _lock("needs --write", why, "", "goalwright serve --write", copy=can_copy)
    short, why, step = _ELSEWHERE[skill.source]
    return _lock(short, why, step, copy=can_copy)


def installed() -> dict[str, Any]:
    """Why a tool of an installed package cannot be edited."""
    why = "It belongs to an installed Python package."
    return _lock("installed package", why, "Change it where the package is developed.")


def _lock(short: str, why: str, step: str, command: str = "", *, copy: bool = False) -> dict[str, Any]:
    return {"short": short, "why": why, "next": step, "command": command, "copy": copy}
