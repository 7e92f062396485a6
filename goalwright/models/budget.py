"""A run's limits on cost and tokens.

Before a call is sent, its highest possible cost is reserved. If there is no room, it waits for the calls in flight; if
none are in flight, its answer is shortened to what the rest of the budget pays for, or BudgetSpent is raised. After the
call, its real usage replaces the reservation.
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
from goalwright_planner.errors import BudgetSpent, ModelError, UnknownPrice
from goalwright_planner.events import CallBroken, Warned
from goalwright_planner.model import Usage
from goalwright_planner.plan.task_id import parent_of
from goalwright_planner.wrapped_model import WrappedModel
from goalwright_skills.errors import GoalwrightError
from goalwright_skills.text.formatting import dollars, plain, plural

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from goalwright.settings.settings import Settings
    from goalwright_planner.events import Record
    from goalwright_planner.model import Reply, Request

__all__ = ["ASSUMED_PRICE", "Budget", "BudgetedModel", "WrittenOff"]

_ASSUMED = f"${ASSUMED_PRICE * 1e6:g} per million"
# A shorter answer is useless.
_LEAST_OUTPUT = 16
# While the budget pays for this many more calls, all are sent; else only as many as have kept to their reservations.
_PLENTY = 16


def check_prices(names: Iterable[str], settings: Settings, max_cost: float | None) -> None:
    """Raise UnknownPrice if there is a limit on cost and a model's price is unknown; imports litellm's price list."""
    if max_cost is None or settings.allow_unknown_cost:
        return
    price_of = PriceList(settings.prices or {})
    if unknown := [name for name in names if not price_of(name).is_known]:
        raise _unknown_price(unknown)


def _unknown_price(names: Sequence[str]) -> UnknownPrice:
    return UnknownPrice(
        f"the {plural(len(names), 'price', 'prices')} of {', '.join(names)} {plural(len(names), 'is', 'are')} "
        "unknown, so that a limit on cost cannot hold",
        hint=f'give the price in your config.toml: [prices] "{names[0]}" = {{ input = 1.00, output = 4.00 }}, in US '
        f"dollars per million tokens; or set allow_unknown_cost = true there, which counts {_ASSUMED}",
        models=names,
    )


class WrittenOff(NamedTuple):
    """The allotments of workers that died: they count as spent, since their real usage is unknown."""

    workers: int = 0
    cost: float = 0.0
    tokens: float = 0


@dataclass(slots=True)
class Budget:
    """The limits of a run, its spending so far, and the reservations of the calls in flight.

    With a limit on cost, a model of unknown price is refused, unless the budget `assumes` a price for it.
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
    _warned: set[str] = field(default_factory=set)
    _prices: dict[str, Price] = field(default_factory=dict)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _settled: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        # An imported record may contain impossible values.
        self.cost, self.usage = self.cost if self.cost > 0 else 0.0, sound(self.usage)

    @property
    def limited(self) -> bool:
        """Whether there is a limit at all."""
        return self.max_cost is not None or self.max_tokens is not None

    def share(self, task: str, max_cost: float, spent: float) -> None:
        """Limit the cost of a task and all its sub-tasks, which have already `spent` this much."""
        if task not in self._shares:
            self._shares[task] = Budget(
                max_cost, cost=spent, price_of=self.price_of, assumes=True, _warned=self._warned
            )

    def shares_of(self, task: str | None) -> list[tuple[str, Budget]]:
        """The limits on a task and its parents, the closest first, each with its task."""
        shares = []
        while task is not None and self._shares:
            if task in self._shares:
                shares.append((task, self._shares[task]))
            task = parent_of(task)
        return shares

    def check(self) -> None:
        """Raise BudgetSpent if a limit is reached, or an earlier call did not fit."""
        if self._stopped is not None or self._is_spent():
            raise self._spent(self._stopped or "")

    def stop(self, reason: str = "") -> None:
        """Refuse all further calls."""
        self._stopped = self._stopped or reason

    def left_text(self) -> str:
        """The rest of the budget, for a prompt; empty if there is no limit."""
        parts = []
        if self.max_cost is not None:
            parts.append(f"{dollars(max(self.max_cost - self.cost, 0.0))} of ${plain(self.max_cost)}")
        if self.max_tokens is not None:
            parts.append(f"{max(self.max_tokens - self.usage.tokens, 0):,} of {self.max_tokens:,} tokens")
        return " and ".join(parts)

    async def reserve(self, request: Request, name: str) -> Reservation:
        """Reserve the most that a call of a model may cost, once there is room for it."""
        if not self.limited:
            return Reservation()
        price = await self._price(name)
        if not price.is_known and self.max_cost is not None and not self.assumes:
            raise _unknown_price([name])
        call = Call(request, price.assumed())
        async with self._turn:  # first come, first served
            while (reservation := await self._try(call)) is None:
                self._settled.clear()
                await self._settled.wait()
            self._reserved.add(reservation)
        return reservation

    async def _try(self, call: Call) -> Reservation | None:
        """The reservation; None if there may be room once other calls have ended."""
        if self._stopped is not None or self._is_spent():
            self._stop_if_idle(self._stopped or "")
            return None
        if not call.is_counted and not self._fits(call.whole()):
            await asyncio.to_thread(call.count)
            return await self._try(call)  # others may have ended meanwhile
        for reservation in (call.whole(), call.usual()):
            if self._fits(reservation):
                return reservation if len(self._reserved) < self._window(call.whole()) else None
        if self._reserved:
            return None
        output = call.affordable_output(*self._left())
        if output >= _LEAST_OUTPUT:
            return call.lowered(output)
        reason = f"the prompt of the next call may take {call.prompt:,} tokens"
        self._stop_if_idle(reason, call.lowered(_LEAST_OUTPUT))
        return None

    def settle(self, name: str, reservation: Reservation, spent: Spent | None, record: Record) -> None:
        """Replace a reservation with the real usage of the attempt; None if it was not sent."""
        self._reserved.discard(reservation)
        self._settled.set()
        if spent is None:
            return
        cost, usage = self._cost_of(name, spent), spent.usage
        self.cost += cost
        self.usage += usage
        if spent.cost is None and self.max_cost is not None and not self._prices.get(name, Price()).is_known:
            text = f"the price of {name} is unknown: the limit on cost counts its tokens at {_ASSUMED}"
            self._warn(record, name, text)
        if cost <= reservation.cost and usage.tokens <= reservation.tokens:
            self._kept += reservation.max_output is not None
        elif self.limited and not usage.estimated_calls:  # an estimate may well be higher
            self._broken = True
            used = f"{usage.tokens:,} tokens ({dollars(cost)})"
            allowed = f"{reservation.tokens:,} ({dollars(reservation.cost)})"
            self._warn(record, f"{name} over", f"{name} used {used} for a call that was allowed {allowed}")

    def note_estimate(self, name: str, record: Record) -> None:
        """Warn once, if there is a limit, that a model's usage is an estimate."""
        if not self.limited:
            return
        text = f"{name} does not report its usage: tokens are estimated from the text that was sent and received"
        self._warn(record, f"{name} estimated", text)

    def _cost_of(self, name: str, spent: Spent) -> float:
        if spent.cost is not None and is_cost(spent.cost):
            return spent.cost
        return self._prices.get(name, Price()).assumed().of(spent.usage) or 0.0

    def _is_spent(self) -> bool:
        over = self.max_cost is not None and self.cost >= self.max_cost
        return over or (self.max_tokens is not None and self.usage.tokens >= self.max_tokens)

    def _stop_if_idle(self, reason: str, needed: Reservation | None = None) -> None:
        """Stop for good unless calls are in flight: the error then has the final spending.

        The next call `needed` more than the rest of the budget.
        """
        if not self._reserved:
            self._stopped, self._needed = reason, needed or self._needed
            raise self._spent(reason)

    def _spent(self, reason: str) -> BudgetSpent:
        (cost, tokens), needed = self._left(), self._needed
        pays, lasts = cost > 0 and cost >= needed.cost, tokens > 0 and tokens >= needed.tokens
        if self.max_tokens is not None and (self.max_cost is None or (pays and not lasts)):
            limit, amount = "max_tokens", f"{self.usage.tokens:,} of {self.max_tokens:,} tokens"
        else:
            limit, amount = "max_cost", f"{dollars(self.cost)} of ${plain(self.max_cost or 0.0)}"
        return BudgetSpent(
            f"stopped at {amount} ({limit}){f': {reason}' if reason else ''}",
            hint=f"raise {limit} to continue",
            limit=limit,
            reason=reason,
            cost=needed.cost,
            tokens=needed.tokens,
        )

    def _left(self) -> tuple[float, float]:
        """The dollars and tokens that are neither spent nor reserved."""
        calls = self._reserved
        cost = math.inf if self.max_cost is None else self.max_cost - self.cost - sum(call.cost for call in calls)
        if self.max_tokens is None:
            return cost, math.inf
        return cost, self.max_tokens - self.usage.tokens - sum(call.tokens for call in calls)

    def _fits(self, reservation: Reservation) -> bool:
        cost, tokens = self._left()
        return reservation.cost <= cost and reservation.tokens <= tokens

    def _window(self, wanted: Reservation) -> float:
        """The number of calls that may be in flight: it grows with each that kept to its reservation.

        A provider that ignores `max_tokens` then exceeds the limit by one call instead of sixteen.
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

    def _warn(self, record: Record, key: str, text: str) -> None:
        if key not in self._warned:
            self._warned.add(key)
            record(Warned(text))


@dataclass(frozen=True, slots=True)
class BudgetedModel(WrappedModel):
    """A metered model that reserves and counts each attempt at a call in a budget, which other models may share."""

    budget: Budget
    record: Record

    async def complete(self, request: Request) -> Reply:
        """Answer the request once the budget has room for it; raise BudgetSpent if it has none."""
        reservations, spent, limited = list[tuple[Budget, Reservation]](), None, request
        try:
            for task, share in self.budget.shares_of(request.task):
                reservations.append((share, await _reserve_in_share(task, share, request, self.name)))
            reservations.append((self.budget, await self.budget.reserve(request, self.name)))
            for _, reservation in reservations:
                limited = reservation.limit(limited)
            reply = await self.model.complete(limited)
            spent = Spent(reply.usage, reply.cost)
        except (ModelError, asyncio.CancelledError) as error:
            if (spent := spent_by(error)) is not None:
                self._record_broken(request, spent, str(error) or "it was cancelled")
            raise
        finally:
            for budget, reservation in reservations:
                budget.settle(self.name, reservation, spent, self.record)
        if reply.usage.estimated_calls:
            self.budget.note_estimate(reply.model or self.name, self.record)
        return reply

    def _record_broken(self, request: Request, spent: Spent, reason: str) -> None:
        role, task, key = request.role, request.task, request.key
        self.record(CallBroken(role, task, self.name, spent.usage, spent.cost, reason, key))


async def _reserve_in_share(task: str, share: Budget, request: Request, name: str) -> Reservation:
    """Reserve in the share of a task; if that is spent, the task fails but the run continues."""
    try:
        return await share.reserve(request, name)
    except BudgetSpent as spent:
        message = f"the goal of task {task!r} has cost {dollars(share.cost)} of ${plain(share.max_cost or 0.0)}"
        raise GoalwrightError(message, hint="raise its max_cost") from spent
