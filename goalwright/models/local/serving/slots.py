"""Assigns calls to the server's slots, preferring one that has cached the fixed part of the prompt."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@dataclass(frozen=True, slots=True)
class Turn:
    """A slot for one call; `is_read` is true if it has cached the fixed part of the prompt."""

    slot: int
    is_read: bool


@dataclass(slots=True)
class Slots:
    """The slots of one server, one call each.

    Calls queue here rather than in the server, so that queueing does not count towards a call's timeout.
    """

    count: int
    _free: list[int] = field(init=False)  # least recently used first
    _read: dict[int, int] = field(default_factory=dict)
    _reading: dict[int, asyncio.Lock] = field(default_factory=dict)
    _waiting: asyncio.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        self._free = list(range(self.count))
        self._waiting = asyncio.Semaphore(self.count)

    def reading(self, fixed: object) -> asyncio.Lock:
        """The lock for reading a fixed part: a call that waits for it then finds the saved state."""
        return self._reading.setdefault(hash(fixed), asyncio.Lock())

    @asynccontextmanager
    async def turn(self, fixed: object) -> AsyncIterator[Turn]:
        """A slot for a prompt with this fixed part."""
        part = hash(fixed)
        async with self._waiting:
            slot = next((free for free in self._free if self._read.get(free) == part), self._free[0])
            self._free.remove(slot)
            turn = Turn(slot, self._read.get(slot) == part)
            self._read.pop(slot, None)
            try:
                yield turn
                self._read[slot] = part
            finally:
                self._free.append(slot)
