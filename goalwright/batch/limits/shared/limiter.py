"""The limiter that all workers of a batch share.

It lives in one process; workers reach it by messages, whatever carries them. If it dies, it starts again knowing
nothing, and stays closed until every call that it forgot lies a minute back.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from uuid import uuid4

from goalwright.batch.limits.shared.messages import LIFE, LimiterGrant
from goalwright.batch.limits.shared.permits import PermitScheduler

if TYPE_CHECKING:
    from collections.abc import Callable

    from goalwright.batch.limits.rate_limiter import Rates
    from goalwright.batch.limits.shared.messages import LimiterRequest

# What rpm and tpm are counted over.
WINDOW = 60.0


@dataclass(slots=True)
class Limiter:
    """Grants calls to workers; `rates` are those of the whole batch, `max_calls` of all workers together."""

    rates: Rates
    clock: Callable[[], float] = time.monotonic
    restarted: bool = False
    id: str = field(default_factory=lambda: uuid4().hex)
    _models: dict[str, PermitScheduler] = field(default_factory=dict)
    _started: float = field(init=False)

    def __post_init__(self) -> None:
        self._started = self.clock()

    def grant(self, request: LimiterRequest) -> LimiterGrant:
        """Take note of a worker's message, and grant it what it may use."""
        # A worker that knows another limiter has made calls that this one has not heard of.
        self.restarted = self.restarted or request.limiter not in ("", self.id)
        now, models = self.clock(), {}
        for name, said in request.models.items():
            # What another limiter issued has times of its clock, which here may lie hours ahead.
            asked = said if request.limiter == self.id else replace(said, returned=(), returned_tokens=0.0)
            permits = self._models.get(name)
            if permits is None:
                permits = self._models[name] = PermitScheduler.of(self.rates, self.clock)
            if self.restarted:
                permits.state.opens_at = max(permits.state.opens_at, self._started + self._closed_for)
            models[name] = permits.grant(request.worker, request.slots, asked, now)
        return LimiterGrant(self.id, now, models)

    @property
    def _closed_for(self) -> float:
        return WINDOW if self.rates.rpm or self.rates.tpm else LIFE
