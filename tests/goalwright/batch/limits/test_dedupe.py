"""Identical calls are made once."""

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


async def test_the_same_call_at_the_same_time_is_made_once_and_paid_once() -> None:
    model, answers = Slow(), ReplyCache()
    calls = [asyncio.create_task(answers.around(model).complete(ASK)) for _ in range(5)]
    await asyncio.sleep(0)
    model.may_answer.set()
    replies = await asyncio.gather(*calls)
    assert model.asked == 1
    assert sum(reply.usage.tokens for reply in replies) == 15
    assert sum(reply.cost or 0 for reply in replies) == 0.5


async def test_other_words_are_another_call() -> None:
    model = ScriptedModel(lambda request: Reply(request.messages[0].content))
    deduped = ReplyCache().around(model)
    for text in ("a", "b", "a"):
        assert (await deduped.complete(Request((Message("user", text),)))).text == text
    assert len(model.asked) == 2


async def test_a_failure_is_not_remembered() -> None:
    deduped = ReplyCache().around(saying(KeyRefused("no"), "yes"))
    with pytest.raises(KeyRefused):
        await deduped.complete(ASK)
    assert (await deduped.complete(ASK)).text == "yes"


async def test_a_goal_that_ends_does_not_take_the_others_answer_with_it() -> None:
    model, answers = Slow(), ReplyCache()
    first = asyncio.create_task(answers.around(model).complete(ASK))
    await asyncio.sleep(0)
    second = asyncio.create_task(answers.around(model).complete(ASK))
    await asyncio.sleep(0)
    first.cancel()
    model.may_answer.set()
    assert (await second).text == "ok"
    assert model.asked == 2


async def test_a_call_that_fails_after_it_was_forgotten_fails_as_itself() -> None:
    answers = ReplyCache()

    def script(_: Request) -> Reply | Exception:
        answers.futures.clear()  # as ten thousand later answers would do
        return KeyRefused("no")

    with pytest.raises(KeyRefused):
        await answers.around(ScriptedModel(script)).complete(ASK)
