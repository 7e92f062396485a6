"""How tasks and calls wait for a person.

A waiting task gives up its slot among the running tasks, and its clock stops. Parallel calls of one reply ask in the
order of the reply, not in that of threads.
"""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class TaskSlot(Protocol):
    """A task's slot among those that run at a time."""

    def release(self) -> None:
        """Stop the clock and give up the slot; several calls of a task may do so at a time."""

    def reacquire(self) -> None:
        """Take the slot again, with the remaining time."""


_SLOT: ContextVar[TaskSlot | None] = ContextVar("slot", default=None)


def hold_slot(slot: TaskSlot) -> None:
    """Give the current asyncio task this slot, which `slot_released` gives up."""
    _SLOT.set(slot)


@contextmanager
def slot_released() -> Iterator[None]:
    """Within the block, the current task waits for a person: it holds no slot, and its time limit is paused."""
    slot = _SLOT.get()
    if slot is None:
        yield
        return
    slot.release()
    try:
        yield
    finally:
        slot.reacquire()


@dataclass(frozen=True, slots=True)
class _Turn:
    """The turn of one call, after those `before` it; `over` is set once it has asked or will not ask."""

    before: Sequence[asyncio.Event]
    over: asyncio.Event


_TURN: ContextVar[_Turn | None] = ContextVar("turn", default=None)


class Turns:
    """The turns of the calls of one reply."""

    def __init__(self, count: int) -> None:
        self._over = [asyncio.Event() for _ in range(count)]

    @contextmanager
    def of(self, number: int) -> Iterator[None]:
        """Within the block, the current asyncio task makes the call with this zero-based number."""
        turn = _Turn(self._over[:number], self._over[number])
        token = _TURN.set(turn)
        try:
            yield
        finally:
            turn.over.set()
            _TURN.reset(token)


async def my_turn() -> None:
    """Wait until all earlier calls have asked or will not ask."""
    if (turn := _TURN.get()) is not None:
        for before in turn.before:
            await before.wait()


def turn_over() -> None:
    """Let later calls ask: this one has asked or will not."""
    if (turn := _TURN.get()) is not None:
        turn.over.set()
