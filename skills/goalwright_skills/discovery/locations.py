"""The folders that are searched for skills; the first location that has a name wins."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright_skills.skill import Source

WORKSPACE = ".agents/skills"
# Folders of skills that a project shares with other agents.
PROJECT = ("skills", ".skills", ".claude/skills")
LIBRARY = Path(__file__).resolve().parents[1] / "library"


@dataclass(frozen=True, slots=True)
class Location:
    """A folder to search; with `single`, only the SKILL.md directly in it counts."""

    path: Path
    source: Source
    single: bool = False


def locations(
    workspace: Path, *, env: Mapping[str, str], home: Path, library: Path = LIBRARY, given: Path | None = None
) -> tuple[Location, ...]:
    """Return all locations of a workspace, strongest first; `given` is an additional folder."""
    config = env.get("XDG_CONFIG_HOME", "")
    # The XDG specification says to ignore relative paths.
    base = Path(config) if config and Path(config).is_absolute() else home / ".config"
    return (
        Location(workspace / ".agents" / "sys.skills", "system"),
        *([Location(given, "project")] if given is not None else []),
        Location(workspace / WORKSPACE, "workspace"),
        *(Location(workspace / folder, "project") for folder in PROJECT),
        Location(workspace, "root", single=True),
        Location(base / "agents" / "skills", "global"),
        Location(home / ".agents" / "skills", "global"),
        Location(home / ".claude" / "skills", "global"),
        Location(library, "bundled"),
    )
