"""What a file's stat data says about whether it changed."""

from __future__ import annotations

import os
import time

# Within one tick of the file system's clock a second write leaves no trace: such a stamp is not trusted.
RACY_NS = 50_000_000
NONE = ""
RACY = "?"


def stamp(path: str) -> str:
    """The stamp of what a path leads to; empty where it leads nowhere."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return NONE
    return of(found)


def of(found: os.stat_result) -> str:
    """A stat result in brief."""
    return f"{found.st_mtime_ns:x}.{found.st_ctime_ns:x}.{found.st_size:x}.{found.st_ino:x}.{found.st_dev:x}"


def kept(found: os.stat_result, now_ns: int) -> str:
    """The stamp to remember: one that matches nothing where the file may change again unseen."""
    changed = max(found.st_mtime_ns, found.st_ctime_ns)
    return RACY if now_ns - RACY_NS < changed <= now_ns + RACY_NS else of(found)


def now() -> int:
    """The wall clock that file systems stamp with."""
    return time.time_ns()
