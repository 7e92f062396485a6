"""Skill folders for tests."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from goalwright_skills.discovery.locations import LIBRARY, Location
from goalwright_skills.discovery.registry import Registry
from goalwright_skills.discovery.scan import scan
from goalwright_skills.discovery.skill_file import context

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from goalwright_skills.skill import Skill


def put(folder: Path, name: str, description: str = "Does things.", body: str = "Do it.\n") -> Path:
    """Write a SKILL.md into a folder and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "SKILL.md"
    path.write_text(f"---\nname: {name}\ndescription: {description}\n---\n{body}", encoding="utf-8")
    return path


def registry(workspace: Path, env: Mapping[str, str] | None = None, *, strict: bool = False) -> Registry:
    """A registry that sees nothing but this workspace and a home next to it."""
    home = workspace / "home"
    return Registry(workspace, env=env or {}, home=home, strict=strict, library=workspace / "library")


def states(found: Registry) -> dict[str, str]:
    """The state of every skill, by its path in the workspace."""
    return {str(skill.path.relative_to(found.workspace)): skill.state for skill in found.list_skills(all=True)}


def read_skills(folder: Path) -> list[Skill]:
    """The active skills in a folder, without a registry."""
    location = Location(folder, "project")
    skills = [skill for file in scan([location], ["SKILL.md"]).files for skill in context(file, location).skills]
    return [skill for skill in skills if skill.state == "active"]


def library() -> list[Skill]:
    """The skills that ship with goalwright."""
    return [replace(skill, source="bundled") for skill in read_skills(LIBRARY)]
