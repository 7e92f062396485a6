"""Changes the plan of a run, at rest only, so that the request depends on the tasks' outcomes and not on timing.

Triggers are a failed task that others or the answer need, a worker that called the plan wrong, and a person's request.
A model then changes the tasks that have not begun. Each attempt counts, even if it fails.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goalwright.runs.steps.task_states import losses, objections, states
from goalwright.settings.settings import Settings
from goalwright_executor.results.outcome import Cancelled, Waiting
from goalwright_planner.decompose.replan import Replanned, Situation, replan
from goalwright_planner.errors import ModelError
from goalwright_planner.events import PlanChanged, RunFinished, Warned
from goalwright_planner.events.run import NOT_CHANGED, PLAN_NOT_CHANGED
from goalwright_planner.plan.change import Change, problems
from goalwright_planner.reading.shape import SHAPES
from goalwright_skills.builtin.plan_is_wrong import PlanIsWrong

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from goalwright.runs.run_context import RunContext
    from goalwright.runs.steps.planning import Planning
    from goalwright_executor.history.replans import ReplanRecord, Replans
    from goalwright_executor.results.outcome import Outcome
    from goalwright_executor.scheduling.expand import CurrentPlan
    from goalwright_executor.scheduling.schedule import Schedule
    from goalwright_planner.events.run import RunStatus
    from goalwright_planner.plan.plan import Plan
    from goalwright_planner.plan.task import Task

_DEFAULT = Settings().max_replans


@dataclass(slots=True)
class Replanning:
    """Changes the plan of one run, at most `most` times; the plan was made with `answers`.

    `at_start` is the limit when the run began, which decides whether workers get the tool. A replay `repeats` the
    recorded changes.
    """

    planning: Planning
    current: CurrentPlan
    answers: tuple[str, ...]
    most: int
    at_start: int
    repeats: bool = False
    _repeated: int = 0
    _given_up: bool = False

    @classmethod
    def of(cls, planning: Planning, current: CurrentPlan) -> Replanning:
        """Return the replanning of a run, by its settings."""
        context = planning.context
        repeats, started, most = context.recorded.changes is not None, context.history.started, 0
        if not repeats and _has_model(context):
            most = context.settings.max_replans
        at_start = context.settings.max_replans if started is None else started.settings.get("max_replans", _DEFAULT)
        return cls(planning, current, context.goal.answers, most, at_start, repeats)

    @property
    def _context(self) -> RunContext:
        return self.planning.context

    @property
    def history(self) -> Replans:
        """The recorded changes so far."""
        return self._context.recorded.replans

    @property
    def _attempts(self) -> int:
        return self._repeated if self.repeats else self.history.attempts

    @property
    def left(self) -> int:
        """The number of changes left."""
        return 0 if self._given_up else max(self.most - self._attempts, 0)

    def tools(self, task: Task) -> list[PlanIsWrong]:
        """Return the tool with which a worker calls the plan wrong; always the same for the same task."""
        if self.at_start <= self.history.started_at.get(task.id, self._attempts):
            return []
        return [PlanIsWrong(str(self._context.artifacts.workspace))]

    def holds(self, task: Task) -> bool:
        """Return whether a task must wait for a change of the plan."""
        return self.left > 0 and any(before in self.history.wrong for before in task.depends_on)

    @property
    def scheduled(self) -> Plan:
        """The plan to schedule: without grown tasks, and in a resumed run without replaced ones."""
        return self._plan if self.repeats else self._plan.without_replaced()

    async def begin(self) -> str | None:
        """Change the plan before anything runs, if a person asked for it; returns why it was not changed.

        A replay makes all recorded changes here.
        """
        if self.repeats:
            for record in self.history.changes:
                await self._repeat(record)
            return self.history.refused
        if self.history.asked is None:
            return None
        replanned = await self._change(self.history.asked)
        return replanned.note if replanned.change is None else None

    async def run(self, schedule: Schedule) -> Mapping[str, Outcome]:
        """Run the tasks, and change the plan at rest while it needs it and changes are left; returns all outcomes."""
        while True:
            outcomes = await schedule.run()
            if self.left == 0 or any(isinstance(outcome, Cancelled | Waiting) for outcome in outcomes.values()):
                return outcomes
            if not self.history.wrong and not losses(self._plan, self.history.tasks, self.history.items):
                return outcomes
            await self._change(None)
            schedule.change(self._plan)

    async def _repeat(self, record: ReplanRecord) -> None:
        """Repeat a recorded change from the recorded state; a person's change is used as it is."""
        event = record.event
        plan = self._plan.having_grown(record.grown)
        if event.cause == "person":
            change = Change(event.added, event.dropped, event.rewired, event.synthesis, event.unused)
            task_states = states(plan, record.tasks, self._context.memo.capture, record.items)
            begun = {state.id: state.status for state in task_states if state.has_begun}
            if not problems(change, plan, begun, self.planning.known, edited=event.dropped):
                self.current.change(event)
            return
        await self._attempt(self._situation(plan, record, record.asked, record.variables))

    async def _change(self, asked: str | None) -> Replanned:
        history = self.history
        variables = history.variables.get(self._attempts, {})  # the same request as before the run was stopped
        return await self._attempt(self._situation(self._plan, history, asked, variables))

    async def _attempt(self, situation: Situation) -> Replanned:
        """Ask a model for a change, make it, and record the outcome."""
        context, brief = self._context, self.planning.brief(self.answers)
        try:
            await context.models.ready("replanner")
            model = context.models.for_role("replanner")
            replanned = await replan(brief, situation, model, context.prompts, context.memo.recorded)
        except ModelError as error:
            replanned = Replanned(None, f"the model gave no answer: {error}")
        change = replanned.change or Change()
        self._repeated += 1
        event = PlanChanged(
            "replan",
            None,
            change.added,
            change.dropped,
            change.rewired,
            change.synthesis,
            replanned.note,
            change.unused,
        )
        if not self.repeats:
            context.memo.approvals.withdraw(self.current.plan, event)
        self.current.change(event)
        if replanned.change is None:
            self._given_up = replanned.given_up
            context.record(Warned(f"{NOT_CHANGED}{replanned.note}"))
        else:
            self.planning.warn_of_needs(situation.plan.with_tasks(change.added))
            self.planning.warn_of_unused(change.applied(situation.plan), before=situation.plan)
        return replanned

    @property
    def _plan(self) -> Plan:
        return self.current.plan.without_grown()

    def _situation(
        self,
        plan: Plan,
        state: ReplanRecord | Replans,
        asked: str | None,
        recorded: Mapping[str, Any],
    ) -> Situation:
        """Return the state of the run for the request; `recorded` has the changes and budget left at that time."""
        reasons = [*losses(plan, state.tasks, state.items), *objections(plan, state.wrong)]
        if asked is not None:
            reasons.append(f"the person asks for this: {asked}")
        task_states = states(plan, state.tasks, self._context.memo.capture, state.items)
        number, budget = self._attempts + 1, self._context.budget
        left = recorded.get("left", max(self.most - number, 0))
        spendable = recorded.get("budget", budget.left_text() if budget is not None else "")
        return Situation(plan, task_states, tuple(reasons), number, left, spendable)


def _has_model(context: RunContext) -> bool:
    """Return whether there is a model for replanning that is not a small one."""
    if context.settings.model_for("replanner") is None:
        return False
    return context.models.profile("replanner").shape is SHAPES["full"]


def not_changed(reason: str, before: RunFinished | None) -> RunFinished:
    """Return the end of a run whose plan was not changed as asked; it keeps its answer, and stays done if it was."""
    answer = before.answer if before is not None else None
    status: RunStatus = "failed" if answer is None else "partial"
    if before is not None and before.status in ("waiting", "done"):
        status = before.status
    data = before.data if before is not None else None
    return RunFinished(status, answer, f"{NOT_CHANGED}{reason}", code=PLAN_NOT_CHANGED, data=data)


def as_before(reason: str, context: RunContext) -> RunFinished | None:
    """Return the previous end of a run whose plan was not changed; None if answered requests let it continue."""
    ledger = context.history.ledger
    waiting = {request.id for request in ledger.waiting}
    if not waiting:
        return not_changed(reason, ledger.finished)
    still_waits = waiting.issubset(request.id for request in context.memo.approvals.known.waiting)
    return not_changed(reason, RunFinished("waiting")) if still_waits else None
