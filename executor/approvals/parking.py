"""Tasks that wait for a person while the run goes on: they hold no place among those that run, and no clock ticks."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(slots=True)
class ParkingPlace:
    """A task's place among those that run at a time; `moved` hears +1 when it is left, -1 when it is taken again.

    Several calls of a task may wait at a time. The place is taken again at once when the last one is answered, so for
    a moment there may be more tasks at a time than allowed.
    """

    limit: asyncio.Timeout
    moved: Callable[[int], None]
    waiting: int = 0
    left: float | None = None

    def leave(self) -> None:
        """Stop the clock and give the place up."""
        self.waiting += 1
        if self.waiting == 1:
            when = self.limit.when()
            self.left = None if when is None else when - asyncio.get_running_loop().time()
            self.limit.reschedule(None)
            self.moved(1)

    def come_back(self) -> None:
        """Take the place again, with the time that was left."""
        self.waiting -= 1
        if self.waiting == 0:
            if self.left is not None:
                self.limit.reschedule(asyncio.get_running_loop().time() + self.left)
            self.moved(-1)


_PLACE: ContextVar[ParkingPlace | None] = ContextVar("place", default=None)


@contextmanager
def holding(limit: asyncio.Timeout, moved: Callable[[int], None]) -> Iterator[None]:
    """Within the block, the current task holds a place that `parked` gives up."""
    token = _PLACE.set(ParkingPlace(limit, moved))
    try:
        yield
    finally:
        _PLACE.reset(token)


@contextmanager
def parked() -> Iterator[None]:
    """Within the block, the current task waits for a person: it holds no place, and its time limit does not count."""
    place = _PLACE.get()
    if place is None:
        yield
        return
    place.leave()
    try:
        yield
    finally:
        place.come_back()
