"""The cost of a stopped call: nothing while it waits, an estimate once it was sent."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest

from goalwright.batch.limits.limited_model import CallLimits
from goalwright.batch.limits.rate_limiter import Rates
from goalwright.models.budget import Budget, BudgetedModel
from goalwright.models.metered import MeteredModel, spent_by
from goalwright_planner.model import Message, Reply, Request

ASKED = Request((Message("user", "How are you? " * 20),))


@dataclass
class Hanging:
    """A model that never answers."""

    name: str = "openai/gpt-4o"
    called: asyncio.Event = field(default_factory=asyncio.Event)

    async def complete(self, _: Request) -> Reply:
        self.called.set()
        await asyncio.sleep(600)
        raise AssertionError("nobody waits as long")


async def test_cancelled_waiting_call_costs_nothing() -> None:
    provider, limits, budget = Hanging(), CallLimits(Rates(1)), Budget()
    shared = BudgetedModel(limits.around(MeteredModel(provider), "goal"), budget, lambda _: None)
    first, second = (asyncio.create_task(MeteredModel(shared).complete(ASKED)) for _ in range(2))
    await provider.called.wait()
    second.cancel()
    with pytest.raises(asyncio.CancelledError) as waited:
        await second
    assert (spent_by(waited.value), budget.usage.calls) == (None, 0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError) as sent:
        await first
    assert spent_by(sent.value) is not None
    assert budget.usage.calls == 1
