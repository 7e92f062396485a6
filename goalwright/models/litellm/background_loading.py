"""Loads a slow package in a thread, without a crash if the program ends first."""

from __future__ import annotations

import atexit
import sys
import threading
import time
from contextlib import suppress
from importlib.abc import MetaPathFinder
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

# Seconds for which a program that ends waits for the thread to come to its next import.
_HELD_WITHIN = 2.0


class BackgroundLoading(MetaPathFinder):
    """One thread that loads; once the program ends, it is held at its next import.

    Python ends threads wherever they are, and inside a module in another language that ends the process with a crash.
    """

    def __init__(self, name: str, load: Callable[[], Any]) -> None:
        self._name, self._load = name, load
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._ending, self._held = threading.Event(), threading.Event()

    def start(self) -> None:
        """Start loading, unless that is under way."""
        with self._starting:
            if self._thread is None:
                atexit.register(self._hold)
            elif self._thread.is_alive():
                return
            self._thread = threading.Thread(target=self._load_quietly, name=self._name, daemon=True)
            self._thread.start()

    def _load_quietly(self) -> None:
        sys.meta_path.insert(0, self)
        try:
            with suppress(Exception):  # the program may end first; a real failure is raised by the next who loads
                self._load()
        finally:
            sys.meta_path.remove(self)

    def _hold(self) -> None:
        """Wait until the thread is held, or done; not for long, whatever it does."""
        self._ending.set()
        until = time.monotonic() + _HELD_WITHIN
        while self._thread is not None and self._thread.is_alive() and time.monotonic() < until:
            if self._held.wait(0.01):
                return

    def find_spec(self, *_: object) -> None:
        """Find nothing, as every finder may; at the end of the program, never return."""
        if self._ending.is_set() and threading.current_thread() is self._thread:
            self._held.set()
            threading.Event().wait()
