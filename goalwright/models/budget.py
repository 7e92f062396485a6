"""A run's limits on cost and tokens: what a call may take is reserved before it leaves, and settled after it.

no room while other calls are under way: wait for them → none left: BudgetSpent → else the call goes, its answer no
longer than what is left pays for → what it really took is counted
"""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from goalwright.models.litellm.estimates import sound
from goalwright.models.litellm.prices import ASSUMED_PRICE, Price, PriceList, is_cost
from goalwright.models.metered import Spent, spent_by
from goalwright.models.reservation import Call, Reservation
from goalwright.models.unpriced import unpriced
from goalwright_planner.errors import BudgetSpent, ModelError
from goalwright_planner.events import CallBroken, Warned
from goalwright_planner.model import Usage
from goalwright_planner.plan.task_id import parent_of
from goalwright_planner.wrapped_model import WrappedModel
from goalwright_skills.errors import GoalwrightError
from goalwright_skills.text.money import dollars, plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from goalwright_planner.events import Record
    from goalwright_planner.model import Reply, Request

__all__ = ["ASSUMED_PRICE", "Budget", "BudgetedModel", "WrittenOff"]

_ASSUMED = f"${ASSUMED_PRICE * 1e6:g} per million"
# An answer shorter than this is of no use to anyone.
_LEAST_OUTPUT = 16
# So many calls at once must be paid for before more go out than have kept to their reservations so far.
_PLENTY = 16


class WrittenOff(NamedTuple):
    """What counts as spent because nobody can say otherwise: the allotments of workers that died."""

    workers: int = 0
    cost: float = 0.0
    tokens: float = 0


