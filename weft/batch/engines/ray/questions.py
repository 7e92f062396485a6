"""Carries what a worker asks of the budget to the batch: no worker can call it, so it fetches each question.

the worker asks and waits → the batch, which waits for a question, gets it → its answer comes with its next fetch
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from weft.batch.limits.shared.budget import BudgetAsk, BudgetShare


class BudgetQuestion(NamedTuple):
    """What a worker asks, and the number that the answer must have."""

    number: int
    ask: BudgetAsk


class BudgetAnswer(NamedTuple):
    """The answer to the question of this number."""

    number: int
    share: BudgetShare


@dataclass(slots=True)
class BudgetLine:
    """A worker's end: one question at a time. The answer to one that was given up is out of date, and dropped."""

    _number: int = 0
    _question: BudgetAsk | None = None
    _answer: asyncio.Future[BudgetShare] | None = None
    _asked: asyncio.Event = field(default_factory=asyncio.Event)

    async def ask(self, ask: BudgetAsk) -> BudgetShare:
        """Ask, and wait for the answer."""
        self._number += 1
        self._question, self._answer = ask, asyncio.get_running_loop().create_future()
        self._asked.set()
        return await self._answer

    async def fetch(self, answer: BudgetAnswer | None) -> BudgetQuestion:
        """Take the answer to the last question, and wait for the next one."""
        waiting = self._answer
        if answer is not None and answer.number == self._number and waiting is not None and not waiting.done():
            waiting.set_result(answer.share)
        while True:
            await self._asked.wait()
            self._asked.clear()
            if self._question is not None and self._answer is not None and not self._answer.done():
                return BudgetQuestion(self._number, self._question)
