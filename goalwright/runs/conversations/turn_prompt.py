"""Renders earlier turns of a conversation in prompts, as material and not as instructions; summarises old turns."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goalwright.runs.conversations.fitting import SUMMARY_LENGTH
from goalwright_executor.capture.beginnings import beginnings
from goalwright_planner.errors import BudgetSpent, ModelError
from goalwright_planner.events import TurnSummarised, Warned
from goalwright_planner.model import Message, Request
from goalwright_planner.plan.references import earlier_id
from goalwright_skills.text.shorten import cut

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright.runs.run_context import RunContext
    from goalwright_executor.capture.capture import Capture
    from goalwright_planner.events import ConversationTurn, EarlierTurn
    from goalwright_planner.plan.task import Task
    from goalwright_planner.prompting.profile import Profile
    from goalwright_planner.prompting.prompts import Prompts

# The largest number of turns that one run summarises; a later run summarises the rest.
_MOST = 8
# Characters of the last answer in the prompt of a small model.
_SMALL = 3_000
# The tags around earlier turns begin like this; a text must not contain one.
_MARK = re.compile(r"<(\s*/?\s*turn)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TurnPrompt:
    """Renders earlier turns; `summaries` are the summaries made in this run, by the numbers of the turns."""

    seen: ConversationTurn
    prompts: Prompts
    summaries: Mapping[int, str]
    capture: Capture

    def for_planner(self) -> str:
        """Return the text for the planner."""
        return self._rendered("plan", [self._row(turn) for turn in self.seen.turns])

    def for_task(self, task: Task, profile: Profile) -> str:
        """Return the text for a task's model; empty if the task depends on others, which have it."""
        if task.depends_on:
            return ""
        if profile.tools:
            return self._rendered("task", [self._row(turn) for turn in self.seen.turns])
        last = [self._row(turn) for turn in self.seen.turns[:1]]
        return self._rendered("task", [row | {"answer": self._cut(row["answer"], _SMALL)} for row in last])

    def for_summary(self, turn: EarlierTurn) -> tuple[str, str]:
        """Return the system and the user message that ask for the summary of a turn."""
        variables = {"goal": fenced(turn.goal), "status": turn.status, "answer": fenced(turn.answer)}
        return self.prompts.render("conversation", "system", {}), self.prompts.render("conversation", "user", variables)

    def _rendered(self, block: str, turns: list[dict[str, Any]]) -> str:
        if not turns:
            return ""
        results = [
            {
                "reference": f"<<{earlier_id(result.turn, result.task)}.output>>",
                "title": " ".join(fenced(result.title).split()) or result.task,
                "size": f"{result.size:,}",
            }
            for result in self.seen.results
        ]
        variables = {"number": self.seen.number, "turns": turns, "left_out": self.seen.left_out, "results": results}
        return self.prompts.render("conversation", block, variables)

    def _row(self, turn: EarlierTurn) -> dict[str, Any]:
        row = {"number": turn.number, "status": turn.status, "goal": fenced(turn.goal), "answer": fenced(turn.answer)}
        summary = (
            ""
            if turn.fits
            else turn.summary
            or self.summaries.get(turn.number)
            or self._cut(f"{turn.goal}\n{turn.answer}", SUMMARY_LENGTH)
        )
        return row | {"summary": fenced(summary)}

    def _cut(self, text: str, length: int) -> str:
        return beginnings({"text": text}, length, length, self.capture)["text"]


def fenced(text: str) -> str:
    """Escape a text so that it cannot end the tags around it."""
    return _MARK.sub(r"&lt;\1", text)


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
