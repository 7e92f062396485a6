"""Asks a model for an edit; what it is shown of the evaluation is the working cases' alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goalwright.evaluation.improve.edit import SCHEMA, BadEdit, Edit, plain, read_edit
from goalwright.models.budget import Budget
from goalwright.models.roles import RoleModels
from goalwright_executor.results.memo import Memo
from goalwright_planner.json_answer import NotJson, extract
from goalwright_planner.model import Message, Reply, Request
from goalwright_skills.text.formatting import clip

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright.evaluation.scoring import Score
    from goalwright.runs.runtime import Goalwright
    from goalwright_executor.history.result import TaskReport
    from goalwright_planner.events import Event

_MOST_FAILURES = 12
_MOST_CHECKS, _MOST_TASKS = 5, 8
_EXCERPT = 1_000
_MOST_SKILL = 60_000


@dataclass(frozen=True, slots=True)
class Rejected:
    """An edit that a gate refused, and why."""

    edit: Edit
    gate: str
    reason: str


@dataclass(slots=True)
class Proposer:
    """Asks for edits of one skill, at most `most_lines` long; `cost` is what that took, None if it is not known."""

    goalwright: Goalwright
    model: str
    most_lines: int
    description: bool
    cost: float | None = 0.0

    async def propose(self, skill: str, failed: Sequence[Score], rejected: Sequence[Rejected]) -> Edit:
        """An edit; raises BadEdit if the model gives none in two answers."""
        shown = {
            "skill": clip(plain(skill), _MOST_SKILL),
            "failures": [_failure(score) for score in failed[:_MOST_FAILURES]],
            "rejected": [one.edit.to_dict() | {"gate": one.gate, "reason": one.reason} for one in rejected],
        }
        limits = {"most_lines": self.most_lines, "description": self.description}
        messages = self.goalwright.workspace.prompts().messages("improver", shown | limits)
        reply = await self._asked(messages)
        try:
            return _edit(reply)
        except BadEdit as error:
            again = self.goalwright.workspace.prompts().render("improver", "again", {"fault": str(error)})
            return _edit(await self._asked((*messages, Message("assistant", reply.text), Message("user", again))))

    async def _asked(self, messages: tuple[Message, ...]) -> Reply:
        models = RoleModels(self.goalwright.settings, Memo(_ignore), Budget(), self.goalwright.open_model)
        reply = await models.named(self.model).complete(Request(messages, schema=SCHEMA))
        self.cost = None if self.cost is None or reply.cost is None else self.cost + reply.cost
        return reply


def _edit(reply: Reply) -> Edit:
    try:
        return read_edit(extract(reply.text, "old", "new"))
    except (NotJson, RecursionError) as error:
        raise BadEdit(f"the answer is not JSON: {error}") from error


def _failure(score: Score) -> dict[str, Any]:
    return {
        "goal": clip(score.result.goal, _EXCERPT),
        "checks": [check.to_dict() for check in score.checks if not check.passed][:_MOST_CHECKS],
        "tasks": [_task(task) for task in score.result.tasks[:_MOST_TASKS]],
        "excerpt": clip(score.result.answer or "", _EXCERPT),
    }


def _task(task: TaskReport) -> dict[str, str]:
    """How a task went, in a line or two: its skill or tool, how it ended, and what it gave or why it failed."""
    told = task.error or task.output or ""
    return {"id": task.id, "name": task.name or "", "status": task.status, "text": clip(told, _EXCERPT // 4)}


def _ignore(_: Event) -> None:
    """What happens around the call is not part of any run."""
