"""A run's limits on cost and tokens: what a call may take is reserved before it leaves, and settled after it.

no room while other calls are under way: wait for them → none left: BudgetSpent → else the call goes, its answer no
longer than what is left pays for → what it really took is counted
"""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from weft.models.reservation import ASSUMED_PRICE, Call, Reservation
from weft.models.usage_check import checked, sound
from weft.providers.prices import Price, price_of
from weft.settings.default_model import is_local
from weft_planner.errors import BudgetSpent
from weft_planner.events import Warned
from weft_planner.model import Message, Usage, estimated_tokens
from weft_planner.plan.task_id import parent_of
from weft_planner.wrapped_model import WrappedModel
from weft_skills.errors import WeftError

if TYPE_CHECKING:
    from collections.abc import Callable

    from weft_planner.events import Event, Record
    from weft_planner.model import Reply, Request

__all__ = ["ASSUMED_PRICE", "Budget", "BudgetedModel"]

# An answer shorter than this is of no use to anyone.
_LEAST_OUTPUT = 16
# So many calls at once must be paid for before more go out than have kept to their reservations so far.
_PLENTY = 16


@dataclass(slots=True)
class Budget:
    """The limits of a run, what it has spent so far, and what the calls under way may still take."""

    max_cost: float | None = None
    max_tokens: int | None = None
    cost: float = 0.0
    usage: Usage = field(default_factory=Usage)
    price_of: Callable[[str], Price] = price_of
    _shares: dict[str, Budget] = field(default_factory=dict)
    _reserved: set[Reservation] = field(default_factory=set)
    _kept: int = 0
    _broken: bool = False
    _stopped: str | None = None
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
            self._shares[task] = Budget(max_cost, cost=spent, price_of=self.price_of)

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
            parts.append(f"${max(self.max_cost - self.cost, 0.0):.4f} of ${self.max_cost:g}")
        if self.max_tokens is not None:
            parts.append(f"{max(self.max_tokens - self.usage.tokens, 0):,} of {self.max_tokens:,} tokens")
        return " and ".join(parts)

    async def reserve(self, request: Request, names: tuple[str, ...]) -> Reservation:
        """Set aside what a call of one of these models may take, once there is room for it."""
        if not self.limited:
            return Reservation()
        call = Call(request, names, tuple([await self._price(name) for name in names]))
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
        whole = call.whole()
        if not self._fits(whole) and not call.is_counted:
            await asyncio.to_thread(call.count)
            return await self._try(call)  # others may have ended meanwhile
        if self._fits(whole):
            return whole if len(self._reserved) < self._window(whole) else None
        if self._reserved:
            return None
        output = call.affordable_output(*self._left())
        if output >= _LEAST_OUTPUT or not call.is_known:
            return call.lowered(output)
        self._stop_unless_under_way(f": the prompt of the next call may take {call.prompt:,} tokens")
        return None

    def settle(self, reservation: Reservation, reply: Reply | None, record: Record) -> None:
        """Count what a call took, instead of what was set aside for it; nothing if it failed."""
        self._reserved.discard(reservation)
        self._settled.set()
        if reply is None:
            return
        cost, usage = self._taken(reservation, reply)
        self.cost += cost
        self.usage += usage
        name = reply.model or "the model"
        if reply.cost is None and self.max_cost is not None:
            price = f"${ASSUMED_PRICE * 1e6:g} per million"
            self._say(record, name, f"the price of {name} is unknown: --max-cost counts its tokens at {price}")
        if cost <= reservation.cost and usage.tokens <= reservation.tokens:
            self._kept += 1
        elif self.limited:
            self._broken = True
            if reservation.is_known:
                took, held = (
                    f"{usage.tokens:,} tokens (${cost:.4f})",
                    f"{reservation.tokens:,} (${reservation.cost:.4f})",
                )
                self._say(record, f"{name} over", f"{name} took {took} where a call was allowed {held}")

    def _taken(self, reservation: Reservation, reply: Reply) -> tuple[float, Usage]:
        """What a call took; of one that reports impossible figures, what was sent and the answer as it is."""
        right = checked(reply)
        if right is reply:
            return (reply.usage.tokens * ASSUMED_PRICE if reply.cost is None else reply.cost), reply.usage
        answer = estimated_tokens([Message("assistant", reply.text)]) + 1
        usage = msgspec.structs.replace(
            right.usage,
            prompt_tokens=max(right.usage.prompt_tokens, reservation.prompt_tokens),
            completion_tokens=max(right.usage.completion_tokens, answer),
        )
        return max(right.cost or 0.0, usage.tokens * ASSUMED_PRICE), usage

    def _is_spent(self) -> bool:
        over = self.max_cost is not None and self.cost >= self.max_cost
        return over or (self.max_tokens is not None and self.usage.tokens >= self.max_tokens)

    def _stop_unless_under_way(self, why: str) -> None:
        """Wait for the calls under way, so that what is said is what was spent in the end; then stop for good."""
        if not self._reserved:
            self._stopped = why
            raise self._spent(why)

    def _spent(self, why: str) -> BudgetSpent:
        cost, tokens = self._left()
        if self.max_tokens is not None and (self.max_cost is None or tokens <= 0 < cost):
            flag, at = "--max-tokens", f"{self.usage.tokens:,} of --max-tokens {self.max_tokens:,}"
        else:
            flag, at = "--max-cost", f"${self.cost:.4f} of --max-cost ${self.max_cost:g}"
        return BudgetSpent(f"stopped at {at}{why}", hint=f"raise {flag} to continue")

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
            # The embedded model costs nothing.
            free = Price(0.0, 0.0)
            self._prices[name] = free if is_local(name) else await asyncio.to_thread(self.price_of, name)
        return self._prices[name]

    def _say(self, record: Record, key: str, text: str) -> None:
        if key not in self._said:
            self._said.add(key)
            record(Warned(text))


@dataclass(frozen=True, slots=True)
class BudgetedModel(WrappedModel):
    """A model with a budget, which other models may share; `names` are those that may answer, fallbacks included."""

    budget: Budget
    record: Record
    names: tuple[str, ...] = ()

    async def complete(self, request: Request) -> Reply:
        """Answer the request once the budget has room for it, unless it is spent."""
        names, held = self.names or (self.name,), list[tuple[Budget, Reservation]]()
        reply, limited = None, request
        try:
            for task, share in self.budget.shares_of(request.task):
                held.append((share, await _of_share(task, share, request, names)))
            held.append((self.budget, await self.budget.reserve(request, names)))
            for _, reservation in held:
                limited = reservation.limit(limited)
            reply = await self.model.complete(limited)
        finally:
            for budget, reservation in held:
                budget.settle(reservation, reply, self.record if budget is self.budget else _unsaid)
        return reply


async def _of_share(task: str, share: Budget, request: Request, names: tuple[str, ...]) -> Reservation:
    """What is set aside of a task's share; once that is spent the task fails, and the run goes on."""
    try:
        return await share.reserve(request, names)
    except BudgetSpent as spent:
        what = f"the goal of task {task!r} may cost ${share.max_cost:g}, and has cost ${share.cost:.4f}"
        raise WeftError(what, hint="raise its max_cost") from spent


def _unsaid(event: Event) -> None:
    """What is said of the run's own budget need not be said again."""
