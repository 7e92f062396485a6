"""Finds SKILL.md and skill.yaml files: a bounded walk of the locations that visits the target of each link once."""

from __future__ import annotations

import os
import stat
from collections import deque
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from goalwright_skills.discovery import file_stamp
from goalwright_skills.skill import Problem
from goalwright_skills.untrusted_files import is_kernel_path

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from goalwright_skills.discovery.locations import Location
    from goalwright_skills.skill import Skill

SKIPPED = frozenset({".git", "__pycache__"})


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits at which a scan warns and stops.

    A link may lead to `linked` folders, and to `linked_per_skill` more for each skill in them: a link to a collection
    of skills is followed to its end, a link to a whole file system is not.
    """

    skills: int = 100_000
    depth: int = 24
    folders: int = 400_000
    entries: int = 200_000
    linked: int = 10_000
    linked_per_skill: int = 20


class Found(NamedTuple):
    """A file found by a scan, with the number of its location and its stamp.

    A tuple, because thousands are created on every start.
    """

    path: str
    location: int
    stamp: int
    regular: bool = True


class Entry(NamedTuple):
    """The skills and problems in one SKILL.md or skill.yaml; a broken file is a skill in state `broken`."""

    found: Found
    skills: tuple[Skill, ...]
    problems: tuple[Problem, ...] = ()


@dataclass(slots=True)
class Tree:
    """The result of a scan; `watched` holds the stamps of all paths whose change would change the result."""

    files: list[Found] = field(default_factory=list)
    watched: dict[str, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def unchanged(self) -> bool:
        """Whether a new scan would give the same result; needs only stat calls."""
        return file_stamp.unchanged(self.watched)


def scan(locations: Sequence[Location], names: Collection[str], bounds: Bounds | None = None) -> Tree:
    """Walk all locations, strongest first, for files of these names."""
    walk = _Walk(frozenset(names), bounds or Bounds())
    for number, location in enumerate(locations):
        if location.single:
            walk.file(str(location.path / "SKILL.md"), number)
        else:
            walk.location(str(location.path), number)
    return walk.tree


@dataclass(slots=True)
class _Link:
    """A link, with the number of folders and skills reached through it so far."""

    path: str
    folders: int = 0
    skills: int = 0


# A folder or link to visit, its depth, and the link that led there, if any.
_Place = tuple[str, int, _Link | None]


class _Walk:
    """The state of one scan."""

    def __init__(self, names: frozenset[str], bounds: Bounds) -> None:
        self.names = names
        self.bounds = bounds
        self.tree = Tree()
        self.now = file_stamp.now()
        self.seen: set[tuple[int, int]] = set()
        self.read: set[tuple[int, int]] = set()
        self.warned: set[str] = set()

    def location(self, root: str, number: int) -> None:
        """Walk real folders first and targets of links after them, so that a link never hides a real folder."""
        links: deque[_Place] = deque()
        first = len(self.tree.files)
        if self._may_enter(root):
            self._folders((root, 0, _Link(root) if os.path.islink(root) else None), number, links)
        while links:
            self._link(links.popleft(), number, links)
        self.tree.files[first:] = sorted(self.tree.files[first:], key=lambda file: file.path.split(os.sep))

    def file(self, path: str, number: int) -> None:
        """Add one file, if it exists."""
        status = self._watch(path)
        if status is None:
            return
        if len(self.tree.files) >= self.bounds.skills:
            self._warn_once("skills", path, f"more than {self.bounds.skills} skills: the others are ignored")
            return
        self.read.add((status.st_dev, status.st_ino))
        self.tree.files.append(Found(path, number, self.tree.watched[path], stat.S_ISREG(status.st_mode)))

    def _folders(self, root: _Place, number: int, links: deque[_Place]) -> None:
        first, depth, link = root
        stack = [(first, depth)]
        while stack:
            path, depth = stack.pop()
            status = self._watch(path)
            if status is None or not stat.S_ISDIR(status.st_mode) or (status.st_dev, status.st_ino) in self.seen:
                continue
            if depth > self.bounds.depth:
                self._warn_once(
                    "depth", path, f"folders are nested deeper than {self.bounds.depth} levels: not searched"
                )
                continue
            if len(self.seen) >= self.bounds.folders:
                self._warn_once(
                    "folders", path, f"more than {self.bounds.folders} folders: the others are not searched"
                )
                return
            if link is not None and self._leads_too_far(link):
                return
            self.seen.add((status.st_dev, status.st_ino))
            below = []
            for entry in self._entries(path):
                if entry.is_symlink():
                    links.append((entry.path, depth + 1, link))
                elif entry.name in self.names:
                    self.file(entry.path, number)
                    if link is not None:
                        link.skills += 1
                elif entry.is_dir(follow_symlinks=False) and entry.name not in SKIPPED:
                    below.append((entry.path, depth + 1))
            stack.extend(reversed(below))

    def _leads_too_far(self, link: _Link) -> bool:
        """Count a folder reached through a link; returns whether the limit is exceeded."""
        link.folders += 1
        if link.folders <= self.bounds.linked + self.bounds.linked_per_skill * link.skills:
            return False
        if f"link {link.path}" not in self.warned:
            self.warned.add(f"link {link.path}")
            message = (
                f"it leads to {os.path.realpath(link.path)}, with at least {link.folders - 1:,} folders and "
                f"{link.skills:,} skills so far: the other folders are not searched"
            )
            remedy = "link the folder that contains the skills"
            self.tree.problems.append(Problem(Path(link.path), 1, message, remedy, "bound"))
        return True

    def _entries(self, path: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(path) as entries:
                listed = list(islice(entries, self.bounds.entries + 1))
        except OSError as error:
            message = f"the folder cannot be read ({error.strerror})"
            self.tree.problems.append(Problem(Path(path), 1, message, "fix its permissions", "folder"))
            return []
        if len(listed) > self.bounds.entries:
            message = f"more than {self.bounds.entries} entries in one folder: the others are not searched"
            self._warn_once("entries", path, message)
        return sorted(listed[: self.bounds.entries], key=lambda entry: entry.name)

    def _link(self, place: _Place, number: int, links: deque[_Place]) -> None:
        """Follow a link, unless it leads to a folder that contains it or to a file that was read before."""
        path, depth, link = place
        status = self._watch(path)
        if status is None:
            return
        if stat.S_ISDIR(status.st_mode):
            if self._may_enter(path):
                self._folders((path, depth, link or _Link(path)), number, links)
        elif os.path.basename(path) in self.names and (status.st_dev, status.st_ino) not in self.read:
            self.file(path, number)

    def _may_enter(self, path: str) -> bool:
        """Whether a path is neither a link to a folder that contains it nor in a folder of the kernel."""
        target = os.path.realpath(path)
        if is_kernel_path(target):
            message = "it leads to a folder of the kernel: not searched"
            self.tree.problems.append(Problem(Path(path), 1, message, "remove the link", "folder"))
            self.tree.watched.setdefault(path, file_stamp.NONE)
            return False
        parent = os.path.realpath(os.path.dirname(path))
        return parent != target and not parent.startswith(target.rstrip(os.sep) + os.sep)

    def _watch(self, path: str) -> os.stat_result | None:
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            self.tree.watched[path] = file_stamp.NONE
            return None
        self.tree.watched[path] = file_stamp.kept(status, self.now)
        return status

    def _warn_once(self, bound: str, path: str, message: str) -> None:
        """Warn about each bound once."""
        if bound not in self.warned:
            self.warned.add(bound)
            self.tree.problems.append(Problem(Path(path), 1, message, "move skills you don't need elsewhere", "bound"))
