"""A model whose calls respect the limits of the batch.

A call waits for its turn, a slot and its model's limiter; its outcome then loosens or tightens the limiter.
"""

from __future__ import annotations

import math
import time
from collections import Counter, OrderedDict
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from goalwright.batch.engine import ModelPause, Pace
from goalwright.batch.limits.call_queue import CallQueue, CallRequest
from goalwright.batch.limits.rate_limiter import RateLimiter, Rates
from goalwright.settings.default_model import is_local
from goalwright_planner.errors import ModelError, Overloaded, Transient
from goalwright_planner.model import estimated_tokens
from goalwright_planner.wrapped_model import WrappedModel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from goalwright_planner.model import Model, Reply, Request

# A goal without a call for this many seconds is busy with something else, such as a tool, and needs no slot soon.
_SOON = 1.0
# One extra goal for every this many slots, so that no slot idles during a goal's own work.
_SPARE = 8
# The most goals at a time for each slot, however rarely they call, because each takes memory.
_GOALS_PER_SLOT = 4


@dataclass(slots=True)
class Demand:
    """The running goals, and the calls that they make or wait for; decides whether another goal starts."""

    clock: Callable[[], float] = time.monotonic
    calls: int = 0
    _calls_of: Counter[str] = field(default_factory=Counter)
    _between_calls: OrderedDict[str, float] = field(default_factory=OrderedDict)
    _goals: set[str] = field(default_factory=set)

    @contextmanager
    def goal(self, name: str) -> Iterator[None]:
        """A goal runs within the block."""
        self._goals.add(name)
        self._between_calls[name] = self.clock()
        try:
            yield
        finally:
            self._goals.discard(name)
            self._between_calls.pop(name, None)

    @contextmanager
    def call(self, goal: str) -> Iterator[None]:
        """A goal makes a call, or waits for its turn, within the block."""
        self.calls += 1
        self._calls_of[goal] += 1
        self._between_calls.pop(goal, None)
        try:
            yield
        finally:
            self.calls -= 1
            self._calls_of[goal] -= 1
            if not self._calls_of[goal]:
                del self._calls_of[goal]
                if goal in self._goals:
                    self._between_calls[goal] = self.clock()

    def has_room(self, slots: int, running: int) -> bool:
        """Whether a slot would soon be idle without another goal; some of the `running` may not have started yet."""
        now = self.clock()
        while self._between_calls and now - next(iter(self._between_calls.values())) > _SOON:
            self._between_calls.popitem(last=False)
        starting = running - len(self._goals)
        demand = self.calls + len(self._between_calls) + starting
        return running < _GOALS_PER_SLOT * slots and demand < slots + max(slots // _SPARE, 1)


# Seconds that a call waits for a provider that is down, without using up the goal's attempts.
_OUTAGE = 900.0
_EXPECTED_ANSWER = 300


@dataclass(slots=True)
class CallLimits:
    """The call queue and the rate limiters that all goals of a batch share, and the demand of the goals.

    `make` creates the limiter of a remote model; the embedded one always has a local limiter.
    """

    rates: Rates
    make: Callable[[str, Rates], RateLimiter] = lambda _, rates: RateLimiter(rates)
    queue: CallQueue = field(init=False)
    demand: Demand = field(default_factory=Demand)
    limiters: dict[str, RateLimiter] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.queue = CallQueue(self.rates.max_calls)

    def limiter(self, model: str) -> RateLimiter:
        """Return the limiter of a model; the embedded one answers few calls at a time."""
        limiter = self.limiters.get(model)
        if limiter is None:
            rates = replace(self.rates, max_calls=int(min(_slots_of(model), self.rates.max_calls)))
            limiter = self.limiters[model] = RateLimiter(rates) if is_local(model) else self.make(model, rates)
        return limiter

    @property
    def limit(self) -> int:
        """The number of calls that may run at a time now; lower while providers are overloaded."""
        most = self.rates.max_calls
        return min(sum(int(limiter.limit) for limiter in self.limiters.values()) or most, most)

    def pace(self, now: float | None = None) -> Pace:
        """Return the current state of the calls."""
        now = time.monotonic() if now is None else now
        pauses = [ModelPause(name, limiter.opens_at - now, limiter.is_down) for name, limiter in self.limiters.items()]
        active = tuple(pause for pause in pauses if pause.seconds > 0)
        return Pace(self.queue.running, self.queue.most, self.limit, active)

    def around(self, model: Model, owner: str, patience: float = math.inf) -> LimitedModel:
        """Wrap a model for one goal; with a fallback behind it, it waits no longer than its patience."""
        return LimitedModel(model, self, owner, patience)


@dataclass(frozen=True, slots=True)
class LimitedModel(WrappedModel):
    """Waits for its turn before every call, and reports the outcome to the limiter."""

    limits: CallLimits
    owner: str
    patience: float = math.inf

    async def complete(self, request: Request) -> Reply:
        """Answer the request in its turn; waiting for a provider that is down does not count as an attempt."""
        limiter = self.limits.limiter(self.name)
        turn = CallRequest(limiter, self.name, _estimate(request), self.patience)
        give_up = time.monotonic() + min(_OUTAGE, self.patience)
        with self.limits.demand.call(self.owner):
            while True:
                async with self.limits.queue.turn(self.owner, turn):
                    try:
                        reply = await self.model.complete(request)
                    except ModelError as error:
                        limiter.failed(error, turn.tokens)
                        if not (isinstance(error, Transient) and limiter.is_down and time.monotonic() < give_up):
                            raise
                        if error.usage.calls:  # it was sent and may cost something: check the budget before retrying
                            raise _as_outage(error) from error
                    else:
                        limiter.succeeded(turn.tokens, reply.usage.tokens)
                        return reply


def _as_outage(error: ModelError) -> Overloaded:
    """Return the error of an attempt lost to a provider that is down, which does not count as an attempt."""
    outage = Overloaded(error.message, hint=error.hint, model=error.model)
    outage.usage, outage.cost = error.usage, error.cost
    return outage


def _estimate(request: Request) -> int:
    """Estimate the tokens of a call."""
    return estimated_tokens(request.messages) + _EXPECTED_ANSWER


def _slots_of(model: str) -> float:
    """Return how many calls a model can answer at a time; providers report overload themselves."""
    if not is_local(model):
        return math.inf
    from goalwright.models.local.serving.server import SLOTS

    return SLOTS
