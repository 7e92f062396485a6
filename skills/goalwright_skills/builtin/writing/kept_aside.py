"""Deleted files that are too large to be copied: the run keeps the file itself under another name.

The name is the hash and a number, so that two files with the same content stay separate. Nothing is read into memory.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from goalwright_skills import safe_files, safe_moves

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from goalwright_skills.safe_moves import Content


@dataclass(frozen=True, slots=True)
class KeptAside:
    """The large files that a run has removed; `folder` belongs to the run."""

    workspace: Path
    folder: Path

    def holds(self, path: str, content: Content) -> bool:
        """Return whether a file of the workspace has this content now."""
        file = self.workspace / path
        return self._size(file) == content.size and safe_moves.content_of(file, below=self.workspace) == content

    def has(self, content: Content) -> bool:
        """Return whether an intact file with this content is kept."""
        return any(safe_moves.content_of(file, below=self.workspace) == content for file in self._kept(content))

    def keep(self, path: str, content: Content) -> None:
        """Move a file out of the workspace, if it still has this content."""
        self.move(self.workspace / path, self._free(self.workspace / path, content), content)

    def bring_back(self, content: Content, path: str) -> None:
        """Restore a file with this content to a free path."""
        files = list(self._kept(content))
        if not files:
            raise safe_files.Changed(f"{self.folder / content.sha256} is missing or damaged")
        self.move(files[-1], self.workspace / path, content)  # the last one, so that the numbers have no gap

    def move(self, path: Path, to: Path, content: Content) -> None:
        """Move a file to a free path, if it still has this content."""
        safe_moves.move_if(path, to, content, below=self.workspace)

    def _kept(self, content: Content) -> Iterator[Path]:
        for file in self._names(content):
            if not os.path.lexists(file):
                return
            if self._size(file) == content.size:
                yield file

    def _free(self, path: Path, content: Content) -> Path:
        """Return a free name, or the name that an interrupted move gave to this file."""
        return next(file for file in self._names(content) if not os.path.lexists(file) or _same(file, path))

    def _names(self, content: Content) -> Iterator[Path]:
        return (self.folder / f"{content.sha256}.{number}" for number in count(1))

    def _size(self, file: Path) -> int | None:
        return safe_moves.size_of(file, below=self.workspace)


def _same(file: Path, other: Path) -> bool:
    try:
        return os.path.samestat(file.lstat(), other.lstat())
    except FileNotFoundError:
        return False
