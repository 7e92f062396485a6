"""The calls that all goals of a batch share."""

from __future__ import annotations

import asyncio
import itertools
import time

import pytest

from goalwright.batch.limits.call_queue import CallQueue, CallRequest
from goalwright.batch.limits.limited_model import CallLimits
from goalwright.batch.limits.rate_limiter import RateLimiter, Rates
from goalwright.models.fallback import FallbackModel
from goalwright.models.retry import RetryingModel, RetryPolicy
from goalwright_planner.errors import KeyRefused, Overloaded, RateLimited, ServerFailed, UnknownModel
from goalwright_planner.model import Message, Reply, Request, Usage
from tests.fakes import Recorder, ScriptedModel, saying

REQUEST = Request((Message("user", "hi"),))


async def test_concurrent_calls_are_limited() -> None:
    queue, limiter = CallQueue(3), RateLimiter(Rates())
    most = 0

    async def call(owner: str) -> None:
        nonlocal most
        async with queue.turn(owner, CallRequest(limiter)):
            most = max(most, queue.running)
            await asyncio.sleep(0.001)

    await asyncio.gather(*(call(f"goal-{number % 4}") for number in range(40)))
    assert most == 3
    assert queue.running == 0


async def test_goals_take_turns() -> None:
    queue, limiter = CallQueue(1), RateLimiter(Rates())
    order: list[str] = []

    async def call(owner: str) -> None:
        async with queue.turn(owner, CallRequest(limiter)):
            order.append(owner)
            await asyncio.sleep(0)

    wide = [asyncio.create_task(call("wide")) for _ in range(10)]
    await asyncio.sleep(0)
    small = [asyncio.create_task(call("small")) for _ in range(2)]
    await asyncio.gather(*wide, *small)
    assert max(place for place, owner in enumerate(order) if owner == "small") <= 5


async def test_cancelled_waiting_call_frees_its_slot() -> None:
    queue, limiter = CallQueue(1), RateLimiter(Rates())
    release = asyncio.Event()

    async def hold() -> None:
        async with queue.turn("a", CallRequest(limiter)):
            await release.wait()

    async def pass_by() -> str:
        async with queue.turn("c", CallRequest(limiter)):
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
    assert queue.running == 0


async def test_overload_halves_limit_and_successes_restore_it() -> None:
    limits = CallLimits(Rates(max_calls=8))
    model = limits.around(saying(RateLimited("slow"), "ok"), "goal")
    with pytest.raises(RateLimited):
        await model.complete(REQUEST)
    assert limits.limiter("scripted").limit == 4
    for _ in range(4):
        await model.complete(REQUEST)
    assert 4.8 < limits.limiter("scripted").limit < 5.1


async def test_retry_after_applies_to_all_goals() -> None:
    limits = CallLimits(Rates())
    at: list[float] = []
    answers: list[Reply | Exception] = [RateLimited("slow", retry_after=0.3)]

    def script(_: Request) -> Reply | Exception:
        at.append(time.monotonic())
        return answers.pop() if answers else Reply("ok")

    inner = ScriptedModel(script)
    with pytest.raises(RateLimited):
        await limits.around(inner, "a").complete(REQUEST)
    await asyncio.gather(*(limits.around(inner, name).complete(REQUEST) for name in "bcd"))
    assert all(later - at[0] >= 0.3 for later in at[1:])


async def test_calls_are_paced_to_rpm() -> None:
    limits = CallLimits(Rates(rpm=1200))
    at: list[float] = []
    inner = ScriptedModel(lambda _: at.append(time.monotonic()) or Reply("ok"))  # type: ignore[func-returns-value]
    await asyncio.gather(*(limits.around(inner, str(n)).complete(REQUEST) for n in range(6)))
    gaps = [later - earlier for earlier, later in itertools.pairwise(at)]
    assert min(gaps) >= 0.045


