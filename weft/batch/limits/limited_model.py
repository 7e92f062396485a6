"""A model whose calls go through the batch's traffic.

a call waits for its turn, for room and for its model's gate  →  it is made  →  its outcome widens or narrows the gate
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from planner.errors import ModelError, Transient
from weft.batch.limits.call_queue import CallQueue, CallRequest
from weft.batch.limits.rate_limiter import RateLimiter, Rates

if TYPE_CHECKING:
    from planner.model import Model, Reply, Request

# How long a call waits out an outage on its own, so that no goal spends its attempts on a provider that is down.
_OUTAGE = 900.0
_CHARACTERS_A_TOKEN = 4
_EXPECTED_ANSWER = 300


@dataclass(slots=True)
class CallLimits:
    """The pool and the gates that all goals of a batch share."""

    rates: Rates
    queue: CallQueue = field(init=False)
    limiters: dict[str, RateLimiter] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.queue = CallQueue(self.rates.max_calls)

    def limiter(self, model: str) -> RateLimiter:
        """The gate of a model."""
        return self.limiters.setdefault(model, RateLimiter(self.rates))

    @property
    def limit(self) -> int:
        """Calls that may be under way now, which are fewer where providers have too much to do."""
        most = self.rates.max_calls
        return min(sum(int(limiter.limit) for limiter in self.limiters.values()) or most, most)

    def around(self, model: Model, owner: str, patience: float = math.inf) -> LimitedModel:
        """The model as one goal of the batch uses it; with another to turn to, it waits no longer than its patience."""
        return LimitedModel(model, self, owner, patience)


@dataclass(frozen=True, slots=True)
class LimitedModel:
    """Waits for its turn before every call, and tells the gate how the call went."""

    model: Model
    limits: CallLimits
    owner: str
    patience: float = math.inf

    @property
    def name(self) -> str:
        """The name of the model itself."""
        return self.model.name

    async def complete(self, request: Request) -> Reply:
        """Answer the request when it is its turn; an outage is waited out without counting as an attempt."""
        limiter, expected = self.limits.limiter(self.name), _estimate(request)
        give_up = time.monotonic() + min(_OUTAGE, self.patience)
        turn = CallRequest(limiter, self.name, expected, self.patience)
        while True:
            async with self.limits.queue.turn(self.owner, turn):
                try:
                    reply = await self.model.complete(request)
                except ModelError as error:
                    limiter.went_wrong(error, expected)
                    if not (isinstance(error, Transient) and limiter.is_down and time.monotonic() < give_up):
                        raise
                else:
                    limiter.went_well(expected, reply.usage.tokens)
                    return reply


def _estimate(request: Request) -> int:
    """About how many tokens a call takes, before it is made."""
    characters = sum(len(message.content) for message in request.messages)
    return characters // _CHARACTERS_A_TOKEN + _EXPECTED_ANSWER
