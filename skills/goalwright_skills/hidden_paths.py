"""Hides paths of a workspace from tools: secrets, version control, settings, and goalwright's own files.

The rule applies at any depth, to names in any case, and to the built-in tools too.
"""

from __future__ import annotations

import os
import time
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from goalwright_skills.text.untrusted import without_format

if TYPE_CHECKING:
    from collections.abc import Iterable

NAMES = frozenset({".git", ".mcp.json", "goalwright.toml", ".agents"})
PREFIX, SUFFIXES = ".env", (".pem", ".key")
AGENTS = ".agents"
_FRESH = 2.0
_MOST_ENTRIES = 500_000
SKILL_FOLDERS = ("skills", "sys.skills")
# A folder that contains one of these is a project of its own; behind a link, only the usual parts of a skill are shown.
PROJECT = (".git", ".hg", ".svn", ".agents", ".claude", ".skills", ".mcp.json", "goalwright.toml", "skills")
COLLECTIONS = ("skills", ".skills", "sys.skills")
PARTS = ("SKILL.md", "skill.yaml", "scripts", "references", "assets", "templates", "examples", "resources")


def is_hidden_name(name: str) -> bool:
    """Whether a file or folder of this name is hidden."""
    name = without_format(name).casefold()
    return name in NAMES or name.startswith(PREFIX) or name.endswith(SUFFIXES)


def shown_anyway(workspace: Path, artifacts: Path | None = None) -> tuple[Path, ...]:
    """Return the visible folders in a workspace's `.agents`: its skills and a run's own artifacts."""
    skills = tuple(workspace / AGENTS / name for name in SKILL_FOLDERS)
    return (*skills, artifacts) if artifacts is not None else skills


def is_hidden(root: Path, path: Path, shown: Iterable[Path] = ()) -> bool:
    """Whether a real path below a real root is hidden and not in one of the `shown` folders."""
    if not path.is_relative_to(root):
        return False
    base = root
    for folder in shown:
        real = Path(os.path.realpath(folder))
        if path.is_relative_to(real) and len(real.parts) > len(base.parts):
            base = real
    return any(map(is_hidden_name, path.relative_to(base).parts))


def unlinked(root: Path, paths: Iterable[Path]) -> tuple[Path, ...]:
    """Return the paths below a root that exist and do not pass through a link, which may be planted."""
    real = os.path.realpath(root)
    kept = []
    for path in paths:
        below = os.path.relpath(os.path.abspath(path), os.path.abspath(root))
        if os.path.exists(path) and os.path.realpath(path) == os.path.normpath(os.path.join(real, below)):
            kept.append(path)
    return tuple(kept)


def hidden_files(root: Path) -> frozenset[tuple[int, int]]:
    """Return the identities of hidden files that also have other names (hard links); cached for a few seconds."""
    return _hidden_files(os.path.realpath(root), int(time.monotonic() / _FRESH))


@lru_cache(maxsize=8)
def _hidden_files(root: str, _moment: int) -> frozenset[tuple[int, int]]:
    identities: set[tuple[int, int]] = set()
    shown = {os.path.join(root, AGENTS, name) for name in SKILL_FOLDERS}
    waiting, left = [(root, False)], _MOST_ENTRIES
    while waiting and left > 0:
        folder, hidden = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    left -= 1
                    inside = (hidden or is_hidden_name(entry.name)) and entry.path not in shown
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append((entry.path, inside))
                    elif inside and (status := entry.stat(follow_symlinks=False)).st_nlink > 1:
                        identities.add((status.st_dev, status.st_ino))
        except OSError:
            continue
    return frozenset(identities)


def is_foreign(folder: Path, workspace: Path) -> bool:
    """Whether a link in the workspace presents a hidden folder, or another project, as a skill's folder."""
    real, root = Path(os.path.realpath(folder)), Path(os.path.realpath(workspace))
    if real.is_relative_to(root):
        return is_hidden(root, real, shown_anyway(workspace))
    return _is_inside(folder, workspace) and any((real / name).exists() for name in PROJECT)


def skill_parts(folder: Path, workspace: Path) -> tuple[Path, ...]:
    """Return the paths in a skill's folder that belong to the skill: all of it, or its usual parts if it is foreign.

    A link out of the workspace may lead anywhere: unless the folder has a tool or is in a collection of skills, only
    its usual parts and its Markdown files belong to the skill.
    """
    usual = tuple(folder / name for name in PARTS)
    if is_foreign(folder, workspace):
        return usual
    real = Path(os.path.realpath(folder))
    leads_out = _is_inside(folder, workspace) and not real.is_relative_to(os.path.realpath(workspace))
    if not leads_out or (real / "skill.yaml").exists() or real.parent.name in COLLECTIONS:
        return (folder,)
    return (*usual, *folder.glob("*.md"))


def _is_inside(folder: Path, workspace: Path) -> bool:
    """Whether a folder's path is in the workspace, before links are resolved."""
    return Path(os.path.abspath(folder)).is_relative_to(os.path.abspath(workspace))
