"""A worker's side of the shared limiter: rate limiters that are filled with the permits it grants.

When calls wait or are expected, it asks the limiter, at most four times a second while nothing changes. The next calls
use the permits within a second.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goalwright.batch.limits.limited_model import CallLimits
from goalwright.batch.limits.rate_limiter import RateLimiter, Rates
from goalwright.batch.limits.shared.messages import EVERY, LATE, LIFE, CallOutcome, LimiterRequest, ModelRequest
from goalwright_planner.errors import RateLimited

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from goalwright.batch.limits.shared.messages import LimiterGrant, ModelGrant
    from goalwright_planner.errors import ModelError

    RequestPermits = Callable[[LimiterRequest], Awaitable[LimiterGrant]]

# The least seconds between two messages.
_LEAST = 0.02
# Permits are requested for calls that are expected within this many seconds.
_SOON = 0.5
_MAX_REQUESTED = 200


@dataclass(slots=True, eq=False)
class PermitLimiter(RateLimiter):
    """A rate limiter that allows what the shared limiter has granted to this worker."""

    request_now: Callable[[], None] = lambda: None
    refused: int = 0
    _at_once: int = 0
    _until: float = -math.inf
    _starts: deque[tuple[float, float, float]] = field(default_factory=deque)
    _held: float = 0.0
    _outcomes: list[CallOutcome] = field(default_factory=list)
    _entered: deque[tuple[float, int]] = field(default_factory=deque)
    _left: deque[float] = field(default_factory=deque)
    _asked: float = -math.inf

    def wait(self, tokens: int) -> float:
        """Return the seconds until a call may start; infinite until a permit is granted or another call ends."""
        now = self.clock()
        if (pause := self.opens_at - now) > 0:
            return pause
        self._drop_late(now)
        start = self._starts[0][0] - now if self._starts else math.inf
        if not (self.rates.rpm or self.rates.tpm):
            start = 0.0
        elif self.rates.tpm and self._held + 1e-6 < min(tokens, self.rates.tpm):
            start = math.inf
        if now < self._until and self.running < self._at_once and start < math.inf:
            return max(start, 0.0)
        if now > self._asked + EVERY:
            self.request_now()
        return math.inf

    def enter(self, tokens: int) -> None:
        """A call starts and uses a permit."""
        now = self.clock()
        self.running += 1
        if self._starts:
            self._starts.popleft()
        self._held = max(0.0, self._held - tokens)
        self._probing = self.is_down
        self._entered.append((now, tokens))

    def leave(self) -> None:
        """A call ended."""
        self.running -= 1
        self._probing = False
        self._left.append(self.clock())

    def succeeded(self, tokens: int, used: int) -> None:
        """A call was answered; the next message reports it to the limiter."""
        RateLimiter.succeeded(self, tokens, used)
        self._outcomes.append(CallOutcome(self._charged(tokens), used))

    def failed(self, error: ModelError, tokens: int) -> None:
        """A call failed: this worker pauses at once, the others when the limiter informs them."""
        RateLimiter.failed(self, error, tokens)
        self._outcomes.append(CallOutcome.of(error, self._charged(tokens)))
        self.refused += isinstance(error, RateLimited)
        self.request_now()

    @property
    def is_busy(self) -> bool:
        """Whether there is anything to report to the limiter or to request from it."""
        return bool(self.running or self._outcomes or self._starts or self._held or self._recent(self.clock()))

    def message(self, waiting: Sequence[int], free: int) -> ModelRequest:
        """Return the message to the limiter: waiting and soon expected calls, minus the permits held for them.

        `free` is how many more calls the worker could make now.
        """
        now = self.clock()
        self._drop_late(now)
        recent = self._recent(now)
        usable = max(0, free) + len(self._left) + 1
        expected = [sum(recent) // len(recent)] * len(recent) if recent else []
        sizes = [self._charged(size) for size in [*waiting, *expected][: min(usable, _MAX_REQUESTED)]]
        if not (self.rates.rpm or self.rates.tpm):
            sizes = []
        starts, held, wanted = len(self._starts), self._held, []
        for size in sizes:
            if starts <= 0 or (self.rates.tpm and held < size):
                wanted.append(max(0, math.ceil(size - held)))
            starts, held = starts - 1, max(0.0, held - size)
        demand = self.running + len(waiting) + len(recent)
        if wanted or len(waiting) + self.running > self._at_once:
            self._asked = now
        spare = [self._starts.pop()[2] for _ in range(max(0, starts))]
        spare_tokens, self._held = held, self._held - held
        outcomes = tuple(self._outcomes)
        return ModelRequest(self.running, demand, tuple(wanted), self._held, tuple(spare), spare_tokens, outcomes)

    def take(self, grant: ModelGrant, sent: float, now: float, reported: int) -> None:
        """Use a grant that was requested at `sent`; `now` is the limiter's clock, `reported` the outcomes it was sent.

        A grant counts from the time of its request, so that it never lasts longer here than at the limiter.
        """
        here = self.clock()
        del self._outcomes[:reported]
        self._at_once, self._until = grant.at_once, sent + LIFE
        # Not before its time, however late the answer came, and never later than the limiter assumes.
        added = [(here + start - now, sent + start - now + LATE, start) for start in grant.starts]
        self._starts = deque(sorted([*self._starts, *added]))
        self._held += grant.tokens
        if not self._outcomes:
            self.limit = min(grant.limit, float(self.rates.max_calls))
            self.failures, self.unknown = grant.failures, grant.unknown
            self._probing = grant.is_tried or (self.is_down and self.running > 0)
            self.opens_at = here + grant.opens_in if grant.opens_in > 0 else 0.0

    def _charged(self, tokens: int) -> int:
        """Return the tokens charged for a call: no more than the limit."""
        return int(min(tokens, self.rates.tpm)) if self.rates.tpm else tokens

    def _recent(self, now: float) -> list[int]:
        """Return the tokens of recent calls; as many are expected soon."""
        while self._entered and now - self._entered[0][0] > _SOON:
            self._entered.popleft()
        while self._left and now - self._left[0] > _SOON:
            self._left.popleft()
        return [tokens for _, tokens in self._entered]

    def _drop_late(self, now: float) -> None:
        while self._starts and self._starts[0][1] <= now:
            self._starts.popleft()


@dataclass(slots=True)
class LimiterClient:
    """Keeps a worker's limiters filled; `request` sends a message to the limiter and returns its answer.

    `rates` are the batch's, except for `max_calls`: the concurrent calls of this worker.
    """

    worker: str
    rates: Rates
    request: RequestPermits
    clock: Callable[[], float] = time.monotonic
    limits: CallLimits = field(init=False)
    failures: int = 0
    _limiters: dict[str, PermitLimiter] = field(default_factory=dict)
    _wanted: asyncio.Event = field(default_factory=asyncio.Event)
    _limiter: str = ""

    def __post_init__(self) -> None:
        self.limits = CallLimits(self.rates, self._make)

    def refused(self) -> int:
        """Return how many calls providers refused since the last time, and reset the count."""
        count = sum(limiter.refused for limiter in self._limiters.values())
        for limiter in self._limiters.values():
            limiter.refused = 0
        return count

    async def run(self) -> None:
        """Exchange messages with the limiter until cancelled; without its answers, no call is made."""
        while True:
            # A call just after a message triggers none, so poll at least this often.
            with suppress(TimeoutError):
                async with asyncio.timeout(EVERY):
                    await self._wanted.wait()
            if self._wanted.is_set() or self._is_busy():
                self._wanted.clear()
                await self.exchange()
                await asyncio.sleep(_LEAST)

    def _is_busy(self) -> bool:
        """Whether there is anything to send; an idle worker sends nothing."""
        queue = self.limits.queue
        return any(limiter.is_busy or queue.waiting(limiter, 1) for limiter in self._limiters.values())

    async def exchange(self) -> None:
        """Send one message and use its answer."""
        queue, sent = self.limits.queue, self.clock()
        free = queue.most - queue.running
        models = {
            name: limiter.message(queue.waiting(limiter, _MAX_REQUESTED), free)
            for name, limiter in self._limiters.items()
        }
        try:
            async with asyncio.timeout(LIFE):
                grant = await self.request(LimiterRequest(self.worker, queue.most, models, self._limiter))
        except Exception:  # noqa: BLE001 - the transport has its own errors; the limiter is restarted
            self.failures += 1
            self._wanted.set()
            await asyncio.sleep(EVERY)
            return
        self._limiter = grant.limiter
        for name, permits in grant.models.items():
            self._limiters[name].take(permits, sent, grant.now, len(models[name].outcomes))
        queue.look()

    def _make(self, model: str, rates: Rates) -> RateLimiter:
        limiter = PermitLimiter(rates, self.clock, request_now=self._wanted.set)
        self._limiters[model] = limiter
        return limiter
