"""Finding SKILL.md and skill.yaml files: a bounded walk of the locations that visits each link's target once."""

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

    A link may lead to so many `linked` folders, and to `linked_per_skill` more for each skill in them: one to skills is
    followed to its end, and one to a whole system is not.
    """

    skills: int = 100_000
    depth: int = 24
    folders: int = 400_000
    entries: int = 200_000
    linked: int = 10_000
    linked_per_skill: int = 20


class Found(NamedTuple):
    """A file found by a scan, with the number of its location and its stamp.

    A tuple, because thousands are made on every start.
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
    """The result of a scan; `watched` has the stamps of all paths whose change would change the result."""

    files: list[Found] = field(default_factory=list)
    watched: dict[str, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def unchanged(self) -> bool:
        """Whether a new scan would give the same result; takes only stat calls."""
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
    """A link out of a location, with what it has led to so far, through further links too."""

    path: str
    folders: int = 0
    skills: int = 0


# A folder or link to look at, how deep it lies, and the link that led there, if one did.
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
        """Walk real folders first and link targets after them, so that a link never hides a real folder."""
        links: deque[_Place] = deque()
        first = len(self.tree.files)
        if self._may_enter(root):
            self._folders((root, 0, _Link(root) if os.path.islink(root) else None), number, links)
        while links:
            self._link(links.popleft(), number, links)
        self.tree.files[first:] = sorted(self.tree.files[first:], key=lambda found: found.path.split(os.sep))

    def file(self, path: str, number: int) -> None:
        """Add one file, if it exists."""
        found = self._watch(path)
        if found is None:
            return
        if len(self.tree.files) >= self.bounds.skills:
            self._warn_once("skills", path, f"more than {self.bounds.skills} skills: the rest are ignored")
            return
        self.read.add((found.st_dev, found.st_ino))
        self.tree.files.append(Found(path, number, self.tree.watched[path], stat.S_ISREG(found.st_mode)))

    def _folders(self, root: _Place, number: int, links: deque[_Place]) -> None:
        first, depth, link = root
        stack = [(first, depth)]
        while stack:
            path, depth = stack.pop()
            found = self._watch(path)
            if found is None or not stat.S_ISDIR(found.st_mode) or (found.st_dev, found.st_ino) in self.seen:
                continue
            if depth > self.bounds.depth:
                self._warn_once("depth", path, f"folders nest deeper than {self.bounds.depth} levels: not searched")
                continue
            if len(self.seen) >= self.bounds.folders:
                self._warn_once("folders", path, f"more than {self.bounds.folders} folders: the rest are not searched")
                return
            if link is not None and self._leads_too_far(link):
                return
            self.seen.add((found.st_dev, found.st_ino))
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
        """Count a folder that a link leads to; whether it is one too many."""
        link.folders += 1
        if link.folders <= self.bounds.linked + self.bounds.linked_per_skill * link.skills:
            return False
        if f"link {link.path}" not in self.warned:
            self.warned.add(f"link {link.path}")
            what = f"it leads to {os.path.realpath(link.path)}, with {link.folders - 1:,} folders or more and "
            what += f"{link.skills:,} skills so far: the rest is not searched"
            hint = "link the folder that has the skills"
            self.tree.problems.append(Problem(Path(link.path), 1, what, hint, "bound"))
        return True

    def _entries(self, path: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(path) as entries:
                listed = list(islice(entries, self.bounds.entries + 1))
        except OSError as error:
            what = f"the folder cannot be read ({error.strerror})"
            self.tree.problems.append(Problem(Path(path), 1, what, "fix its permissions", "folder"))
            return []
        if len(listed) > self.bounds.entries:
            what = f"more than {self.bounds.entries} entries in one folder: the rest are not searched"
            self._warn_once("entries", path, what)
        return sorted(listed[: self.bounds.entries], key=lambda entry: entry.name)

    def _link(self, place: _Place, number: int, links: deque[_Place]) -> None:
        """Follow a link, unless it leads to a folder that contains it or to something seen before."""
        path, depth, link = place
        found = self._watch(path)
        if found is None:
            return
        if stat.S_ISDIR(found.st_mode):
            if self._may_enter(path):
                self._folders((path, depth, link or _Link(path)), number, links)
        elif os.path.basename(path) in self.names and (found.st_dev, found.st_ino) not in self.read:
            self.file(path, number)

    def _may_enter(self, path: str) -> bool:
        """Whether a link, if it is one, leads neither to a folder that contains it nor to one of the kernel's."""
        target = os.path.realpath(path)
        if is_kernel_path(target):
            what = "it leads to a folder of the kernel: not searched"
            self.tree.problems.append(Problem(Path(path), 1, what, "remove the link", "folder"))
            self.tree.watched.setdefault(path, file_stamp.NONE)
            return False
        here = os.path.realpath(os.path.dirname(path))
        return here != target and not here.startswith(target.rstrip(os.sep) + os.sep)

    def _watch(self, path: str) -> os.stat_result | None:
        try:
            found = os.stat(path)
        except (OSError, ValueError):
            self.tree.watched[path] = file_stamp.NONE
            return None
        self.tree.watched[path] = file_stamp.kept(found, self.now)
        return found

    def _warn_once(self, bound: str, path: str, what: str) -> None:
        """Warn about each bound once."""
        if bound not in self.warned:
            self.warned.add(bound)
            self.tree.problems.append(Problem(Path(path), 1, what, "move skills you don't need elsewhere", "bound"))
