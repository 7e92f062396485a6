"""The limiter that all workers of a batch share.

It lives in one process; workers reach it by messages, whatever carries them. If it dies, it starts again knowing
nothing, and stays closed until every call that it forgot lies a minute back.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import uuid4

from weft.batch.limits.shared.dealing import Dealing
from weft.batch.limits.shared.messages import LIFE, Allotment

if TYPE_CHECKING:
    from collections.abc import Callable

    from weft.batch.limits.rate_limiter import Rates
    from weft.batch.limits.shared.messages import Ask

# What rpm and tpm are counted over.
WINDOW = 60.0


@dataclass(slots=True)
class Limiter:
    """Deals out calls to workers; `rates` are those of the whole batch, `max_calls` of all workers together."""

    rates: Rates
    clock: Callable[[], float] = time.monotonic
    restarted: bool = False
    id: str = field(default_factory=lambda: uuid4().hex)
    _models: dict[str, Dealing] = field(default_factory=dict)
    _started: float = field(init=False)

    def __post_init__(self) -> None:
        self._started = self.clock()

    def ask(self, ask: Ask) -> Allotment:
        """Take note of a worker's message, and deal it what it may use."""
        # A worker that knows another limiter has made calls that this one has not heard of.
        self.restarted = self.restarted or ask.limiter not in ("", self.id)
        now, models = self.clock(), {}
        for name, asked in ask.models.items():
            dealing = self._models.get(name)
            if dealing is None:
                dealing = self._models[name] = Dealing.of(self.rates, self.clock)
            if self.restarted:
                dealing.state.opens_at = max(dealing.state.opens_at, self._started + self._closed_for)
            models[name] = dealing.answer(ask.worker, ask.slots, asked, now)
        return Allotment(self.id, now, models)

    @property
    def _closed_for(self) -> float:
        return WINDOW if self.rates.rpm or self.rates.tpm else LIFE
