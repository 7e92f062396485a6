"""Summarises earlier turns of a conversation that no longer fit into prompts, once each."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from goalwright.runs.conversations.fitting import SUMMARY_LENGTH
from goalwright_planner.errors import BudgetSpent, ModelError
from goalwright_planner.events import TurnSummarised, Warned
from goalwright_planner.model import Message, Request
from goalwright_skills.text.formatting import cut

if TYPE_CHECKING:
    from goalwright.runs.run_context import RunContext
    from goalwright_planner.events import EarlierTurn

# The largest number of turns that one run summarises; a later run summarises the others.
_MOST = 8


async def sum_up(context: RunContext) -> None:
    """Summarise the turns that do not fit this turn's prompt and have no summary yet, with one call each."""
    seen = context.goal.conversation
    unsummarised = [turn for turn in seen.turns if not turn.fits and not turn.summary] if seen is not None else []
    if unsummarised:
        await context.models.ready("summary")
        await asyncio.gather(*(_sum_up(context, turn) for turn in unsummarised[:_MOST]))


async def _sum_up(context: RunContext, turn: EarlierTurn) -> None:
    prompt = context.turn_prompt
    if prompt is None:
        return
    system, user = prompt.for_summary(turn)
    messages = (Message("system", system), Message("user", user))
    about = ["summary", turn.number, turn.goal, turn.answer]
    try:
        reply = await context.models.for_role("summary").complete(
            Request(messages, role="summary", about=about, fixed=1)
        )
    except BudgetSpent:
        raise
    except ModelError as error:
        context.record(Warned(f"turn {turn.number} could not be summed up, so its beginning is shown: {error}"))
        return
    if not (text := cut(reply.text.strip(), SUMMARY_LENGTH)):
        return
    context.summaries[turn.number] = context.memo.recorded(TurnSummarised(turn.number, text)).text
