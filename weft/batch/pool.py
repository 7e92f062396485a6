"""The calls that may be under way at once, of all goals: goals take turns, and no call that must wait takes room."""

from __future__ import annotations

import asyncio
import math
from collections import OrderedDict, deque
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from weft.batch.gate import Gate


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    gate: Gate
    tokens: int
    admitted: asyncio.Future[None]


@dataclass(slots=True)
class Pool:
    """Admits a call when there is room and its model's gate lets it through."""

    most: int
    under_way: int = 0
    _queues: OrderedDict[str, deque[_Place]] = field(default_factory=OrderedDict)
    _timer: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def turn(self, owner: str, gate: Gate, tokens: int = 0) -> AsyncIterator[None]:
        """Wait for room; owners take turns, so that one with many calls does not keep the others waiting."""
        place = _Place(gate, tokens, asyncio.get_running_loop().create_future())
        self._queues.setdefault(owner, deque()).append(place)
        self._admit()
        try:
            await place.admitted
        except asyncio.CancelledError:
            if not place.admitted.cancelled():
                self._leave(gate)
            raise
        try:
            yield
        finally:
            self._leave(gate)

    def _leave(self, gate: Gate) -> None:
        self.under_way -= 1
        gate.leave()
        self._admit()

    def _admit(self) -> None:
        """Let in whoever may go now; where only time is missing, look again when it has passed."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self.under_way < self.most and self._queues:
            place, wait = self._next()
            if place is None:
                if wait < math.inf:
                    self._timer = asyncio.get_running_loop().call_later(wait, self._admit)
                return
            self.under_way += 1
            place.gate.enter(place.tokens)
            place.admitted.set_result(None)

    def _next(self) -> tuple[_Place | None, float]:
        """Whose turn it is; where it is nobody's, the seconds until it may be somebody's."""
        shut: dict[Gate, float] = {}
        for owner, queue in list(self._queues.items()):
            self._queues[owner] = left = deque(place for place in queue if not place.admitted.done())
            for place in left:
                # Behind a call that waits for its gate none is let through: a large one would never get its tokens.
                if place.gate in shut:
                    continue
                if (wait := place.gate.wait(place.tokens)) > 0:
                    shut[place.gate] = wait
                    continue
                left.remove(place)
                self._queues.move_to_end(owner)
                if not left:
                    del self._queues[owner]
                return place, 0.0
            if not left:
                del self._queues[owner]
        return None, min(shut.values(), default=math.inf)