@dataclass(slots=True)
class Budget:
    """The limits of a run, what it has spent so far, and what the calls under way may still take.

    A model of unknown price is refused if there is a limit on cost, unless it `assumes` a price for it.
    """

    max_cost: float | None = None
    max_tokens: int | None = None
    cost: float = 0.0
    usage: Usage = field(default_factory=Usage)
    price_of: Callable[[str], Price] = field(default_factory=PriceList)
    assumes: bool = False
    written_off: WrittenOff = field(default_factory=WrittenOff)
    _shares: dict[str, Budget] = field(default_factory=dict)
    _reserved: set[Reservation] = field(default_factory=set)
    _kept: int = 0
    _broken: bool = False
    _stopped: str | None = None
    _needed: Reservation = field(default_factory=Reservation)
    _said: set[str] = field(default_factory=set)
    _prices: dict[str, Price] = field(default_factory=dict)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _settled: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        # An imported record may claim what cannot be.
        self.cost, self.usage = self.cost if self.cost > 0 else 0.0, sound(self.usage)

    @property
    def limited(self) -> bool:
        """Whether there is a limit at all."""
        return self.max_cost is not None or self.max_tokens is not None

    def share(self, task: str, max_cost: float, spent: float) -> None:
        """Let the calls of a task, and of all its parts, cost this much at most, with what is spent already."""
        if task not in self._shares:
            self._shares[task] = Budget(max_cost, cost=spent, price_of=self.price_of, assumes=True, _said=self._said)

    def shares_of(self, task: str | None) -> list[tuple[str, Budget]]:
        """The limits on a task and on those that it is a part of, the closest first, each with its task."""
        shares = []
        while task is not None and self._shares:
            if task in self._shares:
                shares.append((task, self._shares[task]))
            task = parent_of(task)
        return shares

    def check(self) -> None:
        """Raise BudgetSpent if a limit is reached, or a call did not fit any more."""
        if self._stopped is not None or self._is_spent():
            raise self._spent(self._stopped or "")

    def stop(self, why: str = "") -> None:
        """Let no further call go, whatever is left: none fits."""
        self._stopped = self._stopped or why

    def left_text(self) -> str:
        """What may still be spent, for a prompt; empty if there is no limit."""
        parts = []
        if self.max_cost is not None:
            parts.append(f"{dollars(max(self.max_cost - self.cost, 0.0))} of ${plain(self.max_cost)}")
        if self.max_tokens is not None:
            parts.append(f"{max(self.max_tokens - self.usage.tokens, 0):,} of {self.max_tokens:,} tokens")
        return " and ".join(parts)

    async def reserve(self, request: Request, name: str) -> Reservation:
        """Set aside what a call of a model may take, once there is room for it."""
        if not self.limited:
            return Reservation()
        price = await self._price(name)
        if not price.is_known and self.max_cost is not None and not self.assumes:
            raise unpriced([name])
        call = Call(request, price.assumed())
        async with self._turn:  # first come, first served
            while (reservation := await self._try(call)) is None:
                self._settled.clear()
                await self._settled.wait()
            self._reserved.add(reservation)
        return reservation

    async def _try(self, call: Call) -> Reservation | None:
        """The reservation; None while there may be room once other calls have ended."""
        if self._stopped is not None or self._is_spent():
            self._stop_unless_under_way(self._stopped or "")
            return None
        if not call.is_counted and not self._fits(call.whole()):
            await asyncio.to_thread(call.count)
            return await self._try(call)  # others may have ended meanwhile
        for wanted in (call.whole(), call.usual()):
            if self._fits(wanted):
                return wanted if len(self._reserved) < self._window(call.whole()) else None
        if self._reserved:
            return None
        output = call.affordable_output(*self._left())
        if output >= _LEAST_OUTPUT:
            return call.lowered(output)
        why = f": the prompt of the next call may take {call.prompt:,} tokens"
        self._stop_unless_under_way(why, call.lowered(_LEAST_OUTPUT))
        return None

    def settle(self, name: str, reservation: Reservation, spent: Spent | None, record: Record) -> None:
        """Count what an attempt took, instead of what was set aside for it; nothing if it was not sent."""
        self._reserved.discard(reservation)
        self._settled.set()
        if spent is None:
            return
        cost, usage = self._cost_of(name, spent), spent.usage
        self.cost += cost
        self.usage += usage
        if spent.cost is None and self.max_cost is not None and not self._prices.get(name, Price()).is_known:
            self._say(record, name, f"the price of {name} is unknown: --max-cost counts its tokens at {_ASSUMED}")
        if cost <= reservation.cost and usage.tokens <= reservation.tokens:
            self._kept += reservation.max_output is not None
        elif self.limited and not usage.estimated_calls:  # an estimate may well be higher
            self._broken = True
            took = f"{usage.tokens:,} tokens ({dollars(cost)})"
            held = f"{reservation.tokens:,} ({dollars(reservation.cost)})"
            self._say(record, f"{name} over", f"{name} took {took} where a call was allowed {held}")

    def note_estimate(self, name: str, record: Record) -> None:
        """Say once, where there is a limit, that what a model takes of it is an estimate."""
        if not self.limited:
            return
        text = f"{name} does not report its usage: tokens are estimated from the text that was sent and received"
        self._say(record, f"{name} estimated", text)

    def _cost_of(self, name: str, spent: Spent) -> float:
        if spent.cost is not None and is_cost(spent.cost):
            return spent.cost
        return self._prices.get(name, Price()).assumed().of(spent.usage) or 0.0

    def _is_spent(self) -> bool:
        over = self.max_cost is not None and self.cost >= self.max_cost
        return over or (self.max_tokens is not None and self.usage.tokens >= self.max_tokens)

    def _stop_unless_under_way(self, why: str, needed: Reservation | None = None) -> None:
        """Wait for the calls under way, so that what is said is what was spent in the end; then stop for good.

        What the next call `needed` at least is more than what is left.
        """
        if not self._reserved:
            self._stopped, self._needed = why, needed or self._needed
            raise self._spent(why)

    def _spent(self, why: str) -> BudgetSpent:
        (cost, tokens), needed = self._left(), self._needed
        pays, lasts = cost > 0 and cost >= needed.cost, tokens > 0 and tokens >= needed.tokens
        if self.max_tokens is not None and (self.max_cost is None or (pays and not lasts)):
            flag, at = "--max-tokens", f"{self.usage.tokens:,} of --max-tokens {self.max_tokens:,}"
        else:
            flag, at = "--max-cost", f"{dollars(self.cost)} of --max-cost ${plain(self.max_cost or 0.0)}"
        hint = f"raise {flag} to continue"
        return BudgetSpent(f"stopped at {at}{why}", hint=hint, cost=needed.cost, tokens=needed.tokens)

    def _left(self) -> tuple[float, float]:
        """Dollars and tokens that nothing is set aside of."""
        held = self._reserved
        cost = math.inf if self.max_cost is None else self.max_cost - self.cost - sum(call.cost for call in held)
        if self.max_tokens is None:
            return cost, math.inf
        return cost, self.max_tokens - self.usage.tokens - sum(call.tokens for call in held)

    def _fits(self, wanted: Reservation) -> bool:
        cost, tokens = self._left()
        return wanted.cost <= cost and wanted.tokens <= tokens

    def _window(self, wanted: Reservation) -> float:
        """How many calls may be under way: one more with each that kept to its reservation, more if plenty is left.

        A provider that ignores how long its answer may be then costs one call too much, not sixteen.
        """
        if self._broken:
            return 1
        cost, tokens = self._left()
        plenty = min(
            cost // (_PLENTY * wanted.cost) if wanted.cost else math.inf,
            tokens // (_PLENTY * wanted.tokens) if wanted.tokens else math.inf,
        )
        return max(1.0, self._kept, plenty)

    async def _price(self, name: str) -> Price:
        if name not in self._prices:
            self._prices[name] = await asyncio.to_thread(self.price_of, name)
        return self._prices[name]

    def _say(self, record: Record, key: str, text: str) -> None:
        if key not in self._said:
            self._said.add(key)
            record(Warned(text))


