"""Tells when any process has written to the journal: one thread looks, and wakes those who wait."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Generic, TypeVar

from goalwright_skills.errors import GoalwrightError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from goalwright_executor.stores.store import Store

# Seconds between two looks as long as there is no journal.
LOOK = 0.05

T = TypeVar("T")


class Changes:
    """Looks at the journal while someone waits; `open_store` gives it, or None as long as there is none."""

    def __init__(self, open_store: Callable[[], Store | None]) -> None:
        self._open_store = open_store
        self._waiting: set[asyncio.Event] = set()
        self._needed = threading.Event()
        self._ended = False
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @contextmanager
    def waking(self) -> Iterator[asyncio.Event]:
        """An event that is set at every change; clear it before looking at what changed."""
        if self._thread is None:
            self._loop = asyncio.get_running_loop()
            self._thread = threading.Thread(target=self._work, name="changes", daemon=True)
            self._thread.start()
        woken = asyncio.Event()
        self._waiting.add(woken)
        self._needed.set()
        try:
            yield woken
        finally:
            self._waiting.discard(woken)
            if not self._waiting:
                self._needed.clear()

    def wake(self) -> None:
        """Wake everyone who waits."""
        for woken in self._waiting:
            woken.set()

    def close(self) -> None:
        """Look no more."""
        self._ended = True
        self._needed.set()
        if self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        pause, seen, look = threading.Event(), -1, LOOK
        while True:
            self._needed.wait()
            if self._ended:
                return
            pause.wait(look)
            with suppress(GoalwrightError):  # a journal that cannot be read is reported to those who read it
                store = self._open_store()
                if store is not None:
                    look = store.poll_seconds
                    if (now := store.changed()) != seen:
                        seen = now
                        self._notify()

    def _notify(self) -> None:
        with suppress(RuntimeError):  # the loop is closed: the server has ended
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self.wake)


class Recent(Generic[T]):
    """Gives what `read` gave within the last `seconds`, else reads again; safe in threads."""

    def __init__(self, read: Callable[[], T], seconds: float) -> None:
        self._read = read
        self._seconds = seconds
        self._lock = threading.Lock()
        self._kept: tuple[float, T] | None = None

    def __call__(self) -> T:
        """The value, at most that old."""
        with self._lock:
            if self._kept is None or time.monotonic() - self._kept[0] >= self._seconds:
                self._kept = time.monotonic(), self._read()
            return self._kept[1]
