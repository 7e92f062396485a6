"""The calls that may be under way at once, of all goals: goals take turns, and no call that must wait takes room."""

from __future__ import annotations

import asyncio
import math
from collections import OrderedDict, deque
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from planner.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from weft.batch.gate import Gate


@dataclass(frozen=True, slots=True, eq=False)
class Wish:
    """A call that is to be made; with less than endless patience it has another model to turn to."""

    gate: Gate
    model: str = ""
    tokens: int = 0
    patience: float = math.inf


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    wish: Wish
    admitted: asyncio.Future[None]

    def turned_away(self) -> bool:
        """Whether it need not wait any longer: it was cancelled, or hears that its model cannot be had for now."""
        if not self.admitted.done() and (why := self.wish.gate.closed(self.wish.patience)):
            self.admitted.set_exception(ModelError(f"{self.wish.model} {why}", model=self.wish.model))
        return self.admitted.done()


@dataclass(slots=True)
class Pool:
    """Admits a call when there is room and its model's gate lets it through."""

    most: int
    under_way: int = 0
    _queues: OrderedDict[str, deque[_Place]] = field(default_factory=OrderedDict)
    _timer: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def turn(self, owner: str, wish: Wish) -> AsyncIterator[None]:
        """Wait for room; owners take turns, so that one with many calls does not keep the others waiting."""
        place = _Place(wish, asyncio.get_running_loop().create_future())
        self._queues.setdefault(owner, deque()).append(place)
        self._admit()
        try:
            await place.admitted
        except asyncio.CancelledError:
            if place.admitted.done() and not place.admitted.cancelled() and place.admitted.exception() is None:
                self._leave(wish.gate)
            raise
        try:
            yield
        finally:
            self._leave(wish.gate)

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
            place.wish.gate.enter(place.wish.tokens)
            place.admitted.set_result(None)

    def _next(self) -> tuple[_Place | None, float]:
        """Whose turn it is; where it is nobody's, the seconds until it may be somebody's."""
        shut: dict[Gate, float] = {}
        for owner, queue in list(self._queues.items()):
            self._queues[owner] = left = deque(place for place in queue if not place.turned_away())
            for place in left:
                gate = place.wish.gate
                # Behind a call that waits for its gate none is let through: a large one would never get its tokens.
                if gate in shut:
                    continue
                if (wait := gate.wait(place.wish.tokens)) > 0:
                    shut[gate] = wait
                    continue
                left.remove(place)
                self._queues.move_to_end(owner)
                if not left:
                    del self._queues[owner]
                return place, 0.0
            if not left:
                del self._queues[owner]
        return None, min(shut.values(), default=math.inf)
