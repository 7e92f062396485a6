"""Wakes streams when any process has written to the journal, and caches values that all streams read."""

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

# Seconds between two polls while there is no journal.
POLL_SECONDS = 0.05

T = TypeVar("T")


class Changes:
    """Polls the journal in a thread while streams wait; `open_store` returns None while there is no journal."""

    def __init__(self, open_store: Callable[[], Store | None]) -> None:
        self._open_store = open_store
        self._waiting: set[asyncio.Event] = set()
        self._needed = threading.Event()
        self._ended = False
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @contextmanager
    def waking(self) -> Iterator[asyncio.Event]:
        """Return an event that is set at every change; clear it before reading what changed."""
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
        """Wake all waiting streams."""
        for woken in self._waiting:
            woken.set()

    def close(self) -> None:
        """Stop polling."""
        self._ended = True
        self._needed.set()
        if self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        pause, seen, seconds = threading.Event(), -1, POLL_SECONDS
        while True:
            self._needed.wait()
            if self._ended:
                return
            pause.wait(seconds)
            with suppress(GoalwrightError):  # routes that read the journal report its errors
                store = self._open_store()
                if store is not None:
                    seconds = store.poll_seconds
                    if (now := store.changed()) != seen:
                        seen = now
                        self._notify()

    def _notify(self) -> None:
        with suppress(RuntimeError):  # the loop is closed: the server has ended
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self.wake)


class Recent(Generic[T]):
    """Caches the value of `read` for `seconds`; thread-safe."""

    def __init__(self, read: Callable[[], T], seconds: float) -> None:
        self._read = read
        self._seconds = seconds
        self._lock = threading.Lock()
        self._cached: tuple[float, T] | None = None

    def __call__(self) -> T:
        """Return the value, read again if it is too old."""
        with self._lock:
            if self._cached is None or time.monotonic() - self._cached[0] >= self._seconds:
                self._cached = time.monotonic(), self._read()
            return self._cached[1]
