"""The budget of a batch whose goals run in several processes: workers spend only what was allotted to them.

The sum of all allotments and of the workers' spending never exceeds the limit. Unused allotments are returned as soon
as another worker needs them.
"""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from goalwright.models.budget import Budget, WrittenOff
from goalwright_planner.model import Usage

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from goalwright.models.reservation import Call, Reservation
    from goalwright_planner.errors import BudgetSpent

    RequestBudget = Callable[["BudgetRequest"], Awaitable["BudgetGrant"]]

# A worker is allotted this part of its even share of what is left, so that it rarely has to ask.
_PART = 1 / 4


class Amount(NamedTuple):
    """Dollars and tokens."""

    cost: float = 0.0
    tokens: float = 0

    def plus(self, other: Amount) -> Amount:
        return Amount(self.cost + other.cost, self.tokens + other.tokens)

    def minus(self, other: Amount) -> Amount:
        return Amount(self.cost - other.cost, self.tokens - other.tokens)

    def at_least(self, other: Amount) -> Amount:
        """Return the larger value of each."""
        return Amount(max(self.cost, other.cost), max(self.tokens, other.tokens))

    def at_most(self, other: Amount) -> Amount:
        """Return the smaller value of each."""
        return Amount(min(self.cost, other.cost), min(self.tokens, other.tokens))

    def covers(self, other: Amount) -> bool:
        """Whether both values are at least the other's, except for rounding."""
        return self.cost >= other.cost - 1e-12 and self.tokens >= other.tokens


NOTHING = Amount()


@dataclass(frozen=True, slots=True)
class BudgetRequest:
    """A worker's report: its allotment, its spending, the amount held for running calls, and how much more it needs.

    Each is the sum since it started, so that a repeated or lost message changes nothing. `worker` is a name that no
    other process has or had.
    """

    worker: str
    allotted: Amount
    spent: Amount
    held: Amount = NOTHING
    wanted: Amount = NOTHING


@dataclass(frozen=True, slots=True)
class BudgetGrant:
    """A worker's total allotment; if it `is_pending`, others may return some. `total` is what all have spent."""

    allotted: Amount
    is_pending: bool = False
    is_tight: bool = False
    total: Amount = NOTHING


@dataclass(slots=True)
class SharedBudget:
    """Allots a budget to workers; it runs in one process, whose own `budget` it is."""

    budget: Budget
    _workers: dict[str, BudgetRequest] = field(default_factory=dict)
    _waiting: dict[str, None] = field(default_factory=dict)
    _gone: set[str] = field(default_factory=set)

    def grant(self, request: BudgetRequest) -> BudgetGrant:
        """Count a worker's spending and returns, and grant what it needs, if there is enough."""
        if request.worker in self._gone:  # it was considered dead, and its allotment was counted as spent
            return BudgetGrant(request.spent, total=self._total)
        before = self._workers.get(request.worker)
        self._count(request.spent.minus(before.spent if before is not None else NOTHING))
        self._note(request, request.allotted.at_least(request.spent))
        if request.wanted.cost <= 0 and request.wanted.tokens <= 0:
            self._waiting.pop(request.worker, None)
            return BudgetGrant(request.allotted, is_tight=bool(self._waiting), total=self._total)
        left = self._left()
        if left.covers(request.wanted) and next(iter(self._waiting), request.worker) == request.worker:
            return self._allot(request, self._grant_size(request.wanted, left))
        others = [other for other in self._workers.values() if other.worker != request.worker]
        if any(not other.spent.covers(other.allotted) for other in others) or request.held > (0.0, 0):
            self._waiting[request.worker] = None
            return BudgetGrant(request.allotted, is_pending=True, is_tight=True, total=self._total)
        # Nothing will be returned: it may take what is left, for a shorter answer or none.
        return self._allot(request, left.at_least(NOTHING).at_most(request.wanted))

    def lost(self, worker: str, spent: Amount | None = None) -> None:
        """Count a dead worker's recorded spending (`spent`) and running calls; if unknown, its whole allotment."""
        last = self._workers.pop(worker, None)
        self._waiting.pop(worker, None)
        self._gone.add(worker)
        if last is not None:
            taken = last.allotted if spent is None else last.spent.at_least(spent).plus(last.held)
            unreported = taken.at_least(last.spent).minus(last.spent)
            self._count(unreported)
            workers, cost, tokens = self.budget.written_off
            self.budget.written_off = WrittenOff(
                workers + (unreported != NOTHING), cost + unreported.cost, tokens + unreported.tokens
            )

    @property
    def _total(self) -> Amount:
        return Amount(self.budget.cost, self.budget.usage.tokens)

    def _count(self, more: Amount) -> None:
        self.budget.cost += max(more.cost, 0.0)
        self.budget.usage += Usage(0, max(int(more.tokens), 0), 0)

    def _note(self, request: BudgetRequest, allotted: Amount) -> None:
        self._workers[request.worker] = BudgetRequest(request.worker, allotted, request.spent, request.held)

    def _left(self) -> Amount:
        """Return what is neither spent nor allotted."""
        limit = Amount(
            math.inf if self.budget.max_cost is None else self.budget.max_cost,
            math.inf if self.budget.max_tokens is None else self.budget.max_tokens,
        )
        for worker in self._workers.values():
            limit = limit.minus(worker.allotted.minus(worker.spent))
        return limit.minus(self._total)

    def _grant_size(self, wanted: Amount, left: Amount) -> Amount:
        """Return the needed amount, or more if there is plenty."""
        if self._waiting:
            return wanted
        part = _PART / len(self._workers)
        plenty = Amount(*(size * part if size < math.inf else 0.0 for size in left))
        return wanted.at_least(Amount(plenty.cost, int(plenty.tokens)))

    def _allot(self, request: BudgetRequest, more: Amount) -> BudgetGrant:
        self._waiting.pop(request.worker, None)
        allotted = request.allotted.at_least(request.spent).plus(more)
        self._note(request, allotted)
        if not more.covers(request.wanted):
            self.budget.stop()
        return BudgetGrant(allotted, is_tight=bool(self._waiting), total=self._total)


