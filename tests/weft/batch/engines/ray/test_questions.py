"""What a worker asks of the budget, and the answers."""

from __future__ import annotations

import asyncio

from weft.batch.engines.ray.questions import BudgetAnswer, BudgetLine
from weft.batch.limits.shared.budget import Amount, BudgetAsk, BudgetShare


async def test_an_answer_to_a_question_that_was_given_up_is_dropped() -> None:
    line, nothing = BudgetLine(), Amount()
    asking = asyncio.create_task(line.ask(BudgetAsk("w", nothing, nothing)))
    late = await line.fetch(None)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    again = asyncio.create_task(line.ask(BudgetAsk("w", nothing, nothing, wanted=Amount(1.0))))
    await asyncio.sleep(0)
    question = await line.fetch(BudgetAnswer(late.number, BudgetShare(Amount(9.0))))
    assert (question.ask.wanted, again.done()) == (Amount(1.0), False)
    waiting = asyncio.create_task(line.fetch(BudgetAnswer(question.number, BudgetShare(Amount(1.0)))))
    assert (await again).allotted == Amount(1.0)
    assert not waiting.done()
    waiting.cancel()
