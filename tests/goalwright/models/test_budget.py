"""Budgets reserve the cost of a call before it is sent, and no reported usage can lower the total."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass, field
from typing import Any

import pytest

from goalwright.models.budget import ASSUMED_PRICE, Budget, BudgetedModel
from goalwright.models.litellm.prices import Price, PriceList
from goalwright.models.metered import MeteredModel
from goalwright_planner.errors import BudgetSpent, ServerFailed
from goalwright_planner.events import Warned
from goalwright_planner.model import Message, Reply, Request, Usage
from tests.fakes import Recorder
from tests.virtual_time import run_virtually

PRICE = Price(prompt=1e-6, output=10e-6, max_output=10_000, context=100_000)
UNKNOWN = Price()
ASKED = Request((Message("user", "How are you? " * 20),))


@dataclass
class Provider:
    """A model whose answers have `wanted` tokens; `heeds` is false if it ignores `max_tokens`."""

    wanted: int = 10**6
    heeds: bool = True
    price: Price = PRICE
    name: str = "known"
    under_way: int = 0
    most: int = 0
    calls: list[Request] = field(default_factory=list)
    failures: int = 0
    seconds: float = 0.001

    async def complete(self, request: Request) -> Reply:
        self.calls.append(request)
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        await asyncio.sleep(self.seconds)
        self.under_way -= 1
        if len(self.calls) <= self.failures:
            raise ServerFailed("not now")
        output = self.wanted
        if self.heeds:
            output = min(output, self.price.max_output or output, request.max_tokens or output)
        cost = None if self.price.prompt is None else 60 * 1e-6 + output * 10e-6
        return Reply("text", usage=Usage(1, 60, output), cost=cost, model=self.name)


async def spend(provider: Provider, calls: int, **limits: Any) -> tuple[Budget, list[Exception], Recorder]:
    """Make this many concurrent calls."""
    record = Recorder()
    budget = Budget(**limits, price_of=lambda _: provider.price, assumes=True)
    model = BudgetedModel(provider, budget, record)
    ended = await asyncio.gather(*(model.complete(ASKED) for _ in range(calls)), return_exceptions=True)
    return budget, [one for one in ended if isinstance(one, Exception)], record


@pytest.mark.parametrize("calls", [16, 64])
@pytest.mark.parametrize("limit", [0.0055, 0.05, 0.25, 1.0])
@pytest.mark.parametrize("wanted", [100, 3_000, 10**6])
async def test_parallel_calls_of_known_price_stay_below_the_limit(calls: int, limit: float, wanted: int) -> None:
    provider = Provider(wanted)
    budget, stopped, _ = await spend(provider, calls, max_cost=limit)
    assert 0 < budget.cost <= limit
    assert len(provider.calls) + len(stopped) == calls
    for error in stopped:
        assert isinstance(error, BudgetSpent)
        assert f"stopped at ${budget.cost:.4f} of ${limit:g} (max_cost)" in str(error)


@pytest.mark.parametrize("calls", [16, 64])
@pytest.mark.parametrize("limit", [500, 15_000, 100_000])
async def test_parallel_calls_stay_below_a_limit_of_tokens(calls: int, limit: int) -> None:
    budget, stopped, _ = await spend(Provider(), calls, max_tokens=limit)
    assert 0 < budget.usage.tokens <= limit
    assert stopped
    assert all(f"{budget.usage.tokens:,} of {limit:,} tokens" in str(error) for error in stopped)


@pytest.mark.parametrize("calls", [16, 64])
@pytest.mark.parametrize("price", [PRICE, UNKNOWN])
@pytest.mark.parametrize("limit", [0.9, 1.0, 3.0, 7.7])
async def test_provider_that_ignores_max_tokens_exceeds_the_limit_by_one_call(
    calls: int, price: Price, limit: float
) -> None:
    provider = Provider(100_000, heeds=False, price=price)
    each = 100_060 * ASSUMED_PRICE if price is UNKNOWN else 1.00006
    budget, stopped, record = await spend(provider, calls, max_cost=limit)
    assert budget.cost <= limit + each
    assert stopped
    assert all(f"stopped at ${budget.cost:.4f}" in str(error) for error in stopped)
    said = [event.message for event in record.events if isinstance(event, Warned)]
    assert sum("was allowed" in one for one in said) == 1
    assert sum("unknown" in one for one in said) == (price is UNKNOWN)


def test_calls_run_in_parallel_while_the_budget_is_ample() -> None:
    plenty, unlimited = Provider(100, seconds=0.1), Provider(100, seconds=0.1)

    async def main() -> None:
        await spend(plenty, 64, max_cost=1000.0)
        await spend(unlimited, 64)

    run_virtually(main())
    assert (plenty.most, unlimited.most) == (64, 64)
    assert {one.max_tokens for one in unlimited.calls} == {None}


async def test_answer_is_limited_to_the_rest_of_the_budget() -> None:
    provider = Provider()
    budget, stopped, _ = await spend(provider, 3, max_cost=0.0105)
    assert (provider.calls[0].max_tokens or 10**6) < 1_050
    assert provider.calls[0] == ASKED
    assert budget.cost <= 0.0105
    assert stopped


async def test_unaffordable_prompt_is_not_sent() -> None:
    provider = Provider()
    budget, (error,), _ = await spend(provider, 1, max_cost=0.00001)
    assert provider.calls == []
    assert "stopped at $0.0000 of $0.00001 (max_cost):" in str(error)
    assert "the next call" in str(error)
    with pytest.raises(BudgetSpent) as spent:
        budget.check()
    assert 0.00001 < spent.value.cost < 0.001


@pytest.mark.parametrize(
    ("limits", "name"),
    [({"max_cost": 1.0, "max_tokens": 50}, "max_tokens"), ({"max_cost": 1e-5, "max_tokens": 9_999}, "max_cost")],
)
async def test_exceeded_limit_is_named(limits: dict[str, Any], name: str) -> None:
    _, (error,), _ = await spend(Provider(), 1, **limits)
    assert isinstance(error, BudgetSpent)
    assert (error.limit, error.hint) == (name, f"raise {name} to continue")
    assert f"({name})" in error.message
    assert error.tokens > 50


async def test_failed_call_frees_its_reservation() -> None:
    provider = Provider(failures=8)
    budget, ended, _ = await spend(provider, 12, max_cost=0.1)
    assert [type(one) for one in ended].count(ServerFailed) == 8
    assert budget.cost <= 0.1
    assert len(provider.calls) >= 8


async def test_cancelled_call_frees_its_reservation() -> None:
    provider = Provider(10)
    budget = Budget(max_cost=0.1, price_of=lambda _: PRICE)
    model = BudgetedModel(provider, budget, Recorder())
    first, second = (asyncio.ensure_future(model.complete(ASKED)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    await second
    third = await model.complete(ASKED)
    assert third.text == "text"


WRONG = [
    Reply("text", usage=Usage(1, -50_000_000, 5), cost=-750.0),
    Reply("text", usage=Usage(1, 10, -5), cost=0.1),
    Reply("text", usage=Usage(1, 10, 5), cost=math.nan),
    Reply("text", usage=Usage(1, 10, 5), cost=-math.inf),
    Reply("text", usage=Usage(1, math.nan, 5), cost=0.1),  # type: ignore[arg-type]
    Reply("text", usage=Usage(1, 10.5, math.inf), cost=math.inf),  # type: ignore[arg-type]
    Reply("text", usage=Usage(1, 10**400, 5), cost=None),
    Reply("text", usage=Usage(1, "many", None), cost="free"),  # type: ignore[arg-type]
    Reply("text", usage=Usage(-3, 10, 5, -7), cost=0.1),
]


@pytest.mark.parametrize("reply", WRONG, ids=range(len(WRONG)))
async def test_impossible_usage_still_spends_the_budget(reply: Reply) -> None:
    class Liar:
        name = "liar"

        async def complete(self, _: Request) -> Reply:
            return reply

    record = Recorder()
    budget = Budget(max_cost=0.1, price_of=lambda _: PRICE)
    prices = PriceList(listed=lambda _: PRICE)
    model = BudgetedModel(MeteredModel(Liar(), prices), budget, record)
    answer = await model.complete(ASKED)
    used = answer.usage
    for value in (used.calls, used.prompt_tokens, used.completion_tokens, used.cached_tokens):
        assert type(value) is int
        assert value >= 0
    assert answer.cost is None or 0 <= answer.cost < math.inf
    for _ in range(2000):
        before = budget.cost
        try:
            await model.complete(ASKED)
        except BudgetSpent:
            break
        assert budget.cost > before
    else:
        pytest.fail("the budget never ended")
    said = [event.message for event in record.events if isinstance(event, Warned) and "estimated" in event.message]
    assert len(said) == used.estimated_calls


async def test_negative_recorded_cost_counts_as_zero() -> None:
    assert Budget(max_cost=1.0, cost=-750.0, usage=Usage(1, -5, 5)).cost == 0.0
    assert Budget(max_cost=1.0, cost=math.nan).cost == 0.0
