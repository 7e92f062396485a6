"""Identical calls are made only once."""

from __future__ import annotations

import asyncio

import pytest

from goalwright.batch.limits.dedupe import ReplyCache
from goalwright_planner.errors import KeyRefused
from goalwright_planner.model import Message, Reply, Request, Usage
from tests.fakes import ScriptedModel, saying

ASK = Request((Message("user", "hi"),), task="a")


class Slow:
    """A model that answers when it is let."""

    name = "slow"

    def __init__(self) -> None:
        self.asked = 0
        self.may_answer = asyncio.Event()

    async def complete(self, request: Request) -> Reply:
        self.asked += 1
        await self.may_answer.wait()
        return Reply("ok", usage=Usage(1, 10, 5), cost=0.5)


async def test_identical_concurrent_calls_are_made_and_paid_once() -> None:
    model, answers = Slow(), ReplyCache()
    calls = [asyncio.create_task(answers.around(model).complete(ASK)) for _ in range(5)]
    await asyncio.sleep(0)
    model.may_answer.set()
    replies = await asyncio.gather(*calls)
    assert model.asked == 1
    assert sum(reply.usage.tokens for reply in replies) == 15
    assert sum(reply.cost or 0 for reply in replies) == 0.5


async def test_different_requests_are_separate_calls() -> None:
    model = ScriptedModel(lambda request: Reply(request.messages[0].content))
    deduped = ReplyCache().around(model)
    for text in ("a", "b", "a"):
        assert (await deduped.complete(Request((Message("user", text),)))).text == text
    assert len(model.asked) == 2


async def test_failure_is_not_cached() -> None:
    deduped = ReplyCache().around(saying(KeyRefused("no"), "yes"))
    with pytest.raises(KeyRefused):
        await deduped.complete(ASK)
    assert (await deduped.complete(ASK)).text == "yes"


async def test_cancelled_goal_does_not_cancel_shared_call() -> None:
    model, answers = Slow(), ReplyCache()
    first = asyncio.create_task(answers.around(model).complete(ASK))
    await asyncio.sleep(0)
    second = asyncio.create_task(answers.around(model).complete(ASK))
    await asyncio.sleep(0)
    first.cancel()
    model.may_answer.set()
    assert (await second).text == "ok"
    assert model.asked == 2


async def test_evicted_call_fails_with_its_own_error() -> None:
    answers = ReplyCache()

    def script(_: Request) -> Reply | Exception:
        answers.futures.clear()  # as ten thousand later answers would do
        return KeyRefused("no")

    with pytest.raises(KeyRefused):
        await answers.around(ScriptedModel(script)).complete(ASK)
