"""How earlier turns of a conversation are said in prompts: as material, and never as instructions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goalwright.runs.conversations.fitting import SUMMARY_LENGTH
from goalwright_executor.capture.beginnings import beginnings
from goalwright_planner.plan.references import earlier_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright_executor.capture.capture import Capture
    from goalwright_planner.events import ConversationTurn, EarlierTurn
    from goalwright_planner.plan.task import Task
    from goalwright_planner.prompting.profile import Profile
    from goalwright_planner.prompting.prompts import Prompts

# Characters of the last answer that a small model is shown.
_SMALL = 3_000
# The marks around what is shown begin like this; a text that has one itself must not end them.
_MARK = re.compile(r"<(\s*/?\s*turn)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TurnPrompt:
    """Says in prompts what earlier turns came to; `summaries` are those made in this run, by the turns' numbers."""

    seen: ConversationTurn
    prompts: Prompts
    summaries: Mapping[int, str]
    capture: Capture

    def for_planner(self) -> str:
        """What the planner is told."""
        return self._told("plan", [self._row(turn) for turn in self.seen.turns])

    def for_task(self, task: Task, profile: Profile) -> str:
        """What a task's model is told: nothing if the task builds on others, which were."""
        if task.depends_on:
            return ""
        if profile.tools:
            return self._told("task", [self._row(turn) for turn in self.seen.turns])
        last = [self._row(turn) for turn in self.seen.turns[:1]]
        return self._told("task", [row | {"answer": self._cut(row["answer"], _SMALL)} for row in last])

    def for_summary(self, turn: EarlierTurn) -> tuple[str, str]:
        """The messages that ask for the summary of a turn."""
        variables = {"goal": fenced(turn.goal), "status": turn.status, "answer": fenced(turn.answer)}
        return self.prompts.render("conversation", "system", {}), self.prompts.render("conversation", "user", variables)

    def _told(self, block: str, turns: list[dict[str, Any]]) -> str:
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
        said = {"number": self.seen.number, "turns": turns, "left_out": self.seen.left_out, "results": results}
        return self.prompts.render("conversation", block, said)

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
    """A text that cannot end the marks around it."""
    return _MARK.sub(r"&lt;\1", text)
