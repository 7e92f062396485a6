"""One pool of model calls for all goals: fair between goals, within the limits, and gentle to a provider in trouble.

a call waits for its turn (goals take turns)  →  for room in the pool  →  for its model's gate:
not before Retry-After has passed, no more than rpm and tpm, not while the provider is down
→  it is made  →  its outcome widens or narrows the pool and opens or shuts the gate
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict, deque
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from planner.errors import ModelError, Overloaded, RateLimited, ServerFailed, Transient, Unreachable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

_CHARACTERS_A_TOKEN = 4
_EXPECTED_ANSWER = 300


@dataclass(frozen=True, slots=True)
class Rates:
    """What a batch may ask: calls at a time, and for each model calls and tokens a minute."""

    max_calls: int = 32
    rpm: float | None = None
    tpm: float | None = None


@dataclass(slots=True)
class Pool:
    """How many calls may be under way: fewer after each sign of overload, one more with each round of successes."""

    most: int
    limit: float = 0.0
    under_way: int = 0
    narrowed_at: float = 0.0
    _queues: OrderedDict[str, deque[asyncio.Future[None]]] = field(default_factory=OrderedDict)

    def __post_init__(self) -> None:
        self.limit = float(self.most)

    @asynccontextmanager
    async def turn(self, owner: str) -> AsyncIterator[None]:
        """Wait for room; owners take turns, so that one with many calls does not keep the others waiting."""
        if self.under_way >= int(self.limit) or self._queues:
            await self._wait(owner)
        else:
            self.under_way += 1
        try:
            yield
        finally:
            self.under_way -= 1
            self._admit()

    async def _wait(self, owner: str) -> None:
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queues.setdefault(owner, deque()).append(place)
        self._admit()
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self.under_way -= 1
                self._admit()
            raise

    def _admit(self) -> None:
        while self._queues and self.under_way < max(int(self.limit), 1):
            owner, queue = self._queues.popitem(last=False)
            place = queue.popleft()
            if queue:
                self._queues[owner] = queue
            if not place.done():
                self.under_way += 1
                place.set_result(None)

    def widen(self) -> None:
        """A call went well."""
        self.limit = min(float(self.most), self.limit + 1 / max(self.limit, 1.0))
        self._admit()

    def narrow(self) -> None:
        """The provider has too much to do; calls that were under way together count as one sign."""
        if time.monotonic() - self.narrowed_at > 1.0:
            self.narrowed_at = time.monotonic()
            self.limit = max(1.0, self.limit / 2)


@dataclass(slots=True)
class Gate:
    """One model's gate: paced by rpm and tpm, shut until Retry-After has passed and while the provider is down."""

    rates: Rates
    opens_at: float = 0.0
    next_call: float = 0.0
    tokens: float = 0.0
    counted_at: float = field(default_factory=time.monotonic)
    failures: int = 0
    _probing: bool = False
    _first: float | None = None
    _answered: bool = False

    def __post_init__(self) -> None:
        self.tokens = self.rates.tpm or 0.0

    async def pass_through(self, estimate: int) -> None:
        """Wait until a call of about so many tokens may be made, and count it."""
        while (wait := self._wait(estimate)) > 0:  # noqa: ASYNC110 - it is time that is waited for
            await asyncio.sleep(wait)
        if self.rates.rpm:
            now = time.monotonic()
            self.next_call = max(self.next_call, now) + 60.0 / self.rates.rpm
            self._first = now if self._first is None else self._first
        self.tokens -= estimate
        self._probing = self.is_down

    def _wait(self, estimate: int) -> float:
        now = time.monotonic()
        if self._probing:
            return 0.1
        waits = [self.opens_at - now]
        if self.rates.rpm:
            waits.append(self.next_call - now)
            if self._first is not None and not self._answered:
                waits.append(min(self._first + _FIRST_TAKES - now, 0.05))
        if self.rates.tpm:
            self.tokens = min(self.rates.tpm, self.tokens + (now - self.counted_at) * self.rates.tpm / 60.0)
            self.counted_at = now
            waits.append((min(estimate, self.rates.tpm) - self.tokens) * 60.0 / self.rates.tpm)
        return max(waits)

    @property
    def is_down(self) -> bool:
        """Whether so many calls failed in a row that the provider must be down."""
        return self.failures >= _DOWN_AFTER

    def went_well(self, estimate: int, used: int) -> None:
        """A call was answered: the gate is open, and its tokens are what it really used."""
        self._ended()
        self.failures = 0
        self.tokens += estimate - used

    def went_wrong(self, error: ModelError) -> None:
        """A call failed: shut the gate for as long as the provider asked, or longer each time where it is down."""
        self._ended()
        if isinstance(error, Transient) and error.retry_after is not None:
            self.opens_at = max(self.opens_at, time.monotonic() + error.retry_after)
        if isinstance(error, Unreachable | ServerFailed | Overloaded):
            self.failures += 1
            if self.is_down:
                pause = min(_FIRST_PAUSE * 2 ** (self.failures - _DOWN_AFTER), _LONGEST_PAUSE)
                self.opens_at = max(self.opens_at, time.monotonic() + pause)
        elif not isinstance(error, Transient):
            self.failures = 0

    def _ended(self) -> None:
        """A call ended; after the first the pace begins anew, for it left late by what making a connection takes."""
        self._probing = False
        if self.rates.rpm and not self._answered:
            self.next_call = max(self.next_call, time.monotonic() + 60.0 / self.rates.rpm)
        self._answered = True


# How long the others wait at most for the first call of a model that has a pace.
_FIRST_TAKES = 5.0
_DOWN_AFTER = 8
_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 30.0


def is_overload(error: ModelError) -> bool:
    """Whether fewer calls at a time would help."""
    return isinstance(error, RateLimited | Overloaded)


def estimate(characters: int) -> int:
    """About how many tokens a call takes, before it is made."""
    return characters // _CHARACTERS_A_TOKEN + _EXPECTED_ANSWER
