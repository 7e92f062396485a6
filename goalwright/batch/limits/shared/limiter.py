"""The limiter that all workers of a batch share.

It runs in one process, and workers reach it by messages. Each call of a model has its own time, a minute divided by rpm
after the one before, and is made within `LATE` seconds after it, by one worker or none. So no minute has more calls
than rpm, whatever the workers do and however many die. If the limiter dies, it restarts without state and stays closed
until every call that it forgot is a minute old.
"""

from __future__ import annotations

import heapq
import math
import time
from collections import OrderedDict, deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from uuid import uuid4

from goalwright.batch.limits.rate_limiter import RateLimiter
from goalwright.batch.limits.shared.messages import AHEAD, LATE, LIFE, LimiterGrant, ModelGrant

if TYPE_CHECKING:
    from collections.abc import Callable

    from goalwright.batch.limits.rate_limiter import Rates
    from goalwright.batch.limits.shared.messages import LimiterRequest, ModelRequest

# A returned permit is issued again only if this much of its time is left.
_WORTHWHILE = 0.1


@dataclass(slots=True)
class _Worker:
    """The state of a worker: its demand, its grants, and permits that it has not received yet."""

    seen: float = 0.0
    slots: int = 0
    running: int = 0
    demand: int = 0
    at_once: int = 0
    held: float = 0.0
    wanted: deque[int] = field(default_factory=deque)
    issued: list[tuple[float, int]] = field(default_factory=list)


@dataclass(slots=True)
class PermitScheduler:
    """Schedules the calls of one model; the worker that gets the next permit is first."""

    state: RateLimiter
    workers: OrderedDict[str, _Worker] = field(default_factory=OrderedDict)
    _returned: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, rates: Rates, clock: Callable[[], float]) -> PermitScheduler:
        """Return the scheduler of a model without any calls yet."""
        return cls(RateLimiter(rates, clock))

    def grant(self, name: str, slots: int, request: ModelRequest, now: float) -> ModelGrant:
        """Take a worker's report on this model, and grant it what it may use."""
        self._forget_dead(now)
        worker = self.workers.setdefault(name, _Worker())
        worker.seen, worker.slots, worker.running = now, slots, request.running
        worker.demand, worker.held = min(request.demand, slots), request.held
        self.state.refill(now)
        self._take_report(request)
        worker.wanted = deque(request.wanted[len(worker.issued) :])
        worker.at_once = self._at_once(name, now)
        self._issue(now)
        starts, tokens = self._collect(worker, now)
        state = self.state
        tried = state.is_down and any(other.at_once for key, other in self.workers.items() if key != name)
        return ModelGrant(
            worker.at_once, starts, tokens, state.limit, state.opens_at - now, state.failures, state.unknown, tried
        )

    def _take_report(self, request: ModelRequest) -> None:
        state = self.state
        for start in request.returned:
            heapq.heappush(self._returned, start)
        state.tokens += request.returned_tokens
        for outcome in request.outcomes:
            if (error := outcome.error) is None:
                state.succeeded(outcome.tokens, outcome.used)
            else:
                state.failed(error, outcome.tokens)

    def _forget_dead(self, now: float) -> None:
        """Reclaim the permits of workers that were silent for a second."""
        for name, worker in list(self.workers.items()):
            if now - worker.seen > LIFE:
                del self.workers[name]
                self.state.tokens += worker.held + sum(tokens for _, tokens in worker.issued)
                for start, _ in worker.issued:
                    heapq.heappush(self._returned, start)

    def _issue(self, now: float) -> None:
        """Issue permits for the near future, one at a time to each worker that needs some and may make a call."""
        while (first := self._first_to_get()) is not None and (start := self._next_start(now)) is not None:
            name, worker, tokens = first
            self.state.tokens -= tokens
            worker.wanted.popleft()
            worker.issued.append((start, tokens))
            self.workers.move_to_end(name)

    def _first_to_get(self) -> tuple[str, _Worker, int] | None:
        """Return the worker that gets the next permit, with its tokens; it must have a free slot."""
        tpm = self.state.rates.tpm
        for name, worker in self.workers.items():
            if not worker.wanted:
                continue
            tokens = int(min(worker.wanted[0], tpm)) if tpm else 0
            # No call overtakes one that lacks tokens, or a large one would never get them.
            if tpm and tokens > self.state.tokens + 1e-6:
                return None
            if worker.at_once:
                return name, worker, tokens
        return None

    def _next_start(self, now: float) -> float | None:
        """Return the time of the next call; None if it is too far ahead."""
        state = self.state
        opens = max(now, state.opens_at)
        while self._returned:
            start = heapq.heappop(self._returned)
            if opens + _WORTHWHILE < start + LATE:
                return start
        start = max(state.next_call, opens)
        if start > now + AHEAD:
            return None
        if state.rates.rpm:
            # A call may be late, so leave room for the ones that slip into the next minute.
            state.next_call = start + (60.0 + LATE) / state.rates.rpm
        return start

    def _at_once(self, name: str, now: float) -> int:
        """Return how many calls a worker may make at a time: its demand, less while providers are overloaded."""
        total = 1 if self.state.is_down else max(int(self.state.limit), 1)
        if self.state.opens_at - now > AHEAD:
            return 0
        demands = {key: worker.demand for key, worker in self.workers.items()}
        demanded = sum(demands.values())
        worker = self.workers[name]
        if demanded <= total:
            fair = worker.demand + (total - demanded) // len(demands)
        else:
            fair = total * worker.demand // demanded
            left = total - sum(total * demand // demanded for demand in demands.values())
            # The remainder rotates, so that no worker starves.
            order = sorted(key for key, demand in demands.items() if demand)
            turn = order.index(name) - int(now / LIFE) if name in order else 0
            fair += name in order and turn % len(order) < left
        taken = sum(max(other.at_once, other.running) for key, other in self.workers.items() if key != name)
        return max(0, min(fair, worker.slots, total - taken))

    def _collect(self, worker: _Worker, now: float) -> tuple[tuple[float, ...], float]:
        """Return the permits issued to a worker since its last message; unusable ones go to others."""
        useful = [(start, tokens) for start, tokens in worker.issued if start + LATE > now and worker.at_once]
        self.state.tokens += sum(tokens for _, tokens in worker.issued) - sum(tokens for _, tokens in useful)
        if not worker.at_once:
            self._returned.extend(start for start, _ in worker.issued)
            heapq.heapify(self._returned)
        worker.issued.clear()
        tokens = math.fsum(tokens for _, tokens in useful)
        worker.held += tokens
        return tuple(sorted(start for start, _ in useful)), tokens


# Seconds over which rpm and tpm are counted.
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
        """Take a worker's report, and grant it what it may use."""
        # A worker that knows another limiter has made calls that this one does not know.
        self.restarted = self.restarted or request.limiter not in ("", self.id)
        now, models = self.clock(), {}
        for name, report in request.models.items():
            # Permits of another limiter have times of its clock, which may be hours ahead of this one.
            if request.limiter != self.id:
                report = replace(report, returned=(), returned_tokens=0.0)
            permits = self._models.get(name)
            if permits is None:
                permits = self._models[name] = PermitScheduler.of(self.rates, self.clock)
            if self.restarted:
                permits.state.opens_at = max(permits.state.opens_at, self._started + self._closed_for)
            models[name] = permits.grant(request.worker, request.slots, report, now)
        return LimiterGrant(self.id, now, models)

    @property
    def _closed_for(self) -> float:
        return WINDOW if self.rates.rpm or self.rates.tpm else LIFE
