"""The queue of model calls of all goals: goals take turns, and a call that waits for its limiter takes no slot.

Waiting calls are queued by model, so that admission takes constant time however many wait.
"""

from __future__ import annotations

import asyncio
import math
from collections import OrderedDict, deque
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from typing import TYPE_CHECKING

from goalwright_planner.errors import ModelError, UnknownModel

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from goalwright.batch.limits.rate_limiter import RateLimiter

# Seconds after which waiting calls are checked again, even without an event.
_RECHECK = 5.0


@dataclass(frozen=True, slots=True, eq=False)
class CallRequest:
    """A call to be made; a finite patience means that there is a fallback model."""

    limiter: RateLimiter
    model: str = ""
    tokens: int = 0
    patience: float = math.inf

    def refusal(self) -> ModelError | None:
        """Return the error to raise instead of waiting, if there is a fallback and the model is not available."""
        reason = self.limiter.closed(self.patience)
        kind = UnknownModel if self.limiter.unknown else ModelError
        return kind(f"{self.model} {reason}", model=self.model) if reason else None


@dataclass(frozen=True, slots=True, eq=False)
class _Waiter:
    owner: str
    request: CallRequest
    admitted: asyncio.Future[None]


@dataclass(slots=True)
class _ModelQueue:
    """The calls that wait for one limiter; their owners take turns."""

    limiter: RateLimiter
    owners: OrderedDict[str, deque[_Waiter]] = field(default_factory=OrderedDict)
    impatient: dict[_Waiter, None] = field(default_factory=dict)

    def join(self, waiter: _Waiter) -> None:
        """Add a call at the end."""
        self.owners.setdefault(waiter.owner, deque()).append(waiter)
        if waiter.request.patience < math.inf:
            self.impatient[waiter] = None

    def quit(self, waiter: _Waiter) -> None:
        """Leave the queue, if still in it."""
        self.impatient.pop(waiter, None)
        queue = self.owners.get(waiter.owner)
        if queue is not None and waiter in queue:
            queue.remove(waiter)
            if not queue:
                del self.owners[waiter.owner]

    def first(self) -> _Waiter | None:
        """Return the next call; cancelled ones are dropped."""
        while self.owners:
            waiter = next(iter(self.owners.values()))[0]
            if not waiter.admitted.done():
                return waiter
            self.quit(waiter)
        return None

    def admit(self, waiter: _Waiter) -> None:
        """Admit the first call; its owner's next call comes after one of every other owner."""
        self.quit(waiter)
        if waiter.owner in self.owners:
            self.owners.move_to_end(waiter.owner)
        self.limiter.enter(waiter.request.tokens)
        waiter.admitted.set_result(None)

    def refuse_impatient(self) -> None:
        """Refuse calls that have a fallback while this model is not available."""
        if not self.limiter.closed(0.0):
            return
        for waiter in list(self.impatient):
            if (refusal := waiter.request.refusal()) is not None:
                self.quit(waiter)
                if not waiter.admitted.done():
                    waiter.admitted.set_exception(refusal)


@dataclass(slots=True)
class CallQueue:
    """Admits a call when there is a free slot and its model's limiter allows it."""

    most: int
    running: int = 0
    _queues: OrderedDict[RateLimiter, _ModelQueue] = field(default_factory=OrderedDict)
    _timer: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def turn(self, owner: str, request: CallRequest) -> AsyncIterator[None]:
        """Wait for a slot; owners take turns, so that one with many calls does not block the others."""
        if (refusal := request.refusal()) is not None:
            raise refusal
        waiter = _Waiter(owner, request, asyncio.get_running_loop().create_future())
        queue = self._queues.setdefault(request.limiter, _ModelQueue(request.limiter))
        queue.join(waiter)
        self._admit()
        try:
            await waiter.admitted
        except asyncio.CancelledError:
            if waiter.admitted.cancelled():
                queue.quit(waiter)
                self._admit()  # the next calls may need fewer tokens
            elif waiter.admitted.exception() is None:
                self._leave(request.limiter)
            raise
        try:
            yield
        finally:
            self._leave(request.limiter)

    def waiting(self, limiter: RateLimiter, most: int) -> list[int]:
        """Return the tokens of the calls that wait for a limiter, the first call of each owner first."""
        queue = self._queues.get(limiter)
        rows = [] if queue is None else [list(islice(calls, most)) for calls in islice(queue.owners.values(), most)]
        ordered = (
            call for turn in zip_longest(*rows) for call in turn if call is not None and not call.admitted.done()
        )
        return [call.request.tokens for call in islice(ordered, most)]

    def look(self) -> None:
        """Admit calls after a limiter allows more than before."""
        self._admit()

    def _leave(self, limiter: RateLimiter) -> None:
        self.running -= 1
        limiter.leave()
        self._admit()

    def _admit(self) -> None:
        """Admit all calls that may start; if one has to wait, set a timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self.running < self.most and self._queues:
            wait = self._admit_one()
            if wait > 0:
                if self._queues:
                    self._timer = asyncio.get_running_loop().call_later(min(wait, _RECHECK), self._admit)
                return

    def _admit_one(self) -> float:
        """Admit the next call; if none may start, return the seconds until one may."""
        soonest = math.inf
        for limiter, queue in list(self._queues.items()):
            queue.refuse_impatient()
            waiter = queue.first()
            if waiter is None:
                del self._queues[limiter]
                continue
            # No call overtakes one that waits for its limiter, or a large one would never get its tokens.
            if (wait := limiter.wait(waiter.request.tokens)) > 0:
                soonest = min(soonest, wait)
                continue
            self.running += 1
            queue.admit(waiter)
            self._queues.move_to_end(limiter)
            return 0.0
        return soonest
