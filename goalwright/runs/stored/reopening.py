"""Continuing a run that is not running, with what a person gives it: answers, a plan of their own, or a request."""

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
    """A stored run as it continues: its goal, its history with `events` from a person, and how it stood before them."""

    goal: Goal
    history: RunHistory
    ledger: Ledger
    events: tuple[PersonEvent, ...]


@dataclass(frozen=True, slots=True)
class Reopening:
    """What a person gives a run that is continued: answers, a plan that they edited, or a change that they ask for."""

    answers: Answers = ()
    edited: PlanFile | None = None
    asked: str | None = None

    @property
    def changes(self) -> bool:
        """Whether the plan is to change."""
        return self.edited is not None or self.asked is not None

    def reopened(self, run: RunSummary, history: RunHistory, workspace: Workspace) -> Reopened | None:
        """A claimed run as it continues; None if it is done, and nothing is to change."""
        if history.started is None:
            raise UnknownRun(f"run {run.run_id} never started", hint="run its goal again")
        check_not_taken_back(history)
        changes = self._changes(history, workspace)
        if run.status == "done" and not changes:
            return None
        answers = self.resolved(history, workspace)
        ledger = history.ledger.copy()
        for answer in answers:
            history.finished.approvals.note(answer)
        for change in changes:
            history.note(change)
        history.reopen()
        return Reopened(records.goal_of(history), history, ledger, (*answers, *changes))

    def resolved(self, history: RunHistory, workspace: Workspace) -> tuple[ApprovalGiven, ...]:
        """The answers with the requests that they are for; raises if one is unknown or answered."""
        if not self.answers or history.started is None:
            return ()
        run_id = history.started.run_id
        tools = workspace.builtin.in_plans(workspace.settings.tool_set) | workspace.tools.by_name()
        capture = records.capture(workspace.paths, run_id)
        return resolved(self.answers, history.finished.approvals, run_id, capture, tools)

    def _changes(self, history: RunHistory, workspace: Workspace) -> tuple[PersonEvent, ...]:
        """The change of the plan as events; raises if it may not be made."""
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
                "the plan has a different goal from the run's", hint="leave `goal` as it is, or run it with --plan"
            )
        must_use = workspace.settings.required_skills
        known = workspace.known(seen.earlier_ids if seen is not None else ())
        event = edit(before, self.edited.plan, known, "of the file", must_use)
        if event is None or history.plan is None:
            return ()
        return (*history.finished.approvals.withdrawals(history.plan, event), event)


def check_not_taken_back(history: RunHistory) -> None:
    """Raise if a person took the run back as a turn of a conversation: it must not do anything any more."""
    if history.taken_back and history.started is not None:
        what = f"run {history.started.run_id} is a turn that was taken back"
        raise InputError(what, hint="give its goal again, in the conversation or with `goalwright run`")


def checked_request(request: str, env: Mapping[str, str]) -> str:
    """What a person asks for, without secrets; raises if it cannot be asked."""
    if not request.strip():
        raise InputError("what to change is missing", hint='say it: goalwright replan RUN "use the other table"')
    if len(request) > _LONGEST:
        raise InputError(
            f"the request has {len(request):,} characters, more than {_LONGEST:,}", hint="say it in fewer words"
        )
    return Secrets.of(env).redact(request.strip())
