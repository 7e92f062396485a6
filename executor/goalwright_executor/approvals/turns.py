"""Calls that a reply makes at once ask a person in the order in which the reply has them, not in that of threads."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


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
