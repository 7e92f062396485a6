"""The files below a folder that tools may see, in order, without following links."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goalwright_skills.builtin.search.glob import BadGlob, Glob
from goalwright_skills.tools.parameter import string_parameter
from goalwright_skills.tools.tool import ToolFault

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from goalwright_skills.builtin.readable_roots import ReadableRoots


MOST_ENTRIES = 200_000
DEEPEST = 100  # folders within each other
# Folders that tools make and nobody searches; a path that names one is still searched.
PASSED_OVER = frozenset({"node_modules", "__pycache__", ".venv", ".tox", ".mypy_cache", ".pytest_cache"})


@dataclass(slots=True)
class Walk:
    """A walk below a folder; `cut` once there were more entries than are looked at."""

    roots: ReadableRoots
    folder: Path
    entries: int = MOST_ENTRIES
    cut: bool = field(default=False, init=False)

    def files(self) -> Iterator[str]:
        """The paths of the files, relative to the folder, each folder's own files first."""
        yield from self._below("", 0)

    def open(self, path: str) -> int:
        """A file descriptor of one of them; raises ToolFault."""
        return self.roots.open(self.folder / path)

    def _below(self, here: str, depth: int) -> Iterator[str]:
        try:
            found = self._entries(here)
        except ToolFault:
            return  # it is gone, or goalwright may not read it
        files = [name for name, is_folder in found if not is_folder]
        yield from (f"{here}{name}" for name in files)
        folders = [name for name, is_folder in found if is_folder and name not in PASSED_OVER]
        self.cut = self.cut or (bool(folders) and depth == DEEPEST)
        for name in folders:
            if not self.cut:
                yield from self._below(f"{here}{name}/", depth + 1)

    def _entries(self, here: str) -> list[tuple[str, bool]]:
        folder = self.folder / here if here else self.folder
        descriptor = self.roots.open(folder)
        try:
            if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
                return []
            with os.scandir(descriptor if os.scandir in os.supports_fd else folder) as entries:
                seen = [entry for entry in entries if not self.roots.hides_entry(folder, entry.name)]
                found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in seen if not entry.is_symlink()]
        except OSError:
            return []
        finally:
            os.close(descriptor)
        self.entries -= len(found)
        self.cut = self.cut or self.entries < 0
        return sorted(found)


GLOB = string_parameter("Only files that match, such as `*.py` (in any folder) or `src/**/*.ts`.")


def glob_of(arguments: Mapping[str, Any]) -> Glob | None:
    """The glob among the arguments, if there is one; raises ToolFault if it cannot match anything."""
    given = arguments.get("glob")
    if given is None or given == "":
        return None
    try:
        return Glob.of(given if isinstance(given, str) else "")
    except BadGlob as error:
        what = f"glob {error}, not {given!r:.80}; give one such as `*.py`, or omit it"
        raise ToolFault("INVALID_PARAM", what) from error
