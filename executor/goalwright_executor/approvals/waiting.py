"""Tasks that wait for a person while the run goes on: they hold no slot among those that run, and no clock ticks."""

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
        """Stop the clock and give the slot up; several calls of a task may do so at a time."""

    def reacquire(self) -> None:
        """Take the slot again, with the time that was left."""


_SLOT: ContextVar[TaskSlot | None] = ContextVar("slot", default=None)


def hold_slot(slot: TaskSlot) -> None:
    """From now on, the current asyncio task holds this slot, which `slot_released` gives up."""
    _SLOT.set(slot)


@contextmanager
def slot_released() -> Iterator[None]:
    """Within the block, the current task waits for a person: it holds no slot, and its time limit does not count."""
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
    """The turn of one call: `over` is set once it has asked, or will not ask; it comes after those `before` it."""

    before: Sequence[asyncio.Event]
    over: asyncio.Event


_TURN: ContextVar[_Turn | None] = ContextVar("turn", default=None)


class Turns:
    """The turns of the calls of one reply."""

    def __init__(self, count: int) -> None:
        self._over = [asyncio.Event() for _ in range(count)]

    @contextmanager
    def of(self, number: int) -> Iterator[None]:
        """Within the block, the current asyncio task makes the call of this number, from zero."""
        turn = _Turn(self._over[:number], self._over[number])
        token = _TURN.set(turn)
        try:
            yield
        finally:
            turn.over.set()
            _TURN.reset(token)


async def my_turn() -> None:
    """Wait until all calls before this one have asked, or will not ask."""
    if (turn := _TURN.get()) is not None:
        for before in turn.before:
            await before.wait()


def turn_over() -> None:
    """Let the calls behind this one ask: it has asked, or will not."""
    if (turn := _TURN.get()) is not None:
        turn.over.set()
