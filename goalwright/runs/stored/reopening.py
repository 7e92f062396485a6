"""Prepares a stored run to continue with a person's input: answers, an edited plan, or a request for a change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goalwright.runs.plans.plan_edit import edit, plan_in_hand
from goalwright.runs.stored import records
from goalwright.runs.stored.requests import resolved
from goalwright_executor.capture.secrets import Secrets
from goalwright_executor.stores.errors import UnknownRun
from goalwright_planner.events import ReplanAsked
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright.runs.goal import Goal
    from goalwright.runs.plans.plan_edit import PersonEvent
    from goalwright.runs.plans.plan_file import PlanFile
    from goalwright.runs.stored.requests import Answers
    from goalwright.workspace.workspace import Workspace
    from goalwright_executor.history.ledger import Ledger
    from goalwright_executor.history.run_history import RunHistory
    from goalwright_executor.stores.row import RunSummary
    from goalwright_planner.events import ApprovalGiven

_LONGEST = 20_000


@dataclass(frozen=True, slots=True)
class Reopened:
    """A stored run that continues: its goal, its history, the `events` of a person, and its ledger before them."""

    goal: Goal
    history: RunHistory
    ledger: Ledger
    events: tuple[PersonEvent, ...]


@dataclass(frozen=True, slots=True)
class Reopening:
    """The input of a person for a stored run: answers, an edited plan, or a requested change."""

    answers: Answers = ()
    edited: PlanFile | None = None
    asked: str | None = None

    @property
    def changes(self) -> bool:
        """Whether the plan changes."""
        return self.edited is not None or self.asked is not None

    def reopened(self, run: RunSummary, history: RunHistory, workspace: Workspace) -> Reopened | None:
        """Return a claimed run, ready to continue; None if it is done and its plan does not change."""
        if history.started is None:
            raise UnknownRun(f"run {run.run_id} never started", hint="run its goal again")
        check_not_taken_back(history)
        changes = self._changes(history, workspace)
        if run.status == "done" and not changes:
            return None
        answers = self.resolved(history, workspace)
        ledger = history.ledger.copy()
        history.finished.approvals = history.finished.approvals.copy()  # the history's ledger stays without answers
        for event in (*answers, *changes):
            history.finished.approvals.note(event)
        for change in changes:
            history.note(change)
        history.reopen()
        return Reopened(records.goal_of(history), history, ledger, (*answers, *changes))

    def resolved(self, history: RunHistory, workspace: Workspace) -> tuple[ApprovalGiven, ...]:
        """Match the answers with their requests; raises if an id is unknown or answered."""
        if not self.answers or history.started is None:
            return ()
        run_id = history.started.run_id
        tools = workspace.builtin.in_plans(workspace.settings.tool_set) | workspace.tools.by_name()
        capture = records.capture(workspace.paths, run_id)
        return resolved(self.answers, history.finished.approvals, run_id, capture, tools)

    def _changes(self, history: RunHistory, workspace: Workspace) -> tuple[PersonEvent, ...]:
        """Return the change of the plan as events; raises if it is not allowed."""
        if not self.changes:
            return ()
        before = plan_in_hand(history)
        if self.asked is not None:
            return (ReplanAsked(self.asked),)
        assert self.edited is not None  # noqa: S101 - `changes` says so
        begun = history.started
        goal, seen = (begun.goal, begun.conversation) if begun is not None else ("", None)
        if self.edited.goal and self.edited.goal != goal:
            raise InputError(
                "the plan has a different goal from the run's",
                hint="keep `goal` unchanged, or run the plan as a new run",
            )
        must_use = workspace.settings.required_skills
        known = workspace.known(seen.earlier_ids if seen is not None else ())
        event = edit(before, self.edited.plan, known, "of the file", must_use)
        if event is None or history.plan is None:
            return ()
        return (*history.finished.approvals.withdrawals(history.plan, event), event)


def check_not_taken_back(history: RunHistory) -> None:
    """Raise if a person took the run back as a turn of a conversation."""
    if history.taken_back and history.started is not None:
        raise InputError(
            f"run {history.started.run_id} is a turn that was taken back",
            hint="give its goal again, in the conversation or with `goalwright run`",
        )


def checked_request(request: str, env: Mapping[str, str]) -> str:
    """Return a request for a change without secrets; raises if it is empty or too long."""
    if not request.strip():
        raise InputError("the change is missing", hint='describe it: goalwright replan RUN "use the other table"')
    if len(request) > _LONGEST:
        raise InputError(f"the request has {len(request):,} characters, more than {_LONGEST:,}", hint="shorten it")
    return Secrets.of(env).redact(request.strip())
