"""Find the workspace that a command started in a subfolder belongs to."""

from __future__ import annotations

import os
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# A folder `skills/` is often something else: how far and how long to look for a skill in it.
_DEPTH = 12
_ENTRIES = 5_000


def find(folder: Path, home: Path) -> Path:
    """The nearest folder upwards, within the same git repository, that is a workspace; else the folder itself.

    The home folder never counts, since it has `.agents/` for all workspaces; nor does a folder of another user, who
    could have put it above ours.
    """
    folder = folder.resolve()
    repository = _repository(folder)
    if repository is None:
        return folder
    owners = {folder.stat().st_uid, os.getuid()}
    for above in (folder, *folder.parents):
        if above != home.resolve() and above.stat().st_uid in owners and is_marked(above):
            return above
        if above == repository:
            break
    return folder


def is_marked(folder: Path) -> bool:
    """Whether a folder has goalwright.toml, .agents/ or a skills/ with a skill in it."""
    # os.path answers no where a folder may not be read; Path would raise.
    if os.path.isfile(folder / "goalwright.toml") or os.path.isdir(folder / ".agents"):  # noqa: PTH112, PTH113
        return True
    return _has_skill(folder / "skills")


def _repository(folder: Path) -> Path | None:
    """The root of the git repository that a folder is in; a worktree or submodule has a file `.git`."""
    return next((above for above in (folder, *folder.parents) if os.path.lexists(above / ".git")), None)


def _has_skill(root: Path) -> bool:
    """Whether a folder has a SKILL.md or skill.yaml below it, as far as a bounded search finds one."""
    waiting, left = deque([(os.fspath(root), 0)]), _ENTRIES
    while waiting:
        path, depth = waiting.popleft()
        try:
            with os.scandir(path) as entries:
                for entry in entries:
                    left -= 1
                    if left < 0:
                        return False
                    if entry.name in ("SKILL.md", "skill.yaml") and entry.is_file():
                        return True
                    if depth < _DEPTH and entry.is_dir():
                        waiting.append((entry.path, depth + 1))
        except OSError:
            continue
    return False
