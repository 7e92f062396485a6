"""File locks between processes and threads; the operating system releases a lock when its holder exits or crashes.

Lock files are never removed: two processes could then each lock a different file of the same name.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

POLL_SECONDS = 0.05


@contextlib.contextmanager
def hold(path: Path, on_wait: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold the lock on a file, created if missing; `on_wait` is called once if the lock is taken."""
    with _opened(path) as descriptor:
        if not try_lock(descriptor):
            on_wait()
            while not try_lock(descriptor):
                time.sleep(POLL_SECONDS)
        yield


@contextlib.asynccontextmanager
async def hold_async(path: Path) -> AsyncIterator[None]:
    """Hold the lock on a file, created if missing, without blocking the event loop while it is taken."""
    with _opened(path) as descriptor:
        while not try_lock(descriptor):  # noqa: ASYNC110 - the holder may be another process
            await asyncio.sleep(POLL_SECONDS)
        yield


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[int]:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


if sys.platform == "win32":
    import msvcrt

    def try_lock(descriptor: int) -> bool:
        """Lock an open file unless the lock is taken; returns whether it succeeded. Closing the file unlocks it."""
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def try_lock(descriptor: int) -> bool:
        """Lock an open file unless the lock is taken; returns whether it succeeded. Closing the file unlocks it."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
