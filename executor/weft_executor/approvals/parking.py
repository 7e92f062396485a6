"""Tasks that wait for a person while the run goes on: they hold no place among those that run, and no clock ticks."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator


class ParkingPlace(Protocol):
    """A task's place among those that run at a time."""

    def leave(self) -> None:
        """Stop the clock and give the place up; several calls of a task may do so at a time."""

    def come_back(self) -> None:
        """Take the place again, with the time that was left."""


_PLACE: ContextVar[ParkingPlace | None] = ContextVar("place", default=None)


def hold(place: ParkingPlace) -> None:
    """From now on, the current asyncio task holds this place, which `parked` gives up."""
    _PLACE.set(place)


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
