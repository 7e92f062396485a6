"""Changing a run's plan: only at rest, so that the request depends on how tasks ended and not on who was faster.

nothing runs, is ready or waits → a task failed that others or the answer need, a worker called the plan wrong, or a
person asked → a model changes what has not begun → run on. Each attempt counts, whatever comes of it.
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
    """Changes the plan of one run, which was made with `answers`; it may do so `most` times.

    Workers are told by how often it could when the run began, `at_start`. A replay `repeats` the changes on record.
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
        """How the plan of a run may change, by its settings."""
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
        """What is on record of changes so far."""
        return self._context.recorded.replans

    @property
    def _attempts(self) -> int:
        return self._repeated if self.repeats else self.history.attempts

    @property
    def left(self) -> int:
        """How often the plan may still change."""
        return 0 if self._given_up else max(self.most - self._attempts, 0)

    def tools(self, task: Task) -> list[PlanIsWrong]:
        """What a task's worker can say about the plan; always the same tools for the same task, however it goes."""
        if self.at_start <= self.history.started_at.get(task.id, self._attempts):
            return []
        return [PlanIsWrong(str(self._context.artifacts.workspace))]

    def holds(self, task: Task) -> bool:
        """Whether a task has to wait for the plan to be changed."""
        return self.left > 0 and any(before in self.history.wrong for before in task.depends_on)

    @property
    def scheduled(self) -> Plan:
        """The tasks to run: without those that grow, and in a resumed run without those that have been replaced."""
        return self._plan if self.repeats else self._plan.without_replaced()

    async def begin(self) -> str | None:
        """Change the plan before anything runs, if a person asked for that; returns why it was not changed.

        A replay makes all changes here that are on record.
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
        """Run the tasks, and change the plan at rest as often as it needs and may; returns how all tasks ended."""
        while True:
            outcomes = await schedule.run()
            if self.left == 0 or any(isinstance(outcome, Cancelled | Waiting) for outcome in outcomes.values()):
                return outcomes
            if not self.history.wrong and not losses(self._plan, self.history.tasks, self.history.items):
                return outcomes
            await self._change(None)
            schedule.change(self._plan)

    async def _repeat(self, record: ReplanRecord) -> None:
        """Make a recorded change again, from how the run stood then; what a person changed is given."""
        event = record.event
        plan = self._plan.having_grown(record.grown)
        if event.cause == "person":
            change = Change(event.added, event.dropped, event.rewired, event.synthesis, event.unused)
            stood = states(plan, record.tasks, self._context.memo.capture, record.items)
            begun = {state.id: state.status for state in stood if state.has_begun}
            if not problems(change, plan, begun, self.planning.known, edited=event.dropped):
                self.current.change(event)
            return
        await self._attempt(self._situation(plan, record, record.asked, record.variables))

    async def _change(self, asked: str | None) -> Replanned:
        history = self.history
        told = history.variables.get(self._attempts, {})  # the same request as before the run was stopped
        return await self._attempt(self._situation(self._plan, history, asked, told))

    async def _attempt(self, situation: Situation) -> Replanned:
        """Ask for a change and make it, if there is one; what comes of it is recorded."""
        context, brief = self._context, self.planning.brief(self.answers)
        try:
            await context.models.ready("replanner")
            model = context.models.for_role("replanner")
            replanned = await replan(brief, situation, model, context.prompts, context.memo.recorded)
        except ModelError as error:
            replanned = Replanned(None, f"the model gave no answer: {error}")
        change = replanned.change or Change()
        self._repeated += 1
        told = (change.rewired, change.synthesis, replanned.note, change.unused)
        event = PlanChanged("replan", None, change.added, change.dropped, *told)
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
        stands: ReplanRecord | Replans,
        asked: str | None,
        told: Mapping[str, Any],
    ) -> Situation:
        """How the run stands; what was `told` on record of changes and budget left is told again."""
        reasons = [*losses(plan, stands.tasks, stands.items), *objections(plan, stands.wrong)]
        if asked is not None:
            reasons.append(f"the person asks for this: {asked}")
        stood, number, budget = (
            states(plan, stands.tasks, self._context.memo.capture, stands.items),
            self._attempts + 1,
            self._context.budget,
        )
        left = told.get("left", max(self.most - number, 0))
        spendable = told.get("budget", budget.left_text() if budget is not None else "")
        return Situation(plan, stood, tuple(reasons), number, left, spendable)


def _has_model(context: RunContext) -> bool:
    """Whether there is a model for it, and not one that plans in the shape for small models."""
    if context.settings.model_for("replanner") is None:
        return False
    return context.models.profile("replanner").shape is SHAPES["full"]


def not_changed(why: str, before: RunFinished | None) -> RunFinished:
    """The end of a run whose plan was not changed as a person asked; it keeps its answer, and is done if it was."""
    answer = before.answer if before is not None else None
    status: RunStatus = "failed" if answer is None else "partial"
    if before is not None and before.status in ("waiting", "done"):
        status = before.status
    data = before.data if before is not None else None
    return RunFinished(status, answer, f"{NOT_CHANGED}{why}", code=PLAN_NOT_CHANGED, data=data)


def as_before(why: str, context: RunContext) -> RunFinished | None:
    """The end of a run whose plan was not changed: as it stood. None if answers that it waited for let it go on."""
    ledger = context.history.ledger
    waited = {request.id for request in ledger.waiting}
    if not waited:
        return not_changed(why, ledger.finished)
    still = waited.issubset(request.id for request in context.memo.approvals.known.waiting)
    return not_changed(why, RunFinished("waiting")) if still else None
