"""Follows up a run: a new run gets the results of a finished run, as material and not as instructions.

They are recorded in the new run, so that it does not need the earlier one. The planner sees their beginnings; tasks
without dependencies see more.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goalwright_executor.capture.beginnings import beginnings
from goalwright_executor.history.run_history import RunHistory
from goalwright_planner.events import EarlierOutput, EarlierRun
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from goalwright_executor.capture.capture import Capture
    from goalwright_executor.stores.store import Store
    from goalwright_planner.plan.task import Task
    from goalwright_planner.prompting.profile import Profile
    from goalwright_planner.prompting.prompts import Prompts

_ENDED = ("done", "partial", "failed")
# Limits in characters on the goal, the answer, each result and all results.
_GOAL, _ANSWER, _RESULT, _RESULTS = 4_000, 30_000, 3_000, 15_000
# Limits on the answer, each result and all results in the prompts of the planner and of small models.
_SHOWN_TO_PLANNER = 6_000, 500, 5_000
_SHOWN_TO_SMALL = 3_000, 0, 0
# The tags around these texts begin like this; a text must not contain one.
_MARK = re.compile(r"<(\s*/?\s*earlier)", re.IGNORECASE)


def earlier_run(store: Store, run: str, capture_of: Callable[[str], Capture]) -> EarlierRun:
    """Return the results of a stored run for a new one; raises if it has not ended."""
    summary = store.find(run)
    if summary.status not in _ENDED:
        reason = "it waits for an answer" if summary.status == "waiting" else f"its status is {summary.status}"
        raise InputError(
            f"run {summary.run_id} has not ended: {reason}",
            hint=f"a run can be followed up once it is done or failed: goalwright resume {summary.run_id}",
        )
    capture = capture_of(summary.run_id)
    result = RunHistory.of(store.rows(summary.run_id), capture).ledger.result()
    titles = {task.id: task.title for task in result.plan.tasks} if result.plan is not None else {}
    outputs = {task.id: task.output for task in result.tasks if task.output and task.output != result.answer}
    own = beginnings({"goal": result.goal}, _GOAL, _GOAL, capture)
    answer = beginnings({"answer": result.answer or ""}, _ANSWER, _ANSWER, capture)
    texts = beginnings(outputs, _RESULT, _RESULTS, capture)
    results = tuple(EarlierOutput(name, titles.get(name, ""), text) for name, text in texts.items() if text)
    return EarlierRun(summary.run_id, own["goal"], result.status, answer["answer"], results)


@dataclass(frozen=True, slots=True)
class FollowUp:
    """Renders the earlier run in prompts."""

    earlier: EarlierRun
    prompts: Prompts
    capture: Capture

    def for_planner(self) -> str:
        """Return the text for the planner."""
        return self._rendered("plan", *_SHOWN_TO_PLANNER)

    def for_task(self, task: Task, profile: Profile) -> str:
        """Return the text for a task's model; empty if the task depends on others, which have it."""
        if task.depends_on:
            return ""
        return self._rendered("task", *((_ANSWER, _RESULT, _RESULTS) if profile.tools else _SHOWN_TO_SMALL))

    def _rendered(self, block: str, answer: int, result: int, results: int) -> str:
        shown_answer = beginnings({"answer": self.earlier.answer}, answer, answer, self.capture)["answer"]
        texts = {output.task: output.text for output in self.earlier.results} if results else {}
        shown = beginnings(texts, result, results, self.capture)
        variables: dict[str, Any] = {
            "goal": _fenced(self.earlier.goal),
            "status": self.earlier.status,
            "answer": _fenced(shown_answer),
            "results": [
                {"id": _attribute(output.task), "title": _attribute(output.title), "text": _fenced(shown[output.task])}
                for output in self.earlier.results
                if output.task in shown
            ],
        }
        return self.prompts.render("earlier", block, variables)


def _attribute(text: str) -> str:
    """Return a text that can be an attribute in quotes."""
    return " ".join(_fenced(text).replace('"', "'").split())


def _fenced(text: str) -> str:
    """Escape a text so that it cannot end the tags around it."""
    return _MARK.sub(r"&lt;\1", text)
