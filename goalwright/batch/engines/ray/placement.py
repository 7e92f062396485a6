"""Chooses the worker for the next goal.

A goal whose worker died may have killed it. It runs with few others the next time and alone after that, so that other
goals do not die with it again and again, and no goal is blamed that was not tried alone.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

T = TypeVar("T")

# At least this many goals run together after a first death, so that a small batch does not run one by one.
_FEW = 4


@dataclass(slots=True, eq=False)
class WorkerState(Generic[T]):
    """A worker: its handle, its process and node while connected, and its goals with their deaths.

    `held_back` is the reason why it gets no new goals. `lost` is set when its process is lost; if it comes back, it may
    still run `orphaned` goals.
    """

    number: int
    handle: T
    slots: int
    process: str = ""
    node: str = ""
    held_back: str = ""
    orphaned: int = 0
    goals: dict[str, int] = field(default_factory=dict)
    lost: asyncio.Event = field(default_factory=asyncio.Event)

    def connect(self, process: str, node: str) -> None:
        """A process has started and takes goals."""
        self.process, self.node, self.held_back = process, node, ""
        self.lost = asyncio.Event()

    def disconnect(self) -> None:
        """The process is lost."""
        self.process = ""
        self.lost.set()

    @property
    def is_available(self) -> bool:
        """Whether it takes new goals."""
        return bool(self.process) and not self.held_back

    def can_run(self, deaths: int) -> bool:
        """Whether a goal with this many deaths may run beside its current goals."""
        most = min(self._most_goals(deaths) for deaths in (deaths, *self.goals.values()))
        return self.is_available and len(self.goals) + self.orphaned < most

    def _most_goals(self, deaths: int) -> int:
        """Return how many goals may run together if one of them has this many deaths."""
        if not deaths:
            return self.slots
        return max(self.slots // 8, min(self.slots, _FEW)) if deaths == 1 else 1


@dataclass(frozen=True, slots=True, eq=False)
class _Waiter(Generic[T]):
    goal: str
    deaths: int
    worker: asyncio.Future[WorkerState[T]]


@dataclass(slots=True)
class Placement(Generic[T]):
    """Assigns goals to workers: goals with deaths first, then in order, each to the worker with the fewest goals."""

    workers: list[WorkerState[T]]
    _waiting: list[_Waiter[T]] = field(default_factory=list)

    @property
    def capacity(self) -> int:
        """The number of goals that the workers can have now, including their current ones."""
        return sum(max(worker.slots - worker.orphaned, 0) for worker in self.workers if worker.is_available)

    @property
    def connected(self) -> list[WorkerState[T]]:
        """The workers with a process, whether they take new goals or not."""
        return [worker for worker in self.workers if worker.process]

    async def acquire(self, goal: str, deaths: int) -> WorkerState[T]:
        """Wait for a worker that can run the goal."""
        waiter = _Waiter(goal, deaths, asyncio.get_running_loop().create_future())
        self._waiting.append(waiter)
        self.dispatch()
        try:
            return await waiter.worker
        except asyncio.CancelledError:
            if waiter.worker.done() and not waiter.worker.cancelled():
                self.release(waiter.worker.result(), goal)
            elif waiter in self._waiting:
                self._waiting.remove(waiter)
            raise

    def clear(self, worker: WorkerState[T], goal: str) -> None:
        """A goal has proved harmless: others may run beside it again."""
        if goal in worker.goals:
            worker.goals[goal] = 0
            self.dispatch()

    def release(self, worker: WorkerState[T], goal: str) -> None:
        """A goal has left a worker."""
        worker.goals.pop(goal, None)
        self.dispatch()

    def remove(self, worker: WorkerState[T]) -> None:
        """A worker is no longer used."""
        worker.disconnect()
        self.workers.remove(worker)
        self.dispatch()

    def dispatch(self) -> None:
        """Assign waiting goals to workers that can run them."""
        for waiter, worker in list(self._matches()):
            self._waiting.remove(waiter)
            if not waiter.worker.done():
                waiter.worker.set_result(worker)

    def _matches(self) -> Iterator[tuple[_Waiter[T], WorkerState[T]]]:
        reserved: WorkerState[T] | None = None  # for a goal with deaths: it gets no others until that goal fits
        for waiter in sorted(self._waiting, key=lambda waiter: -waiter.deaths):
            if waiter.worker.done():
                continue
            candidates = [
                worker
                for worker in self.workers
                if worker.can_run(waiter.deaths) and (worker is not reserved or waiter.deaths)
            ]
            if candidates:
                worker = min(candidates, key=_load)
                worker.goals[waiter.goal] = waiter.deaths
                yield waiter, worker
            elif waiter.deaths and reserved is None:
                reserved = min((worker for worker in self.workers if worker.is_available), key=_load, default=None)


def _load(worker: WorkerState[T]) -> int:
    return len(worker.goals)