async def test_late_first_call_does_not_crowd_others() -> None:
    limits = CallLimits(Rates(rpm=600))
    at: list[float] = []

    class Late:
        """Needs a while for its first call before that leaves, as a new connection does."""

        name = "late"

        async def complete(self, _: Request) -> Reply:
            if not at:
                await asyncio.sleep(0.5)
            at.append(time.monotonic())
            return Reply("ok")

    await asyncio.gather(*(limits.around(Late(), str(n)).complete(REQUEST) for n in range(6)))
    assert at[-1] - at[0] >= 5 * 0.1 - 0.01


def test_tokens_are_paced_to_tpm_and_corrected_by_usage() -> None:
    limiter = RateLimiter(Rates(tpm=6000))
    assert limiter.wait(6000) <= 0
    limiter.enter(6000)
    limiter.leave()
    limiter.succeeded(6000, 5980)
    assert 0.2 < limiter.wait(50) <= 0.3
    limiter.failed(ServerFailed("nothing was used"), 5980)
    assert limiter.wait(50) <= 0


@pytest.mark.slow
async def test_outage_does_not_use_up_attempts() -> None:
    limits = CallLimits(Rates(max_calls=20))
    began = time.monotonic()

    def script(_: Request) -> Reply | Exception:
        return ServerFailed("down") if time.monotonic() - began < 1.5 else Reply("back", usage=Usage(1))

    inner = ScriptedModel(script)
    limits.limiter("scripted").failures = 7
    replies = await asyncio.gather(*(limits.around(inner, str(n)).complete(REQUEST) for n in range(10)))
    assert {reply.text for reply in replies} == {"back"}
    assert len(inner.asked) <= 25


async def test_refused_request_does_not_count_against_provider() -> None:
    limits = CallLimits(Rates())
    for error in (KeyRefused("no"), Overloaded("busy")):
        with pytest.raises(type(error)):
            await limits.around(saying(error), "a").complete(REQUEST)
    assert limits.limiter("scripted").failures == 1


async def test_paused_model_does_not_block_others() -> None:
    limits = CallLimits(Rates(max_calls=2))
    throttled = ScriptedModel(lambda _: RateLimited("slow", retry_after=3600), "throttled")
    with pytest.raises(RateLimited):
        await limits.around(throttled, "a").complete(REQUEST)
    waiting = [asyncio.create_task(limits.around(throttled, "a").complete(REQUEST)) for _ in range(5)]
    await asyncio.sleep(0)
    free = [limits.around(saying("ok"), name).complete(REQUEST) for name in "abcd"]
    assert len(await asyncio.wait_for(asyncio.gather(*free), 10)) == 4
    assert (len(throttled.asked), limits.limiter("throttled").limit, limits.limiter("scripted").limit) == (1, 1, 2)
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert limits.queue.running == 0


async def test_cancelled_probe_lets_others_probe() -> None:
    limits = CallLimits(Rates())
    limits.limiter("slow").failures = 8

    class Slow:
        """Does not answer the first time."""

        name = "slow"
        asked = 0
        begun = asyncio.Event()

        async def complete(self, _: Request) -> Reply:
            self.asked += 1
            self.begun.set()
            if self.asked == 1:
                await asyncio.sleep(3600)
            return Reply("ok")

    model = Slow()
    probe = asyncio.create_task(limits.around(model, "a").complete(REQUEST))
    await asyncio.wait_for(model.begun.wait(), 10)
    after = asyncio.create_task(limits.around(model, "b").complete(REQUEST))
    await asyncio.sleep(0)
    assert model.asked == 1, "one call at a time tries it"
    probe.cancel()
    assert (await asyncio.wait_for(after, 10)).text == "ok"


async def test_large_call_is_not_overtaken_by_small_ones() -> None:
    limits = CallLimits(Rates(tpm=60_000))
    order: list[int] = []
    model = ScriptedModel(lambda request: order.append(len(request.messages[0].content)) or Reply("ok", usage=Usage(1)))  # type: ignore[func-returns-value]
    limits.limiter("scripted").tokens = 0.0
    asked = [Request((Message("user", "x" * size),)) for size in (800, 4, 4)]
    await asyncio.gather(*(limits.around(model, str(n)).complete(one) for n, one in enumerate(asked)))
    assert order == [800, 4, 4]


