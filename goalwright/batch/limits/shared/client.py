"""A worker's side of the shared limiter: rate limiters that are filled with the permits it grants.

calls wait or are expected → the limiter is asked, four times a second at most while nothing changes → its permits
are used by the next calls, within a second
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

# Between two messages, however much happens.
_LEAST = 0.02
# A call is not asked for earlier than it is expected within this time.
_SOON = 0.5
_MOST_ASKED = 200


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
        """Seconds until a call may be made; infinite until the limiter grants one or another call ends."""
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
        """A call starts, with the permit for it."""
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
        """A call was answered: the limiter hears of it with the next message."""
        RateLimiter.succeeded(self, tokens, used)
        self._outcomes.append(CallOutcome(self._charged(tokens), used))

    def failed(self, error: ModelError, tokens: int) -> None:
        """A call failed: this worker pauses at once, the others as soon as the limiter has told them."""
        RateLimiter.failed(self, error, tokens)
        self._outcomes.append(CallOutcome.of(error, self._charged(tokens)))
        self.refused += isinstance(error, RateLimited)
        self.request_now()

    @property
    def is_busy(self) -> bool:
        """Whether there is anything to tell the limiter, or to ask it for."""
        return bool(self.running or self._outcomes or self._starts or self._held or self._recent(self.clock()))

    def message(self, waiting: Sequence[int], free: int) -> ModelRequest:
        """What to tell the limiter: calls that wait and that are expected soon, less what is held for them.

        `free` is how many more calls the worker could make now.
        """
        now = self.clock()
        self._drop_late(now)
        recent = self._recent(now)
        usable = max(0, free) + len(self._left) + 1
        expected = [sum(recent) // len(recent)] * len(recent) if recent else []
        sizes = [self._charged(size) for size in [*waiting, *expected][: min(usable, _MOST_ASKED)]]
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
        """Use a grant that was requested at `sent`; `now` is the limiter's clock, `reported` the outcomes it heard of.

        A grant counts from when it was requested, so that it never counts longer than at the limiter.
        """
        here = self.clock()
        del self._outcomes[:reported]
        self._at_once, self._until = grant.at_once, sent + LIFE
        # Not before its time, however late the answer came, and never later than the limiter reckons with.
        added = [(here + start - now, sent + start - now + LATE, start) for start in grant.starts]
        self._starts = deque(sorted([*self._starts, *added]))
        self._held += grant.tokens
        if not self._outcomes:
            self.limit = min(grant.limit, float(self.rates.max_calls))
            self.failures, self.unknown = grant.failures, grant.unknown
            self._probing = grant.is_tried or (self.is_down and self.running > 0)
            self.opens_at = here + grant.opens_in if grant.opens_in > 0 else 0.0

    def _charged(self, tokens: int) -> int:
        """What a call takes of the tokens: no more than there can be."""
        return int(min(tokens, self.rates.tpm)) if self.rates.tpm else tokens

    def _recent(self, now: float) -> list[int]:
        """The tokens of the calls made in the last moment: as many are expected in the next."""
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
    """Keeps a worker's limiters filled; `request` carries a message to the limiter and brings its answer.

    `rates` are the batch's, but for `max_calls`: the calls that this worker makes at a time.
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
        """How many calls providers refused since this was last asked."""
        count = sum(limiter.refused for limiter in self._limiters.values())
        for limiter in self._limiters.values():
            limiter.refused = 0
        return count

    async def run(self) -> None:
        """Talk to the limiter until cancelled; while it is away no call is made, and its answers are waited for."""
        while True:
            # Never for longer: a call that comes just after a message asks for none, and would not be noticed.
            with suppress(TimeoutError):
                async with asyncio.timeout(EVERY):
                    await self._wanted.wait()
            if self._wanted.is_set() or self._is_busy():
                self._wanted.clear()
                await self.exchange()
                await asyncio.sleep(_LEAST)

    def _is_busy(self) -> bool:
        """Whether there is anything to say to the limiter; an idle worker sends nothing."""
        queue = self.limits.queue
        return any(limiter.is_busy or queue.waiting(limiter, 1) for limiter in self._limiters.values())

    async def exchange(self) -> None:
        """Send one message and use its answer."""
        queue, sent = self.limits.queue, self.clock()
        free = queue.most - queue.running
        models = {
            name: limiter.message(queue.waiting(limiter, _MOST_ASKED), free) for name, limiter in self._limiters.items()
        }
        try:
            async with asyncio.timeout(LIFE):
                grant = await self.request(LimiterRequest(self.worker, queue.most, models, self._limiter))
        except Exception:  # noqa: BLE001 - whatever carries messages has errors of its own; the limiter starts again
            self.failures += 1
            self._wanted.set()
            await asyncio.sleep(EVERY)
            return
        self._limiter = grant.limiter
        for name, permits in grant.models.items():
            self._limiters[name].take(permits, sent, grant.now, len(models[name].outcomes))
        queue.look()

    def _make(self, model: str, rates: Rates) -> RateLimiter:
        made = PermitLimiter(rates, self.clock, request_now=self._wanted.set)
        self._limiters[model] = made
        return made
