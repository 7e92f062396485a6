"""The view of a folder that a tool gets: everything but hidden names, found in one pass and cached for a run.

Bubblewrap can cover a mounted path, so it needs the hidden paths. Landlock cannot subtract paths, so it needs the paths
beside them: the entries of each folder that has a hidden name somewhere below it.
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goalwright_skills.hidden_paths import AGENTS, SKILL_FOLDERS, is_hidden_name

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

MAX_ENTRIES = 1_000_000  # beyond this, folders that were not searched are hidden
# The number of entries of hidden folders that are searched for files with other names outside.
MAX_HIDDEN_ENTRIES = 500_000
# Shown although their folder is hidden.
_SHOWN = frozenset(f"{AGENTS}/{name}" for name in SKILL_FOLDERS)


@dataclass(frozen=True, slots=True)
class View:
    """A folder and its hidden parts as relative paths; `beside` contains visible paths, folders with a final `/`."""

    root: str
    folders: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether nothing in it is hidden."""
        return not self.folders and not self.files


class Views:
    """The views of one run; a folder is scanned again only if its own entries change."""

    def __init__(self, max_entries: int = MAX_ENTRIES) -> None:
        self._max_entries = max_entries
        self._lock = threading.Lock()
        self._cache: dict[str, tuple[object, View]] = {}

    def of(self, path: Path) -> View:
        """Return the view of a file or folder."""
        root = os.path.realpath(path)
        with self._lock:
            stamp = _stamp(root)
            cached = self._cache.get(root)
            if cached is None or cached[0] != stamp:
                cached = self._cache[root] = (stamp, scan(root, self._max_entries))
            return cached[1]

    def knows(self, paths: Iterable[Path]) -> bool:
        """Whether these paths have been scanned, so that `of` returns at once."""
        return all(os.path.realpath(path) in self._cache for path in paths)


def scan(root: str, limit: int = MAX_ENTRIES) -> View:
    """Find the hidden names below a folder, nearest first; links are not followed, because their targets count."""
    if not os.path.isdir(root):
        return View(root)
    folders: list[str] = []
    files: list[str] = []
    linked: set[tuple[int, int]] = set()
    level, seen = [""], 0
    while level:
        below: list[str] = []
        for folder in level:
            if seen >= limit:
                folders.append(folder)
                continue
            for entry in _entries(root, folder):
                seen += 1
                path = f"{folder}/{entry.name}" if folder else entry.name
                if entry.is_symlink():
                    continue
                if entry.is_dir(follow_symlinks=False):
                    (folders if is_hidden_name(entry.name) else below).append(path)
                elif is_hidden_name(entry.name):
                    files.append(path)
                    linked.update(_other_names(entry))
        level = below
    linked |= _linked_below(root, folders)
    if linked:
        files += _aliases(root, linked, {*folders, *files})
    hidden = {*folders, *files}
    return View(root, tuple(folders), tuple(files), tuple(_beside(root, hidden)) if hidden else ())


def _stamp(root: str) -> object:
    try:
        status = os.stat(root)
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def _entries(root: str, folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(os.path.join(root, folder)) as entries:
            return list(entries)
    except OSError:  # a tool cannot read a folder that goalwright cannot read
        return []


def _other_names(entry: os.DirEntry[str]) -> set[tuple[int, int]]:
    """Return the identity of a file that has other names, so that these can be hidden too."""
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return set()
    return {(status.st_dev, status.st_ino)} if status.st_nlink > 1 else set()


def _linked_below(root: str, folders: Iterable[str]) -> set[tuple[int, int]]:
    """Return the identities of files in hidden folders that have other names."""
    linked: set[tuple[int, int]] = set()
    pending, remaining = list(folders), MAX_HIDDEN_ENTRIES
    while pending and remaining > 0:
        folder = pending.pop()
        for entry in _entries(root, folder):
            remaining -= 1
            if entry.is_dir(follow_symlinks=False):
                pending += {f"{folder}/{entry.name}"} - _SHOWN
            elif not entry.is_symlink():
                linked |= _other_names(entry)
    return linked


def _aliases(root: str, linked: set[tuple[int, int]], hidden: set[str]) -> list[str]:
    """Return further names of hidden files."""
    numbers = {number for _, number in linked}
    names, pending = [], [""]
    while pending:
        folder = pending.pop()
        for entry in _entries(root, folder):
            path = f"{folder}/{entry.name}" if folder else entry.name
            if path in hidden or entry.is_symlink():
                continue
            if entry.is_dir(follow_symlinks=False):
                pending.append(path)
            elif entry.inode() in numbers and _other_names(entry) & linked:
                names.append(path)
    return names


def _beside(root: str, hidden: set[str]) -> list[str]:
    """Return the visible entries of every folder above a hidden name."""
    mixed = {""}
    for path in hidden:
        while "/" in path:
            path = path.rpartition("/")[0]
            mixed.add(path)
    visible = []
    for folder in sorted(mixed):
        for entry in _entries(root, folder):
            path = f"{folder}/{entry.name}" if folder else entry.name
            if path not in mixed and path not in hidden and not entry.is_symlink():
                visible.append(path + "/" if entry.is_dir(follow_symlinks=False) else path)
    return visible
