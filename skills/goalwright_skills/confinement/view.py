"""What a tool sees of a folder: all but its hidden names, found in one pass and kept for a run.

A mount can be covered, so bubblewrap needs the hidden paths. Landlock cannot subtract, so it needs what stands beside
them: the entries of each folder that has a hidden name somewhere below it.
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

ENTRIES = 1_000_000  # beyond them, folders that were not looked into are hidden
# How many entries of hidden folders are looked at for files that have other names outside.
HIDDEN_ENTRIES = 500_000
# Shown although they are in a hidden folder.
_SHOWN = frozenset(f"{AGENTS}/{name}" for name in SKILL_FOLDERS)


@dataclass(frozen=True, slots=True)
class View:
    """A folder and its hidden parts, by paths relative to it; `beside` is what can be shown, folders with a `/`."""

    root: str
    folders: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether nothing in it is hidden."""
        return not self.folders and not self.files


class Views:
    """The views of one run; a folder is looked at again only if its own entries change."""

    def __init__(self, entries: int = ENTRIES) -> None:
        self._entries = entries
        self._lock = threading.Lock()
        self._known: dict[str, tuple[object, View]] = {}

    def of(self, path: Path) -> View:
        """The view of a file or folder."""
        root = os.path.realpath(path)
        with self._lock:
            stamp = _stamp(root)
            known = self._known.get(root)
            if known is None or known[0] != stamp:
                known = self._known[root] = (stamp, look(root, self._entries))
            return known[1]

    def knows(self, paths: Iterable[Path]) -> bool:
        """Whether these have been looked at, so that `of` takes no time."""
        return all(os.path.realpath(path) in self._known for path in paths)


def look(root: str, limit: int = ENTRIES) -> View:
    """Find the hidden names below a folder, nearest first; links are not followed, since their targets count."""
    if not os.path.isdir(root):
        return View(root)
    folders: list[str] = []
    files: list[str] = []
    linked: set[tuple[int, int]] = set()
    waiting, seen = [""], 0
    while waiting:
        below: list[str] = []
        for here in waiting:
            if seen >= limit:
                folders.append(here)
                continue
            for entry in _entries(root, here):
                seen += 1
                path = f"{here}/{entry.name}" if here else entry.name
                if entry.is_symlink():
                    continue
                if entry.is_dir(follow_symlinks=False):
                    (folders if is_hidden_name(entry.name) else below).append(path)
                elif is_hidden_name(entry.name):
                    files.append(path)
                    linked.update(_other_names(entry))
        waiting = below
    linked |= _linked_below(root, folders)
    if linked:
        files += _same(root, linked, {*folders, *files})
    hidden = {*folders, *files}
    return View(root, tuple(folders), tuple(files), tuple(_beside(root, hidden)) if hidden else ())


def _stamp(root: str) -> object:
    try:
        found = os.stat(root)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def _entries(root: str, here: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(os.path.join(root, here)) as entries:
            return list(entries)
    except OSError:  # a folder that goalwright cannot read is not one that a tool could
        return []


def _other_names(entry: os.DirEntry[str]) -> set[tuple[int, int]]:
    """The identity of a file that has other names too, so that these can be hidden as well."""
    try:
        found = entry.stat(follow_symlinks=False)
    except OSError:
        return set()
    return {(found.st_dev, found.st_ino)} if found.st_nlink > 1 else set()


def _linked_below(root: str, folders: Iterable[str]) -> set[tuple[int, int]]:
    """The identities of files in hidden folders that have other names too."""
    found: set[tuple[int, int]] = set()
    waiting, left = list(folders), HIDDEN_ENTRIES
    while waiting and left > 0:
        here = waiting.pop()
        for entry in _entries(root, here):
            left -= 1
            if entry.is_dir(follow_symlinks=False):
                waiting += {f"{here}/{entry.name}"} - _SHOWN
            elif not entry.is_symlink():
                found |= _other_names(entry)
    return found


def _same(root: str, linked: set[tuple[int, int]], hidden: set[str]) -> list[str]:
    """Further names of hidden files."""
    numbers = {number for _, number in linked}
    found, waiting = [], [""]
    while waiting:
        here = waiting.pop()
        for entry in _entries(root, here):
            path = f"{here}/{entry.name}" if here else entry.name
            if path in hidden or entry.is_symlink():
                continue
            if entry.is_dir(follow_symlinks=False):
                waiting.append(path)
            elif entry.inode() in numbers and _other_names(entry) & linked:
                found.append(path)
    return found


def _beside(root: str, hidden: set[str]) -> list[str]:
    """What stands beside hidden names: the entries of every folder above one."""
    mixed = {""}
    for path in hidden:
        while "/" in path:
            path = path.rpartition("/")[0]
            mixed.add(path)
    found = []
    for here in sorted(mixed):
        for entry in _entries(root, here):
            path = f"{here}/{entry.name}" if here else entry.name
            if path not in mixed and path not in hidden and not entry.is_symlink():
                found.append(path + "/" if entry.is_dir(follow_symlinks=False) else path)
    return found
