"""One budget for several workers: their total spending never exceeds it, even if workers die."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from goalwright.batch.limits.shared.budget import Amount, BudgetRequest, SharedBudget, WorkerBudget
from goalwright.models.budget import Budget, BudgetedModel
from goalwright.models.litellm.prices import Price
from goalwright.models.metered import Spent
from goalwright_planner.errors import BudgetSpent
from goalwright_planner.model import Message, Reply, Request, Usage
from tests.virtual_time import run_virtually

if TYPE_CHECKING:
    from goalwright.batch.limits.shared.budget import BudgetGrant

PRICE = Price(prompt=1e-6, output=10e-6, max_output=2_000, context=100_000)
ASKED = Request((Message("user", "How are you? " * 20),))


@dataclass
class Provider:
    """Charges for every call that reaches it, whether or not anybody is there for the answer."""

    draw: random.Random
    name: str = "known"
    charged: float = 0.0
    tokens: int = 0
    calls: int = 0

    async def complete(self, request: Request) -> Reply:
        output = min(self.draw.randrange(100, 2_000), request.max_tokens or 2_000)
        cost = 60e-6 + output * 10e-6
        self.charged += cost
        self.tokens += 60 + output
        self.calls += 1
        await asyncio.sleep(self.draw.uniform(0.05, 1.5))
        return Reply("text", usage=Usage(1, 60, output), cost=cost, model=self.name)


@dataclass
class Workers:
    """Workers that make calls until the budget is spent; messages take time, and some are lost."""

    shared: SharedBudget
    provider: Provider
    draw: random.Random
    lossy: bool = False
    ended: list[BudgetSpent] = field(default_factory=list)
    started: int = 0

    def start(self, calls: int = 6) -> tuple[str, asyncio.Task[None]]:
        self.started += 1
        name = f"w{self.started}"
        return name, asyncio.create_task(self._work(name, calls))

    async def _work(self, name: str, calls: int) -> None:
        async def ask(message: BudgetRequest) -> BudgetGrant:
            await asyncio.sleep(0.01)
            if self.lossy and self.draw.random() < 0.1:
                raise ConnectionError
            share = self.shared.grant(message)
            await asyncio.sleep(0.01)
            if self.lossy and self.draw.random() < 0.1:
                raise ConnectionError
            return share

        limits = self.shared.budget
        budget = WorkerBudget(
            price_of=lambda _: PRICE,
            worker=name,
            request=ask,
            limit_cost=limits.max_cost,
            limit_tokens=limits.max_tokens,
        )

        async def goal() -> None:
            model = BudgetedModel(self.provider, budget, lambda _: None)
            try:
                while True:
                    await model.complete(ASKED)
            except BudgetSpent as spent:
                self.ended.append(spent)

        reporting = asyncio.create_task(budget.run())
        try:
            await asyncio.gather(*(goal() for _ in range(calls)))
            await budget.close()
        finally:
            reporting.cancel()


@pytest.mark.parametrize("limits", [{"max_cost": 2.0}, {"max_tokens": 200_000}, {"max_cost": 0.05}])
def test_workers_spend_exactly_the_budget(limits: dict[str, float]) -> None:
    provider = Provider(random.Random(1))
    shared = SharedBudget(Budget(**limits))  # type: ignore[arg-type]

    async def main() -> None:
        workers = Workers(shared, provider, random.Random(2))
        async with asyncio.timeout(3_600):
            await asyncio.gather(*(task for _, task in [workers.start() for _ in range(8)]))
        assert len(workers.ended) == 48
        assert all(error.limit in limits for error in workers.ended)

    run_virtually(main())
    used, limit = (provider.charged, limits["max_cost"]) if "max_cost" in limits else (provider.tokens, 200_000)
    assert 0.8 * limit <= used <= limit
    taken = shared.budget.cost if "max_cost" in limits else shared.budget.usage.tokens
    assert taken == pytest.approx(used)
    with pytest.raises(BudgetSpent):
        shared.budget.check()


@pytest.mark.parametrize("seed", range(3))
def test_limit_holds_when_workers_die_and_messages_are_lost(seed: int) -> None:
    draw = random.Random(seed)
    provider = Provider(draw)
    shared = SharedBudget(Budget(1.0, 120_000))

    async def main() -> None:
        workers = Workers(shared, provider, draw, lossy=True)
        running = dict([workers.start() for _ in range(6)])
        for _ in range(6):
            await asyncio.sleep(draw.uniform(0.2, 2.0))
            name = draw.choice(sorted(running))
            task = running.pop(name)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            shared.lost(name)
            running.update([workers.start()])
        async with asyncio.timeout(3_600):
            await asyncio.gather(*running.values())

    run_virtually(main())
    assert 0.3 <= provider.charged <= 1.0
    assert provider.tokens <= 120_000
    assert provider.charged <= shared.budget.cost + 1e-9, "what is unknown counts as spent"


def test_unspent_budget_of_dead_worker_is_reclaimed() -> None:
    shared = SharedBudget(Budget(10.0))
    share = shared.grant(BudgetRequest("a", Amount(), Amount(), wanted=Amount(4.0)))
    assert share.allotted.cost == 4.0
    shared.grant(BudgetRequest("a", share.allotted, Amount(1.0), held=Amount(0.5)))
    shared.lost("a", Amount(1.5))
    assert shared.budget.cost == 2.0, "what it spent, and the calls that were under way"
    back = shared.grant(BudgetRequest("a", share.allotted, Amount(1.6), wanted=Amount(1.0)))
    assert (back.allotted.cost, back.is_pending) == (1.6, False), "a worker that was taken for dead gets nothing more"
    assert shared.grant(BudgetRequest("b", Amount(), Amount(), wanted=Amount(8.0))).allotted.cost == pytest.approx(8.0)


def test_repeated_message_changes_nothing() -> None:
    shared = SharedBudget(Budget(10.0))
    wanting = BudgetRequest("a", Amount(), Amount(), wanted=Amount(4.0))
    assert [shared.grant(wanting).allotted.cost for _ in range(5)] == [4.0] * 5
    spent = BudgetRequest("a", Amount(4.0), Amount(3.0))
    for _ in range(3):
        shared.grant(spent)
    assert shared.budget.cost == 3.0


def test_free_call_needs_no_allotment() -> None:
    shared = SharedBudget(Budget(0.01))

    async def ask(message: BudgetRequest) -> BudgetGrant:
        return shared.grant(message)

    async def main() -> None:
        budget = WorkerBudget(price_of=lambda _: Price(0.0, 0.0), worker="a", request=ask, limit_cost=0.01)
        provider = Provider(random.Random(1))
        for _ in range(3):
            reservation = await budget.reserve(ASKED, provider.name)
            budget.settle(provider.name, reservation, Spent(Usage(1, 5, 5), 0.0), lambda _: None)
        assert shared.budget.cost == 0.0

    run_virtually(main())


def test_calls_with_assumed_price_run_concurrently_in_workers() -> None:
    """An answer may be of any length, and yet the calls of several workers fit a limit of a dollar together."""
    shared, under_way, most = SharedBudget(Budget(1.0)), 0, 0

    class Unpriced:
        name = "unpriced"

        async def complete(self, request: Request) -> Reply:
            nonlocal under_way, most
            under_way += 1
            most = max(most, under_way)
            await asyncio.sleep(1.0)
            under_way -= 1
            assert request.max_tokens is not None
            return Reply("text", usage=Usage(1, 60, min(400, request.max_tokens)))

    async def ask(message: BudgetRequest) -> BudgetGrant:
        await asyncio.sleep(0.01)
        return shared.grant(message)

    async def work(name: str) -> None:
        budget = WorkerBudget(
            price_of=lambda _: Price(), assumes=True, worker=name, request=ask, limit_cost=1.0, limit_tokens=None
        )
        model = BudgetedModel(Unpriced(), budget, lambda _: None)
        for _ in range(5):
            await model.complete(ASKED)
        await budget.close()

    async def main() -> None:
        async with asyncio.timeout(3_600):
            await asyncio.gather(*(work(f"w{number}") for number in range(4)))

    run_virtually(main())
    assert most == 4
    assert shared.budget.cost == pytest.approx(20 * 460 * 15e-6)
