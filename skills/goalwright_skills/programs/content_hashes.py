"""Hashes of the files that trust covers: bounded in all, and read again only when a file has changed."""

from __future__ import annotations

import errno
import hashlib
import os
import time
from functools import lru_cache
from typing import TYPE_CHECKING

from goalwright_skills import untrusted_files
from goalwright_skills.errors import GoalwrightError

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 2_000_000_000
_PART = 1 << 20
# A file that was changed this recently may change again without another time stamp.
_RACY_NS = 2_000_000_000


class ContentHashes:
    """The hashes of a folder's files; raises GoalwrightError once they are more than anyone can have looked at."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._left = MOST_BYTES

    def digest(self, path: Path) -> bytes:
        """The hash of a regular file's content; raises OSError for anything else."""
        found = path.stat()
        self._left -= found.st_size
        if self._left < 0:
            raise GoalwrightError(
                f"{self._folder} has more than {MOST_BYTES // 1_000_000:,} MB of files",
                hint="move data and dependencies elsewhere",
            )
        newest = max(found.st_mtime_ns, found.st_ctime_ns)
        if time.time_ns() - newest < _RACY_NS:
            return _digest(path, found.st_size)
        stamp = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
        return _digest_once(str(path), stamp)


@lru_cache(maxsize=50_000)
def _digest_once(path: str, stamp: tuple[int, ...]) -> bytes:
    """The hash of a file, read once for each stamp; the time of a change cannot be set back."""
    return _digest(path, stamp[2])


def _digest(path: Path | str, size: int) -> bytes:
    made = hashlib.sha256()
    with os.fdopen(untrusted_files.open_regular(path, size), "rb") as file:
        left = size + 1
        while left > 0 and (part := file.read(min(left, _PART))):
            made.update(part)
            left -= len(part)
    if left == 0:
        raise OSError(errno.EAGAIN, "it is growing", str(path))
    return made.digest()
