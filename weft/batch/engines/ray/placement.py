"""Which worker gets the next goal.

A goal whose worker died may be what killed it. It runs with few others the next time, and alone the time after: so
others do not die with it again and again.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class Seat(Generic[T]):
    """A worker's place: its link, the process that sits there now, if any, and the goals it has with their deaths.

    `held_back` says why it gets no new goals. `gone` is set when its process is lost; if it comes back, it may still
    run `abandoned` goals.
    """

    number: int
    link: T
    slots: int
    process: str = ""
    node: str = ""
    held_back: str = ""
    abandoned: int = 0
    goals: dict[str, int] = field(default_factory=dict)
    gone: asyncio.Event = field(default_factory=asyncio.Event)

    def open(self, process: str, node: str) -> None:
        """A process is there and takes goals."""
        self.process, self.node, self.held_back = process, node, ""
        self.gone = asyncio.Event()

    def close(self) -> None:
        """The process is lost."""
        self.process = ""
        self.gone.set()

    @property
    def is_open(self) -> bool:
        """Whether it gets new goals."""
        return bool(self.process) and not self.held_back

    def takes(self, deaths: int) -> bool:
        """Whether a goal with this many deaths may run beside those that are there."""
        company = min(self._company(one) for one in (deaths, *self.goals.values()))
        return self.is_open and len(self.goals) + self.abandoned < company

    def _company(self, deaths: int) -> int:
        """How many goals run together with one of this many deaths, that one included."""
        return max(self.slots >> (3 * deaths), 1)


@dataclass(frozen=True, slots=True, eq=False)
class _Wait(Generic[T]):
    goal: str
    deaths: int
    given: asyncio.Future[Seat[T]]


@dataclass(slots=True)
class Placement(Generic[T]):
    """Gives goals to workers: those with deaths first, then in their order, each to the one with the fewest."""

    seats: list[Seat[T]]
    _waiting: list[_Wait[T]] = field(default_factory=list)

    @property
    def room(self) -> int:
        """How many goals the workers can have now, those included that they have."""
        return sum(max(seat.slots - seat.abandoned, 0) for seat in self.seats if seat.is_open)

    @property
    def open(self) -> list[Seat[T]]:
        """The workers that are there, whether they take new goals or not."""
        return [seat for seat in self.seats if seat.process]

    async def enter(self, goal: str, deaths: int) -> Seat[T]:
        """Wait for a worker that takes the goal."""
        given: asyncio.Future[Seat[T]] = asyncio.get_running_loop().create_future()
        wait = _Wait(goal, deaths, given)
        self._waiting.append(wait)
        self.look()
        try:
            return await wait.given
        except asyncio.CancelledError:
            if wait.given.done() and not wait.given.cancelled():
                self.leave(wait.given.result(), goal)
            elif wait in self._waiting:
                self._waiting.remove(wait)
            raise

    def leave(self, seat: Seat[T], goal: str) -> None:
        """A goal is no longer with a worker."""
        seat.goals.pop(goal, None)
        self.look()

    def drop(self, seat: Seat[T]) -> None:
        """A worker is not used any more."""
        seat.close()
        self.seats.remove(seat)
        self.look()

    def look(self) -> None:
        """Give every goal that waits to a worker, as far as there is one that takes it."""
        for wait, seat in list(self._matches()):
            self._waiting.remove(wait)
            if not wait.given.done():
                wait.given.set_result(seat)

    def _matches(self) -> Iterator[tuple[_Wait[T], Seat[T]]]:
        kept: Seat[T] | None = None  # for a goal with deaths: it gets no other until that one fits in
        for wait in sorted(self._waiting, key=lambda one: -one.deaths):
            if wait.given.done():
                continue
            fit = [seat for seat in self.seats if seat.takes(wait.deaths) and (seat is not kept or wait.deaths)]
            if fit:
                seat = min(fit, key=lambda one: len(one.goals))
                seat.goals[wait.goal] = wait.deaths
                yield wait, seat
            elif wait.deaths and kept is None:
                kept = min((seat for seat in self.seats if seat.is_open), key=_load, default=None)


def _load(seat: Seat[T]) -> int:
    return len(seat.goals)
