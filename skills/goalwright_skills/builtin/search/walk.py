"""Walks the files below a folder that tools may see, in order and without following links."""

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
DEEPEST = 100  # nested folders
# Generated folders that nobody searches; a path that names one is still searched.
SKIPPED = frozenset({"node_modules", "__pycache__", ".venv", ".tox", ".mypy_cache", ".pytest_cache"})


@dataclass(slots=True)
class Walk:
    """A walk below a folder; `cut` is set when the limit on entries or depth was reached."""

    roots: ReadableRoots
    folder: Path
    entries: int = MOST_ENTRIES
    cut: bool = field(default=False, init=False)

    def files(self) -> Iterator[str]:
        """Yield the paths of the files, relative to the folder; each folder's own files come first."""
        yield from self._below("", 0)

    def open(self, path: str) -> int:
        """Open one of the files and return its descriptor; raises ToolFault."""
        return self.roots.open(self.folder / path)

    def _below(self, prefix: str, depth: int) -> Iterator[str]:
        try:
            entries = self._entries(prefix)
        except ToolFault:
            return  # it was removed, or is not readable
        files = [name for name, is_folder in entries if not is_folder]
        yield from (f"{prefix}{name}" for name in files)
        folders = [name for name, is_folder in entries if is_folder and name not in SKIPPED]
        self.cut = self.cut or (bool(folders) and depth == DEEPEST)
        for name in folders:
            if not self.cut:
                yield from self._below(f"{prefix}{name}/", depth + 1)

    def _entries(self, prefix: str) -> list[tuple[str, bool]]:
        folder = self.folder / prefix if prefix else self.folder
        descriptor = self.roots.open(folder)
        try:
            if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
                return []
            with os.scandir(descriptor if os.scandir in os.supports_fd else folder) as entries:
                visible = [entry for entry in entries if not self.roots.hides_entry(folder, entry.name)]
                children = [
                    (entry.name, entry.is_dir(follow_symlinks=False)) for entry in visible if not entry.is_symlink()
                ]
        except OSError:
            return []
        finally:
            os.close(descriptor)
        self.entries -= len(children)
        self.cut = self.cut or self.entries < 0
        return sorted(children)


GLOB = string_parameter("Only files that match this glob, such as `*.py` (in any folder) or `src/**/*.ts`.")


def glob_of(arguments: Mapping[str, Any]) -> Glob | None:
    """Parse the argument `glob`; None if it is absent; raises ToolFault if it is invalid."""
    pattern = arguments.get("glob")
    if pattern is None or pattern == "":
        return None
    try:
        return Glob.of(pattern if isinstance(pattern, str) else "")
    except BadGlob as error:
        problem = f"glob {error}, not {pattern!r:.80}; give one such as `*.py`, or omit it"
        raise ToolFault("INVALID_PARAM", problem) from error
