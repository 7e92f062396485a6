"""Files that are too large to be copied: a run that deletes one keeps the file itself, under another name.

Each is kept by its hash and a number, so that two of the same content stay two. Nothing is read into memory.
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
    """The large files that a run has taken away; `folder` is its own, below the workspace."""

    workspace: Path
    folder: Path

    def holds(self, path: str, content: Content) -> bool:
        """Whether a file of the workspace has this content now."""
        file = self.workspace / path
        return self._size(file) == content.size and safe_moves.content_of(file, below=self.workspace) == content

    def has(self, content: Content) -> bool:
        """Whether a file of this content is kept, and whole."""
        return any(safe_moves.content_of(file, below=self.workspace) == content for file in self._kept(content))

    def keep(self, path: str, content: Content) -> None:
        """Take a file away from the workspace, if it still has this content."""
        self.move(self.workspace / path, self._free(self.workspace / path, content), content)

    def bring_back(self, content: Content, path: str) -> None:
        """Put a file of this content into its place, which must be empty."""
        kept = list(self._kept(content))
        if not kept:
            raise safe_files.Changed(f"{self.folder / content.sha256} is missing or damaged")
        self.move(kept[-1], self.workspace / path, content)  # the last one: names leave no gap

    def move(self, path: Path, to: Path, content: Content) -> None:
        """Move a file, if it still has this content, to a path that must be free."""
        safe_moves.move_if(path, to, content, below=self.workspace)

    def _kept(self, content: Content) -> Iterator[Path]:
        for file in self._names(content):
            if not os.path.lexists(file):
                return
            if self._size(file) == content.size:
                yield file

    def _free(self, path: Path, content: Content) -> Path:
        """A name that is free, or that a kill has left to this very file."""
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
