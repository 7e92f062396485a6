"""Finds the workspace of a subfolder."""

from __future__ import annotations

import os
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# Limits of the search for a skill in a folder `skills/`, which often is something else.
_MAX_DEPTH = 12
_MAX_ENTRIES = 5_000


def find(folder: Path, home: Path) -> Path:
    """Return the nearest workspace upwards within the same git repository, else the folder itself.

    The home folder never counts, since its `.agents/` is for all workspaces, nor do folders of other users.
    """
    folder = folder.resolve()
    repository = _repository(folder)
    if repository is None:
        return folder
    owners = {folder.stat().st_uid, os.getuid()}
    for candidate in (folder, *folder.parents):
        if candidate != home.resolve() and candidate.stat().st_uid in owners and is_marked(candidate):
            return candidate
        if candidate == repository:
            break
    return folder


def is_marked(folder: Path) -> bool:
    """Whether a folder has goalwright.toml, .agents/ or a skills/ with a skill in it."""
    # os.path returns False for an unreadable folder; Path raises.
    if os.path.isfile(folder / "goalwright.toml") or os.path.isdir(folder / ".agents"):  # noqa: PTH112, PTH113
        return True
    return _has_skill(folder / "skills")


def _repository(folder: Path) -> Path | None:
    """The root of a folder's git repository; in a worktree or submodule, `.git` is a file."""
    return next((root for root in (folder, *folder.parents) if os.path.lexists(root / ".git")), None)


def _has_skill(root: Path) -> bool:
    """Whether a bounded search finds a SKILL.md or skill.yaml below a folder."""
    queue, left = deque([(os.fspath(root), 0)]), _MAX_ENTRIES
    while queue:
        path, depth = queue.popleft()
        try:
            with os.scandir(path) as entries:
                for entry in entries:
                    left -= 1
                    if left < 0:
                        return False
                    if entry.name in ("SKILL.md", "skill.yaml") and entry.is_file():
                        return True
                    if depth < _MAX_DEPTH and entry.is_dir():
                        queue.append((entry.path, depth + 1))
        except OSError:
            continue
    return False
