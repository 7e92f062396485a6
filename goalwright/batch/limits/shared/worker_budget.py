"""A worker's side of a batch's budget: it spends what was allotted to it, and asks for more when that is short."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goalwright.batch.limits.shared.budget import NOTHING, Amount, BudgetRequest
from goalwright.models.budget import Budget
from goalwright_planner.model import Usage

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from goalwright.batch.limits.shared.budget import BudgetGrant
    from goalwright.models.reservation import Call, Reservation
    from goalwright_planner.errors import BudgetSpent

    RequestBudget = Callable[[BudgetRequest], Awaitable[BudgetGrant]]

# Seconds between two reports, and between two questions while others hold what is lacking.
_EVERY = 1.0
_AGAIN = 0.25
_PATIENCE = 5.0
_TRIES = 10


@dataclass(slots=True)
class WorkerBudget(Budget):
    """A budget that starts empty and grows by what `request` gets; `limit_cost` and `limit_tokens` are the batch's."""

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
        """Raise BudgetSpent if nothing more is allotted: an allotment that is used up is not the end."""
        if self._stopped is not None:
            raise self._spent(self._stopped)

    async def run(self) -> None:
        """Report what was spent until cancelled, and give back what is not needed."""
        while self.limited:
            await asyncio.sleep(_EVERY)
            grant = await self._exchange(NOTHING)
            if grant is not None and grant.is_tight:
                await self._give_back()

    async def close(self) -> None:
        """Give everything back and say what was spent, once no call is under way."""
        for _ in range(_TRIES if self.limited else 0):
            if await self._give_back() is not None:
                return
            await asyncio.sleep(_AGAIN)

    async def _try(self, call: Call) -> Reservation | None:
        """The reservation, with more allotted for it if that is needed and there is any."""
        while self._stopped is None and not self._fits(call.usual()):
            if not call.is_counted:
                await asyncio.to_thread(call.count)
                continue
            if not await self._request_more(call.usual()):
                break
        return await Budget._try(self, call)

    async def _request_more(self, wanted: Reservation) -> bool:
        """LimiterRequest for what a call lacks; whether to look again, else what there is must do."""
        left = Amount(*self._left())
        lacking = Amount(wanted.cost, wanted.tokens).minus(left).at_least(NOTHING)
        grant = await self._exchange(Amount(lacking.cost if self.max_cost is not None else 0.0, lacking.tokens))
        if grant is None or grant.is_pending:
            await self._give_back()  # two who wait for each other's rest would wait for ever
            await asyncio.sleep(_AGAIN)
            return True
        self._final = not Amount(*self._left()).covers(Amount(wanted.cost, wanted.tokens))
        return not self._final

    def _is_spent(self) -> bool:
        return self._final and Budget._is_spent(self)

    async def _give_back(self) -> BudgetGrant | None:
        return await self._exchange(NOTHING, spare=True)

    async def _exchange(self, wanted: Amount, *, spare: bool = False) -> BudgetGrant | None:
        """One message and its answer; None if there was none, which changes nothing. `spare` returns what is free."""
        assert self.request is not None  # noqa: S101 - a worker has one
        assert self._requesting is not None  # noqa: S101 - made at the start
        async with self._requesting:
            if spare:  # not before: the answer to another message would undo it
                self._allow(self._allotted().at_most(self._spending().plus(self._held())))
            message = BudgetRequest(self.worker, self._allotted(), self._spending(), self._held(), wanted)
            try:
                async with asyncio.timeout(_PATIENCE):
                    grant = await self.request(message)
            except Exception:  # noqa: BLE001 - whatever carries messages has errors of its own; it is asked again
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
        """The error, with what the whole batch has spent."""
        whole = Budget(self.limit_cost, self.limit_tokens, _needed=self._needed)
        whole.cost, whole.usage = self._total.cost, Usage(0, int(self._total.tokens), 0)
        return Budget._spent(whole, reason)
