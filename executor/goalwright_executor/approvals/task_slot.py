"""Tasks that wait for a person while the run goes on: they hold no slot among those that run, and no clock ticks."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator


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
