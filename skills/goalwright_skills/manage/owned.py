"""The skills and tools that are the workspace's own, and so may be changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright_skills.discovery.locations import PROJECT, WORKSPACE
from goalwright_skills.errors import InputError, UnknownSkill

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_skills.discovery.registry import Registry
    from goalwright_skills.skill import Skill


def own(registry: Registry, name: str, *, alone: bool = True, project: bool = False) -> Skill:
    """The workspace's own skill or tool, by its name or the name of a tool's folder; `alone` if nothing else is there.

    Only one that is alone in its folder may be deleted. With `project`, skills among the project's files count too.
    """
    rows = registry.list_skills(all=True)
    named = [row for row in rows if row.name == name]
    named = named or [row for row in rows if row.kind == "executable" and row.base_dir.name == name]
    homes = [row for row in named if home_of(registry, row) or (project and project_home(registry, row))]
    found = next((row for row in homes if row.state == "active"), homes[0] if homes else None)
    if found is None and named:
        hide = f"hide it with SKILL_{name.upper().replace('-', '_')}_ENABLED=false"
        raise InputError(
            f"skill {name!r} is read-only, its source is {named[0].source}: {named[0].path}",
            hint=hide if named[0].source == "bundled" else f"delete its folder yourself, or {hide}",
        )
    if found is None:
        raise UnknownSkill(f"there is no skill {name!r} in this workspace", hint="`goalwright skills list` shows all")
    if not alone:
        return found
    inside = {row.name for row in rows if row.base_dir != found.base_dir and row.path.is_relative_to(found.base_dir)}
    if found.base_dir == home_of(registry, found) or inside:
        names = ", ".join(sorted(inside)[:5]) or "all others"
        raise InputError(f"{found.base_dir} also contains {names}", hint="delete those first, or the file yourself")
    return found


def home_of(registry: Registry, skill: Skill) -> Path | None:
    """The workspace folder that a skill is in: where `add` and `import` write, or `new` for tools; None elsewhere."""
    if skill.source == "workspace":
        return registry.workspace / WORKSPACE
    new = registry.workspace / "skills"
    return new if skill.base_dir.is_relative_to(new) and (skill.base_dir / "skill.yaml").is_file() else None


def project_home(registry: Registry, skill: Skill) -> Path | None:
    """The folder of the project's own skills that a skill is in; None elsewhere."""
    folders = [registry.workspace / name for name in PROJECT] if skill.source == "project" else []
    return next((folder for folder in folders if skill.base_dir.is_relative_to(folder)), None)
