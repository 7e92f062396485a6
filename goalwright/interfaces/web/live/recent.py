"""A value that many ask for and that is read once for all of them."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


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
