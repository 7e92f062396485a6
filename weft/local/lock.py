"""A lock between processes on a file; the system lets go of it when its holder ends, however it ends."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

POLL_SECONDS = 0.2


@contextlib.contextmanager
def held(path: Path, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold the lock; `waiting` is called once if another process has it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # The file stays: were it removed, two processes could each lock a file of that name.
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        if not _taken(handle):
            waiting()
            while not _taken(handle):
                time.sleep(POLL_SECONDS)
        yield
    finally:
        os.close(handle)


if sys.platform == "win32":
    import msvcrt

    def _taken(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _taken(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
