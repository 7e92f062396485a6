"""Continuing a run that is not running, with what a person gives it: answers, a plan of their own, or a request."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from weft.runs import records
from weft.runs.answers import resolved
from weft.runs.plans.plan_edit import edit, plan_in_hand
from weft.runs.run import Run
from weft.workspace.workspace import Workspace
from weft_executor.capture.secrets import Secrets
from weft_executor.stores.errors import UnknownRun
from weft_planner.events import ReplanAsked, RunResumed
from weft_skills.errors import InputError
from weft_skills.tools.recorded import RecordedTool

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from weft.runs.answers import Answers
    from weft.runs.plans.plan_edit import GivenChange
    from weft.runs.plans.plan_file import PlanFile
    from weft.runs.runtime import Weft
    from weft_executor.history.run_history import RunHistory
    from weft_planner.approvals import Approve
    from weft_planner.events import ApprovalGiven, Record
    from weft_planner.plan.validate import Known

_LONGEST = 20_000


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

    def run(self, weft: Weft, run_id: str, record: Record | None, approve: Approve | None) -> Run | None:
        """A claimed run, ready to continue; None if another process finished it before the claim."""
        summary = weft.journal.store.find(run_id)
        history = weft.history(run_id)
        ledger = history.ledger
        summary = replace(summary, early=ledger.done_early(), early_parts=ledger.early_parts)
        if history.started is None:
            raise UnknownRun(f"run {run_id} never started", hint="run its goal again")
        changes = self._events(history, weft.workspace.known)
        if summary.status == "done" and not changes:
            return None
        answers = self.resolved(weft, run_id, history)
        ledger = history.ledger.copy()
        for event in changes:
            history.note(event)
        history.reopen()
        goal = records.goal_of(history)
        needed = self.asked is not None or weft.models.needed_for(history.plan or goal.plan)
        settings = weft.models.settings() if needed else weft.settings
        settings = replace(settings, workspace_writes=records.writes_of(history.started.settings, settings))
        return Run(
            goal=goal,
            workspace=_workspace_of(weft, history),
            settings=settings,
            open_model=weft.open_model,
            spans=weft.spans,
            journal=weft.journal,
            log=weft.journal.resume(summary, records.capture(weft.paths, run_id), history.last_seq),
            opening=RunResumed(run_id, records.plain(settings)),
            date=history.started.date,
            history=history,
            given=changes,
            ledger=ledger,
            finished=history.finished,
            reused=history.unrecorded_reuse,
            observer=record,
            approve=approve,
            answers=answers,
        )

    def resolved(self, weft: Weft, run_id: str, history: RunHistory) -> tuple[ApprovalGiven, ...]:
        """The answers with the requests that they are for; raises if one is unknown or answered."""
        if not self.answers:
            return ()
        builtin = weft.workspace.builtin.in_plans(weft.settings.tool_set)
        tools, here = builtin | weft.workspace.tools.by_name(), records.capture(weft.paths, run_id)
        return resolved(self.answers, history.finished.approvals, run_id, here, tools)

    def _events(self, history: RunHistory, known: Callable[[], Known]) -> tuple[GivenChange, ...]:
        """The change of the plan as events; raises if it may not be made."""
        if not self.changes:
            return ()
        before = plan_in_hand(history)
        if self.asked is not None:
            return (ReplanAsked(self.asked),)
        assert self.edited is not None  # noqa: S101 - `changes` says so
        goal = history.started.goal if history.started is not None else ""
        if self.edited.goal and self.edited.goal != goal:
            raise InputError(
                "the plan is for another goal than the run's", hint="leave `goal` as it is, or run it with --plan"
            )
        event = edit(before, self.edited.plan, known(), "of the file")
        if event is None or history.plan is None:
            return ()
        return (*history.finished.approvals.withdrawals(history.plan, event), event)


def _workspace_of(weft: Weft, history: RunHistory) -> Workspace:
    """The workspace with the functions that a run was offered, even if this program did not bring them."""
    here = {tool.name for tool in weft.workspace.tools.own_specs}
    then = history.catalogue.own_tools if history.catalogue is not None else ()
    gone = [RecordedTool(one.name, one.description, one.parameters) for one in then if one.name not in here]
    if not gone:
        return weft.workspace
    return Workspace(weft.paths, weft.settings, weft.workspace.skills.use, tools=[*weft.own_tools, *gone])


def checked_request(request: str, env: Mapping[str, str]) -> str:
    """What a person asks for, without secrets; raises if it cannot be asked."""
    if not request.strip():
        raise InputError("what to change is missing", hint='say it: weft replan RUN "use the other table"')
    if len(request) > _LONGEST:
        raise InputError(
            f"the request has {len(request):,} characters, more than {_LONGEST:,}", hint="say it in fewer words"
        )
    return Secrets.of(env).redact(request.strip())
