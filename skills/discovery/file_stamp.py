"""What a file's stat data says about whether it changed."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

# Within one tick of the file system's clock a second write leaves no trace: such a stamp is not trusted.
RACY_NS = 50_000_000
NONE = 0
RACY = -1


def of(found: os.stat_result) -> int:
    """A stat result in brief: a hash of numbers, which is the same in every process."""
    return hash((found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_dev))


def kept(found: os.stat_result, now_ns: int) -> int:
    """The stamp to remember: one that matches nothing where the file may change again unseen."""
    changed = max(found.st_mtime_ns, found.st_ctime_ns)
    return RACY if now_ns - RACY_NS < changed <= now_ns + RACY_NS else of(found)


def hold(watched: Mapping[str, int]) -> bool:
    """Whether all paths still lead to what they led to."""
    stat = os.stat
    for path, mark in watched.items():
        try:
            found = stat(path)
        except (OSError, ValueError):
            if mark != NONE:
                return False
            continue
        # Written out, not called: this runs for ten thousand paths on every start.
        marks = (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_dev)
        if hash(marks) != mark:
            return False
    return True


def now() -> int:
    """The wall clock that file systems stamp with."""
    return time.time_ns()
