"""What no tool sees of a workspace: secrets, version control, settings, and goalwright's own files.

The one place that knows the rule. It holds at any depth, for names in any case, and for the built-in tools too.
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
# A folder with one of these is a project of its own; of one that a link leads to, only a skill's usual parts are shown.
PROJECT = (".git", ".hg", ".svn", ".agents", ".claude", ".skills", ".mcp.json", "goalwright.toml", "skills")
COLLECTIONS = ("skills", ".skills", "sys.skills")
PARTS = ("SKILL.md", "skill.yaml", "scripts", "references", "assets", "templates", "examples", "resources")


def is_hidden_name(name: str) -> bool:
    """Whether a file or folder of this name is hidden."""
    name = without_format(name).casefold()
    return name in NAMES or name.startswith(PREFIX) or name.endswith(SUFFIXES)


def shown_anyway(workspace: Path, artifacts: Path | None = None) -> tuple[Path, ...]:
    """What is shown of a workspace's `.agents`: the skills in it, and a run's own artifacts."""
    skills = tuple(workspace / AGENTS / name for name in SKILL_FOLDERS)
    return (*skills, artifacts) if artifacts is not None else skills


def is_hidden(root: Path, path: Path, shown: Iterable[Path] = ()) -> bool:
    """Whether a real path below a real root is hidden, and not in one of the places that are shown anyway."""
    if not path.is_relative_to(root):
        return False
    base = root
    for place in shown:
        real = Path(os.path.realpath(place))
        if path.is_relative_to(real) and len(real.parts) > len(base.parts):
            base = real
    return any(map(is_hidden_name, path.relative_to(base).parts))


def unlinked(root: Path, paths: Iterable[Path]) -> tuple[Path, ...]:
    """Those paths below a root that exist and to which no link leads: a stranger may have planted one."""
    real = os.path.realpath(root)
    kept = []
    for path in paths:
        below = os.path.relpath(os.path.abspath(path), os.path.abspath(root))
        if os.path.exists(path) and os.path.realpath(path) == os.path.normpath(os.path.join(real, below)):
            kept.append(path)
    return tuple(kept)


def hidden_files(root: Path) -> frozenset[tuple[int, int]]:
    """The identities of hidden files that have other names too; looked for again every few seconds."""
    return _hidden_files(os.path.realpath(root), int(time.monotonic() / _FRESH))


@lru_cache(maxsize=8)
def _hidden_files(root: str, _moment: int) -> frozenset[tuple[int, int]]:
    found: set[tuple[int, int]] = set()
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
                        found.add((status.st_dev, status.st_ino))
        except OSError:
            continue
    return frozenset(found)


def is_foreign(folder: Path, workspace: Path) -> bool:
    """Whether a link of the workspace makes a folder seem a skill's that is a project elsewhere, or that it hides."""
    real, root = Path(os.path.realpath(folder)), Path(os.path.realpath(workspace))
    if real.is_relative_to(root):
        return is_hidden(root, real, shown_anyway(workspace))
    return _is_inside(folder, workspace) and any((real / name).exists() for name in PROJECT)


def skill_parts(folder: Path, workspace: Path) -> tuple[Path, ...]:
    """What of a skill's folder is the skill's own: all of it, or its usual parts if the rest is foreign.

    A link out of the workspace may lead anywhere. Unless there is a tool or it stands among skills, only Markdown
    files are taken for the skill's own besides its usual parts.
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
    """Whether a folder is in the workspace as its path is written."""
    return Path(os.path.abspath(folder)).is_relative_to(os.path.abspath(workspace))
