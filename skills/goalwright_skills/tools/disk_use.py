"""How much may be left on the disk: bytes and files, of a run's artifacts and of a call's scratch folder."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_MB = 1_000_000


@dataclass(frozen=True, slots=True)
class DiskLimits:
    """What a run may keep, and each call may have in its scratch folder."""

    megabytes: int = 1_000
    files: int = 10_000

    def exceeded(self, folders: Sequence[Path]) -> str:
        """What is too much in one of the folders, in words; empty if nothing is."""
        return next((fault for folder in folders if (fault := self._fault(folder))), "")

    def exceeded_with(self, file: Path, size: int, folder: Path) -> str:
        """What is too much in a folder once a file of it has this size, in words; empty if nothing is."""
        try:
            return self._fault(folder, size - os.lstat(file).st_size, 0)
        except OSError:  # it is a new one
            return self._fault(folder, size, 1)

    def _fault(self, folder: Path, size: int = 0, count: int = 0) -> str:
        """Counts until a limit is reached, folders too; of a file with holes, its whole length counts: it is read."""
        waiting = [os.fspath(folder)]
        while waiting:
            try:
                with os.scandir(waiting.pop()) as entries:
                    for entry in entries:
                        count += 1
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(entry.path)
                        elif not entry.is_symlink():
                            size += entry.stat(follow_symlinks=False).st_size
                        if count > self.files or size > self.megabytes * _MB:
                            return self._words(size, count)
            except OSError:  # it was removed meanwhile, or lies deeper than a path can be long
                continue
        return self._words(size, count)

    def _words(self, size: int, count: int) -> str:
        if count > self.files:
            return f"more than {self.files:,} files (`max_artifact_files`)"
        return f"more than {self.megabytes:,} MB (`max_artifact_mb`)" if size > self.megabytes * _MB else ""
