"""The calls that may be under way at once, of all goals: goals take turns, and no call that must wait takes room.

Calls that wait stand in a line before their model's gate, so that letting one in takes the same time however many wait.
"""

from __future__ import annotations

import asyncio
import math
from collections import OrderedDict, deque
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from planner.errors import ModelError, UnknownModel

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from weft.batch.limits.rate_limiter import RateLimiter


@dataclass(frozen=True, slots=True, eq=False)
class CallRequest:
    """A call that is to be made; with less than endless patience it has another model to turn to."""

    limiter: RateLimiter
    model: str = ""
    tokens: int = 0
    patience: float = math.inf

    def refusal(self) -> ModelError | None:
        """Why it need not be waited for, if so: there is another model to turn to, and this one cannot be had now."""
        why = self.limiter.closed(self.patience)
        kind = UnknownModel if self.limiter.unknown else ModelError
        return kind(f"{self.model} {why}", model=self.model) if why else None


@dataclass(frozen=True, slots=True, eq=False)
class _Waiter:
    owner: str
    request: CallRequest
    admitted: asyncio.Future[None]


@dataclass(slots=True)
class _ModelQueue:
    """The calls that wait before one gate; their owners take turns."""

    limiter: RateLimiter
    owners: OrderedDict[str, deque[_Waiter]] = field(default_factory=OrderedDict)
    impatient: dict[_Waiter, None] = field(default_factory=dict)

    def join(self, place: _Waiter) -> None:
        """Wait behind the others."""
        self.owners.setdefault(place.owner, deque()).append(place)
        if place.request.patience < math.inf:
            self.impatient[place] = None

    def quit(self, place: _Waiter) -> None:
        """Wait no longer; one that has left already is none to leave."""
        self.impatient.pop(place, None)
        queue = self.owners.get(place.owner)
        if queue is not None and place in queue:
            queue.remove(place)
            if not queue:
                del self.owners[place.owner]

    def first(self) -> _Waiter | None:
        """Whose turn it is; those who were cancelled are passed over."""
        while self.owners:
            place = next(iter(self.owners.values()))[0]
            if not place.admitted.done():
                return place
            self.quit(place)
        return None

    def let_in(self, place: _Waiter) -> None:
        """The first may go; its owner's next call comes after one of every other."""
        self.quit(place)
        if place.owner in self.owners:
            self.owners.move_to_end(place.owner)
        self.limiter.enter(place.request.tokens)
        place.admitted.set_result(None)

    def turn_away(self) -> None:
        """Tell those who have another model to turn to that this one cannot be had for now."""
        if not self.limiter.closed(0.0):
            return
        for place in list(self.impatient):
            if (refusal := place.request.refusal()) is not None:
                self.quit(place)
                if not place.admitted.done():
                    place.admitted.set_exception(refusal)


@dataclass(slots=True)
class CallQueue:
    """Admits a call when there is room and its model's gate lets it through."""

    most: int
    under_way: int = 0
    _lines: OrderedDict[RateLimiter, _ModelQueue] = field(default_factory=OrderedDict)
    _timer: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def turn(self, owner: str, request: CallRequest) -> AsyncIterator[None]:
        """Wait for room; owners take turns, so that one with many calls does not keep the others waiting."""
        if (refusal := request.refusal()) is not None:
            raise refusal
        place = _Waiter(owner, request, asyncio.get_running_loop().create_future())
        line = self._lines.setdefault(request.limiter, _ModelQueue(request.limiter))
        line.join(place)
        self._admit()
        try:
            await place.admitted
        except asyncio.CancelledError:
            if place.admitted.cancelled():
                line.quit(place)
                self._admit()  # those behind it may need less than it did
            elif place.admitted.exception() is None:
                self._leave(request.limiter)
            raise
        try:
            yield
        finally:
            self._leave(request.limiter)

    def _leave(self, limiter: RateLimiter) -> None:
        self.under_way -= 1
        limiter.leave()
        self._admit()

    def _admit(self) -> None:
        """Let in whoever may go now; where only time is missing, look again when it has passed."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self.under_way < self.most and self._lines:
            wait = self._let_one_in()
            if wait > 0:
                if wait < math.inf:
                    self._timer = asyncio.get_running_loop().call_later(wait, self._admit)
                return

    def _let_one_in(self) -> float:
        """Let in whoever's turn it is; where it is nobody's, the seconds until it may be somebody's."""
        soonest = math.inf
        for limiter, line in list(self._lines.items()):
            line.turn_away()
            place = line.first()
            if place is None:
                del self._lines[limiter]
                continue
            # Behind a call that waits for its gate none is let through: a large one would never get its tokens.
            if (wait := limiter.wait(place.request.tokens)) > 0:
                soonest = min(soonest, wait)
                continue
            self.under_way += 1
            line.let_in(place)
            self._lines.move_to_end(limiter)
            return 0.0
        return soonest
