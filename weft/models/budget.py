"""A run's limits on cost and tokens: checked before every call, counted after it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from planner.errors import BudgetSpent
from planner.events import Warned
from planner.model import Usage

if TYPE_CHECKING:
    from planner.events import Record
    from planner.model import Model, Reply, Request

# What --max-cost assumes for a token of unknown price: about the output price of the more expensive models.
ASSUMED_PRICE = 15e-6


@dataclass(slots=True)
class Budget:
    """The limits of a run, and what it has spent so far."""

    max_cost: float | None = None
    max_tokens: int | None = None
    cost: float = 0.0
    usage: Usage = field(default_factory=Usage)
    _unpriced: set[str] = field(default_factory=set)

    def check(self) -> None:
        """Raise BudgetSpent if a limit is reached."""
        if self.max_cost is not None and self.cost >= self.max_cost:
            raise BudgetSpent(
                f"stopped at ${self.cost:.4f} of --max-cost ${self.max_cost:g}", hint="raise --max-cost to continue"
            )
        if self.max_tokens is not None and self.usage.tokens >= self.max_tokens:
            raise BudgetSpent(
                f"stopped at {self.usage.tokens:,} of --max-tokens {self.max_tokens:,}",
                hint="raise --max-tokens to continue",
            )

    def count(self, reply: Reply, record: Record) -> None:
        """Count what a reply used."""
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
    """A model with a budget, which other models may share."""

    model: Model
    budget: Budget
    record: Record

    @property
    def name(self) -> str:
        """The name of the model itself."""
        return self.model.name

    async def complete(self, request: Request) -> Reply:
        """Answer the request, unless the budget is spent."""
        self.budget.check()
        reply = await self.model.complete(request)
        self.budget.count(reply, self.record)
        return reply
