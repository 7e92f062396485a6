"""Limits on the bytes and files of a run's artifacts and of a call's scratch folder."""

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
    """The limits on a run's artifacts and, separately, on the scratch folder of each call."""

    megabytes: int = 1_000
    files: int = 10_000

    def exceeded(self, folders: Sequence[Path]) -> str:
        """Return a text that names the exceeded limit of one of the folders; empty if none is exceeded."""
        return next((fault for folder in folders if (fault := self._fault(folder))), "")

    def exceeded_with(self, file: Path, size: int, folder: Path) -> str:
        """Return the limit that a folder would exceed if this file had this size; empty if none."""
        try:
            return self._fault(folder, size - os.lstat(file).st_size, 0)
        except OSError:  # the file is new
            return self._fault(folder, size, 1)

    def _fault(self, folder: Path, size: int = 0, count: int = 0) -> str:
        """Count files and folders until a limit is reached; a sparse file counts with its full length."""
        pending = [os.fspath(folder)]
        while pending:
            try:
                with os.scandir(pending.pop()) as entries:
                    for entry in entries:
                        count += 1
                        if entry.is_dir(follow_symlinks=False):
                            pending.append(entry.path)
                        elif not entry.is_symlink():
                            size += entry.stat(follow_symlinks=False).st_size
                        if count > self.files or size > self.megabytes * _MB:
                            return self._exceeded(size, count)
            except OSError:  # it was removed meanwhile, or its path is too long
                continue
        return self._exceeded(size, count)

    def _exceeded(self, size: int, count: int) -> str:
        if count > self.files:
            return f"more than {self.files:,} files (`max_artifact_files`)"
        return f"more than {self.megabytes:,} MB (`max_artifact_mb`)" if size > self.megabytes * _MB else ""
