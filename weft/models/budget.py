"""What a run may spend: checked before every call, counted after it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from planner.errors import BudgetSpent
from planner.events import Warned
from planner.model import Usage

if TYPE_CHECKING:
    from planner.events import Record
    from planner.model import Model, Reply, Request

# What a token of unknown price counts as against --max-cost: about what the dearer models ask for their output.
ASSUMED_PRICE = 15e-6


@dataclass(slots=True)
class Budget:
    """Limits of one run, and what it has spent so far."""

    max_cost: float | None = None
    max_tokens: int | None = None
    cost: float = 0.0
    usage: Usage = field(default_factory=Usage)
    _unpriced: set[str] = field(default_factory=set)

    def check(self) -> None:
        """Raise where a limit is reached."""
        if self.max_cost is not None and self.cost >= self.max_cost:
            raise BudgetSpent(
                f"stopped at ${self.cost:.4f} of --max-cost ${self.max_cost:g}", hint="raise --max-cost to go on"
            )
        if self.max_tokens is not None and self.usage.tokens >= self.max_tokens:
            raise BudgetSpent(
                f"stopped at {self.usage.tokens:,} of --max-tokens {self.max_tokens:,}",
                hint="raise --max-tokens to go on",
            )

    def count(self, reply: Reply, record: Record) -> None:
        """Take a reply into account."""
        self.usage += reply.usage
        if reply.cost is not None:
            self.cost += reply.cost
            return
        self.cost += reply.usage.tokens * ASSUMED_PRICE
        if self.max_cost is not None and reply.model not in self._unpriced:
            self._unpriced.add(reply.model)
            price = f"${ASSUMED_PRICE * 1e6:g} per million"
            record(Warned(f"the price of {reply.model} is unknown: --max-cost counts its tokens at {price}"))


@dataclass(frozen=True, slots=True)
class BudgetedModel:
    """A model within a budget that other models may share."""

    model: Model
    budget: Budget
    record: Record

    @property
    def name(self) -> str:
        """The name of the model itself."""
        return self.model.name

    async def complete(self, request: Request) -> Reply:
        """Answer the request, if there is anything left to spend."""
        self.budget.check()
        reply = await self.model.complete(request)
        self.budget.count(reply, self.record)
        return reply