@dataclass(frozen=True, slots=True)
class BudgetedModel(WrappedModel):
    """A metered model with a budget, which other models may share: each attempt at a call is reserved and counted."""

    budget: Budget
    record: Record

    async def complete(self, request: Request) -> Reply:
        """Answer the request once the budget has room for it, unless it is spent."""
        held, spent, limited = list[tuple[Budget, Reservation]](), None, request
        try:
            for task, share in self.budget.shares_of(request.task):
                held.append((share, await _of_share(task, share, request, self.name)))
            held.append((self.budget, await self.budget.reserve(request, self.name)))
            for _, reservation in held:
                limited = reservation.limit(limited)
            reply = await self.model.complete(limited)
            spent = Spent(reply.usage, reply.cost)
        except (ModelError, asyncio.CancelledError) as error:
            if (spent := spent_by(error)) is not None:
                self._record_broken(request, spent, str(error) or "it was cancelled")
            raise
        finally:
            for budget, reservation in held:
                budget.settle(self.name, reservation, spent, self.record)
        if reply.usage.estimated_calls:
            self.budget.note_estimate(reply.model or self.name, self.record)
        return reply

    def _record_broken(self, request: Request, spent: Spent, reason: str) -> None:
        role, task, key = request.role, request.task, request.key
        self.record(CallBroken(role, task, self.name, spent.usage, spent.cost, reason, key))


async def _of_share(task: str, share: Budget, request: Request, name: str) -> Reservation:
    """What is set aside of a task's share; once that is spent the task fails, and the run goes on."""
    try:
        return await share.reserve(request, name)
    except BudgetSpent as spent:
        what = f"the goal of task {task!r} may cost ${plain(share.max_cost or 0.0)}, and has cost {dollars(share.cost)}"
        raise GoalwrightError(what, hint="raise its max_cost") from spent