# Seconds between two reports, and between two requests while others hold what is lacking.
_EVERY = 1.0
_AGAIN = 0.25
_PATIENCE = 5.0
_TRIES = 10


@dataclass(slots=True)
class WorkerBudget(Budget):
    """A worker's budget: it starts empty and grows by grants; `limit_cost` and `limit_tokens` are the batch's."""

    worker: str = ""
    request: RequestBudget | None = None
    limit_cost: float | None = None
    limit_tokens: int | None = None
    _total: Amount = NOTHING
    _final: bool = False
    _requesting: asyncio.Lock | None = None

    def __post_init__(self) -> None:
        Budget.__post_init__(self)
        self.max_cost = None if self.limit_cost is None else 0.0
        self.max_tokens = None if self.limit_tokens is None else 0
        self._requesting = asyncio.Lock()

    def check(self) -> None:
        """Raise BudgetSpent if nothing more can be allotted; a used allotment alone is not the end."""
        if self._stopped is not None:
            raise self._spent(self._stopped)

    async def run(self) -> None:
        """Report the spending until cancelled, and return what is not needed."""
        while self.limited:
            await asyncio.sleep(_EVERY)
            grant = await self._exchange(NOTHING)
            if grant is not None and grant.is_tight:
                await self._give_back()

    async def close(self) -> None:
        """Return everything and report the spending, once no call is running."""
        for _ in range(_TRIES if self.limited else 0):
            if await self._give_back() is not None:
                return
            await asyncio.sleep(_AGAIN)

    async def _try(self, call: Call) -> Reservation | None:
        """Return a reservation, with a larger allotment if one is needed and available."""
        while self._stopped is None and not self._fits(call.usual()):
            if not call.is_counted:
                await asyncio.to_thread(call.count)
                continue
            if not await self._request_more(call.usual()):
                break
        return await Budget._try(self, call)

    async def _request_more(self, wanted: Reservation) -> bool:
        """Request what a call lacks; returns whether to check again, else the present allotment must do."""
        left = Amount(*self._left())
        lacking = Amount(wanted.cost, wanted.tokens).minus(left).at_least(NOTHING)
        grant = await self._exchange(Amount(lacking.cost if self.max_cost is not None else 0.0, lacking.tokens))
        if grant is None or grant.is_pending:
            await self._give_back()  # two workers that wait for each other would deadlock
            await asyncio.sleep(_AGAIN)
            return True
        self._final = not Amount(*self._left()).covers(Amount(wanted.cost, wanted.tokens))
        return not self._final

    def _is_spent(self) -> bool:
        return self._final and Budget._is_spent(self)

    async def _give_back(self) -> BudgetGrant | None:
        return await self._exchange(NOTHING, spare=True)

    async def _exchange(self, wanted: Amount, *, spare: bool = False) -> BudgetGrant | None:
        """Send one message and apply its answer; None if there was none. `spare` returns what is free."""
        assert self.request is not None  # noqa: S101 - every worker has one
        assert self._requesting is not None  # noqa: S101 - set in __post_init__
        async with self._requesting:
            if spare:  # only now: the answer to an earlier message would undo it
                self._allow(self._allotted().at_most(self._spending().plus(self._held())))
            message = BudgetRequest(self.worker, self._allotted(), self._spending(), self._held(), wanted)
            try:
                async with asyncio.timeout(_PATIENCE):
                    grant = await self.request(message)
            except Exception:  # noqa: BLE001 - the transport has its own errors; the request is repeated
                return None
            self._total = grant.total
            self._allow(grant.allotted)
        return grant

    def _allow(self, allotted: Amount) -> None:
        self.max_cost = None if self.max_cost is None else allotted.cost
        self.max_tokens = None if self.max_tokens is None else int(allotted.tokens)

    def _allotted(self) -> Amount:
        return Amount(self.max_cost or 0.0, self.max_tokens or 0)

    def _spending(self) -> Amount:
        cost = self.cost if self.max_cost is not None else 0.0
        return Amount(cost, self.usage.tokens if self.max_tokens is not None else 0)

    def _held(self) -> Amount:
        cost = sum(reservation.cost for reservation in self._reserved)
        tokens = sum(reservation.tokens for reservation in self._reserved)
        return Amount(cost if self.max_cost is not None else 0.0, tokens if self.max_tokens is not None else 0)

    def _spent(self, reason: str) -> BudgetSpent:
        """Return the error, with the spending of the whole batch."""
        whole = Budget(self.limit_cost, self.limit_tokens, _needed=self._needed)
        whole.cost, whole.usage = self._total.cost, Usage(0, int(self._total.tokens), 0)
        return Budget._spent(whole, reason)
