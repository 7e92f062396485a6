"""Renders earlier turns of a conversation in prompts, as material and not as instructions."""

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