async def test_fallback_is_used_when_model_is_down_or_pauses_long() -> None:
    limits = CallLimits(Rates())
    for failure in (RateLimited("slow", retry_after=3600), ServerFailed("down")):
        bad = ScriptedModel(lambda _, failure=failure: failure, type(failure).__name__)  # type: ignore[misc]
        limiter, last = limits.limiter(bad.name), saying("ok")
        limiter.failures = 7

        def chain(owner: str, bad: ScriptedModel = bad, last: ScriptedModel = last) -> FallbackModel:
            record, patience = Recorder(), RetryPolicy(seconds=0.1, first_wait=0.0)
            models = limits.around(bad, owner, 0.1), limits.around(last, owner)
            return FallbackModel(tuple(RetryingModel(one, patience, record) for one in models), record)

        replies = await asyncio.wait_for(asyncio.gather(*(chain(str(n)).complete(REQUEST) for n in range(40))), 20)
        assert {reply.text for reply in replies} == {"ok"}
        later = await asyncio.wait_for(chain("later").complete(REQUEST), 20)
        assert later.text == "ok"
        assert len(bad.asked) <= 33, "those that were under way together, and no other"
    assert limits.queue.running == 0


async def test_admission_time_is_independent_of_queue_length() -> None:
    looks = 0

    class Watched(RateLimiter):
        def wait(self, tokens: int) -> float:
            nonlocal looks
            looks += 1
            return super().wait(tokens)

        def closed(self, patience: float) -> str:
            nonlocal looks
            looks += 1
            return super().closed(patience)

    queue, limiter = CallQueue(8), Watched(Rates(max_calls=2))

    async def call(owner: str) -> None:
        async with queue.turn(owner, CallRequest(limiter, patience=600.0)):
            await asyncio.sleep(0)

    await asyncio.gather(*(call(f"goal-{number % 100}") for number in range(1000)))
    assert looks < 10 * 1000


async def test_cancelled_large_call_does_not_block_queue() -> None:
    queue, limiter = CallQueue(8), RateLimiter(Rates(tpm=60_000))

    async def call(tokens: int) -> str:
        async with queue.turn(str(tokens), CallRequest(limiter, tokens=tokens)):
            return "through"

    assert await call(59_000) == "through"
    large = asyncio.create_task(call(60_000))
    await asyncio.sleep(0)
    small = asyncio.create_task(call(10))
    await asyncio.sleep(0)
    large.cancel()
    assert await asyncio.wait_for(small, 10) == "through"
    assert queue.running == 0


def test_simultaneous_failures_lengthen_pause_once() -> None:
    limiter = RateLimiter(Rates())
    began = time.monotonic()
    for _ in range(32):
        limiter.failed(ServerFailed("down"), 0)
    assert limiter.is_down
    assert began < limiter.opens_at <= time.monotonic() + 1.0
    limiter.opens_at = 0.0  # the pause is over, and a call tries it
    began = time.monotonic()
    limiter.failed(ServerFailed("down"), 0)
    assert began + 1.0 < limiter.opens_at <= time.monotonic() + 2.0


async def test_unknown_model_is_not_called_again_with_fallback() -> None:
    limits = CallLimits(Rates(max_calls=1))
    nobody = saying(UnknownModel("no such"))
    goals = [limits.around(nobody, str(number), patience=600.0) for number in range(50)]
    ended = await asyncio.gather(*(goal.complete(REQUEST) for goal in goals), return_exceptions=True)
    ended.append((await asyncio.gather(goals[0].complete(REQUEST), return_exceptions=True))[0])
    assert {type(error) for error in ended} == {UnknownModel}
    assert len(nobody.asked) == 1
    with pytest.raises(UnknownModel, match="no such"):
        await limits.around(nobody, "without another").complete(REQUEST)
    assert len(nobody.asked) == 2
    assert limits.queue.running == 0
