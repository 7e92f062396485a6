"""Stamps of files, computed from their stat data, that tell whether a file has changed."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

# A second write within one tick of the file system's clock does not change the stat data: such a stamp is not trusted.
RACY_NS = 50_000_000
NONE = 0
RACY = -1


def of(found: os.stat_result) -> int:
    """Return a stat result as one number: a hash of integers, which is the same in every process."""
    return hash((found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_dev))


def kept(found: os.stat_result, now_ns: int) -> int:
    """Return the stamp to store: `RACY`, which matches nothing, if the file could still change unnoticed."""
    changed = max(found.st_mtime_ns, found.st_ctime_ns)
    return RACY if now_ns - RACY_NS < changed <= now_ns + RACY_NS else of(found)


def unchanged(watched: Mapping[str, int]) -> bool:
    """Whether no watched path has changed, appeared or disappeared."""
    stat = os.stat
    for path, stamp in watched.items():
        try:
            found = stat(path)
        except (OSError, ValueError):
            if stamp != NONE:
                return False
            continue
        # Inlined from `of`, since this runs for ten thousand paths on every start.
        numbers = (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_dev)
        if hash(numbers) != stamp:
            return False
    return True


def now() -> int:
    """Return the time of the wall clock, which file systems use for timestamps."""
    return time.time_ns()
