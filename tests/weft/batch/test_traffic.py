"""The pool of calls that all goals share."""

from __future__ import annotations

import asyncio
import itertools
import time

import pytest

from planner.errors import KeyRefused, Overloaded, RateLimited, ServerFailed
from planner.model import Message, Reply, Request, Usage
from tests.fakes import ScriptedModel, saying
from weft.batch.pooled import Traffic
from weft.batch.traffic import Gate, Pool, Rates

REQUEST = Request((Message("user", "hi"),))


async def test_no_more_calls_are_under_way_than_allowed() -> None:
    pool = Pool(3)
    most = 0

    async def call(owner: str) -> None:
        nonlocal most
        async with pool.turn(owner):
            most = max(most, pool.under_way)
            await asyncio.sleep(0.001)

    await asyncio.gather(*(call(f"goal-{number % 4}") for number in range(40)))
    assert most == 3
    assert pool.under_way == 0


async def test_a_wide_goal_and_small_ones_take_turns() -> None:
    pool = Pool(1)
    order: list[str] = []

    async def call(owner: str) -> None:
        async with pool.turn(owner):
            order.append(owner)
            await asyncio.sleep(0)

    wide = [asyncio.create_task(call("wide")) for _ in range(10)]
    await asyncio.sleep(0)
    small = [asyncio.create_task(call("small")) for _ in range(2)]
    await asyncio.gather(*wide, *small)
    assert max(place for place, owner in enumerate(order) if owner == "small") <= 5


async def test_a_call_that_is_cancelled_while_it_waits_leaves_no_hole() -> None:
    pool = Pool(1)
    release = asyncio.Event()

    async def hold() -> None:
        async with pool.turn("a"):
            await release.wait()

    async def pass_by() -> str:
        async with pool.turn("c"):
            return "through"

    holder = asyncio.create_task(hold())
    await asyncio.sleep(0)
    waiting = asyncio.create_task(hold())
    after = asyncio.create_task(pass_by())
    await asyncio.sleep(0)
    waiting.cancel()
    release.set()
    assert await asyncio.wait_for(after, 2) == "through"
    await holder
    assert pool.under_way == 0


async def test_overload_halves_the_pool_and_successes_let_it_grow_again() -> None:
    traffic = Traffic(Rates(max_calls=8))
    model = traffic.around(saying(RateLimited("slow"), "ok"), "goal")
    with pytest.raises(RateLimited):
        await model.complete(REQUEST)
    assert traffic.pool.limit == 4
    for _ in range(4):
        await model.complete(REQUEST)
    assert 4.8 < traffic.pool.limit < 5.1


async def test_no_call_is_made_before_retry_after_has_passed_whoever_asks() -> None:
    traffic = Traffic(Rates())
    at: list[float] = []
    answers: list[Reply | Exception] = [RateLimited("slow", retry_after=0.3)]

    def script(_: Request) -> Reply | Exception:
        at.append(time.monotonic())
        return answers.pop() if answers else Reply("ok")

    inner = ScriptedModel(script)
    with pytest.raises(RateLimited):
        await traffic.around(inner, "a").complete(REQUEST)
    await asyncio.gather(*(traffic.around(inner, name).complete(REQUEST) for name in "bcd"))
    assert all(later - at[0] >= 0.3 for later in at[1:])


async def test_calls_are_paced_to_rpm() -> None:
    traffic = Traffic(Rates(rpm=1200))
    at: list[float] = []
    inner = ScriptedModel(lambda _: at.append(time.monotonic()) or Reply("ok"))  # type: ignore[func-returns-value]
    await asyncio.gather(*(traffic.around(inner, str(n)).complete(REQUEST) for n in range(6)))
    gaps = [later - earlier for earlier, later in itertools.pairwise(at)]
    assert min(gaps) >= 0.045


async def test_a_first_call_that_leaves_late_does_not_crowd_the_others() -> None:
    traffic = Traffic(Rates(rpm=600))
    at: list[float] = []

    class Late:
        """Needs a while for its first call before that leaves, as a new connection does."""

        name = "late"

        async def complete(self, _: Request) -> Reply:
            if not at:
                await asyncio.sleep(0.5)
            at.append(time.monotonic())
            return Reply("ok")

    await asyncio.gather(*(traffic.around(Late(), str(n)).complete(REQUEST) for n in range(6)))
    assert at[-1] - at[0] >= 5 * 0.1 - 0.01


async def test_tokens_are_paced_to_tpm_and_settled_by_what_was_used() -> None:
    gate = Gate(Rates(tpm=6000))
    await gate.pass_through(6000)
    gate.went_well(6000, 5980)
    began = time.monotonic()
    await gate.pass_through(50)
    assert time.monotonic() - began >= 0.25


async def test_an_outage_is_waited_out_without_spending_attempts() -> None:
    traffic = Traffic(Rates(max_calls=20))
    began = time.monotonic()

    def script(_: Request) -> Reply | Exception:
        return ServerFailed("down") if time.monotonic() - began < 1.5 else Reply("back", usage=Usage(1))

    inner = ScriptedModel(script)
    traffic.gate("scripted").failures = 7
    replies = await asyncio.gather(*(traffic.around(inner, str(n)).complete(REQUEST) for n in range(10)))
    assert {reply.text for reply in replies} == {"back"}
    assert len(inner.asked) <= 25


async def test_a_refusal_says_nothing_about_the_provider() -> None:
    traffic = Traffic(Rates())
    for error in (KeyRefused("no"), Overloaded("busy")):
        with pytest.raises(type(error)):
            await traffic.around(saying(error), "a").complete(REQUEST)
    assert traffic.gate("scripted").failures == 1
