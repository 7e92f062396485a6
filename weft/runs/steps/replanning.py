"""Changing a run's plan: only at rest, so that the request depends on how tasks ended and not on who was faster.

nothing runs, is ready or waits → a task failed that others or the answer need, a worker called the plan wrong, or a
person asked → a model changes what has not begun → run on. Each attempt counts, whatever comes of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from weft.settings.settings import Settings
from weft_executor.capture.beginnings import beginnings
from weft_executor.results.outcome import Cancelled, Waiting
from weft_planner.decompose.replan import Replanned, Situation, TaskState, replan
from weft_planner.errors import ModelError
from weft_planner.events import PlanChanged, RunFinished, Warned
from weft_planner.events.run import PLAN_NOT_CHANGED
from weft_planner.plan.changes.change import Change, problems
from weft_planner.plan.shape import SHAPES
from weft_skills.builtin.plan_is_wrong import PlanIsWrong

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from weft.runs.pipeline import Pipeline
    from weft.workspace.workspace import Catalogue
    from weft_executor.history.replans import ReplanRecord, Replans, TaskEnd
    from weft_executor.results.memo import Memo
    from weft_executor.results.outcome import Outcome
    from weft_executor.scheduling.expand import CurrentPlan
    from weft_executor.scheduling.schedule import Schedule
    from weft_planner.decompose.decompose import Brief
    from weft_planner.events.run import RunStatus
    from weft_planner.plan.plan import Plan, Task
    from weft_planner.prompting.models import Models
    from weft_planner.prompting.prompts import Prompts

# Characters of a task's error or output that the request shows, of one and of all.
_EACH = 1_500
_IN_ALL = 20_000
_NO_RESULT = ("failed", "denied")
_DEFAULT = Settings().max_replans


@dataclass(frozen=True, slots=True)
class ReplanLimits:
    """How often the plan may change, and how often it could when the run began: its workers are told by that."""

    most: int
    at_start: int


@dataclass(slots=True)
class Replanning:
    """Changes the plan of one run; `history` is what is on record of it, `budget` says what may still be spent.

    A replay `repeats` the changes on record.
    """

    current: CurrentPlan
    brief: Callable[[], Brief]
    models: Models
    memo: Memo
    prompts: Prompts
    limits: ReplanLimits
    history: Replans
    budget: Callable[[], str]
    check: Callable[[Plan], None]
    cwd: str = ""
    repeats: bool = False
    _repeated: int = 0
    _given_up: bool = False

    @property
    def _attempts(self) -> int:
        return self._repeated if self.repeats else self.history.attempts

    @property
    def left(self) -> int:
        """How often the plan may still change."""
        return 0 if self._given_up else max(self.limits.most - self._attempts, 0)

    def tools(self, task: Task) -> list[PlanIsWrong]:
        """What a task's worker can say about the plan; always the same tools for the same task, however it goes."""
        if self.limits.at_start <= self.history.started_at.get(task.id, self._attempts):
            return []
        return [PlanIsWrong(self.cwd)]

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
            if not self.history.wrong and not _lost(self._plan, _ends(self._plan, self.history.tasks)):
                return outcomes
            await self._change(None)
            schedule.change(self._plan)

    async def _repeat(self, record: ReplanRecord) -> None:
        """Make a recorded change again, from how the run stood then; what a person changed is given."""
        event = record.event
        plan = replace(self._plan, grown=record.grown)
        if event.cause == "person":
            change = Change(event.added, event.dropped, event.rewired, event.synthesis)
            states = _states(plan, _ends(plan, _not_waiting(record.tasks)), {})
            begun = {state.id: state.status for state in states if state.has_begun}
            if not problems(change, plan, begun, self.brief().known, edited=event.dropped):
                self.current.change(event)
            return
        told = record.told
        situation = self._situation(plan, record.tasks, record.wrong, record.asked)
        left, budget = told.get("left", situation.left), told.get("budget", situation.budget)
        await self._attempt(replace(situation, left=left, budget=budget))

    async def _change(self, asked: str | None) -> Replanned:
        situation = self._situation(self._plan, self.history.tasks, self.history.wrong, asked)
        if self._attempts in self.history.told:  # the same request as before the run was stopped
            told = self.history.told[self._attempts]
            left, budget = told.get("left", situation.left), told.get("budget", situation.budget)
            situation = replace(situation, left=left, budget=budget)
        return await self._attempt(situation)

    async def _attempt(self, situation: Situation) -> Replanned:
        """Ask for a change and make it, if there is one; what comes of it is recorded."""
        brief, record = self.brief(), self.memo.record
        try:
            await self.models.ready("replanner")
            model = self.models.for_role("replanner")
            replanned = await replan(brief, situation, model, self.prompts, self.memo.recorded)
        except ModelError as error:
            replanned = Replanned(None, f"the model gave no answer: {error}")
        change = replanned.change or Change()
        self._repeated += 1
        told = (change.rewired, change.synthesis, replanned.note)
        event = PlanChanged("replan", None, change.added, change.dropped, *told)
        if not self.repeats:
            self.memo.approvals.withdraw(self.current.plan, event)
        self.current.change(event)
        if replanned.change is None:
            self._given_up = replanned.given_up
            record(Warned(f"the plan was not changed: {replanned.note}"))
        else:
            self.check(replace(situation.plan, tasks=change.added))
        return replanned

    @property
    def _plan(self) -> Plan:
        return self.current.plan.without_grown()

    def _situation(
        self, plan: Plan, tasks: Mapping[str, TaskEnd], wrong: Mapping[str, tuple[str, ...]], asked: str | None
    ) -> Situation:
        ends = _ends(plan, _not_waiting(tasks))
        texts = {name: (end.output if end.status == "done" else end.error) or "" for name, end in ends.items()}
        states = _states(plan, ends, beginnings(texts, _EACH, _IN_ALL, self.memo.capture))
        reasons = [*_lost(plan, ends), *_called_wrong(plan, wrong)]
        if asked is not None:
            reasons.append(f"the person asks for this: {asked}")
        left = max(self.limits.most - self._attempts - 1, 0)
        return Situation(plan, states, tuple(reasons), self._attempts + 1, left, self.budget())


def _not_waiting(tasks: Mapping[str, TaskEnd]) -> dict[str, TaskEnd]:
    """How tasks stand, without those that only wait for approval."""
    return {name: end for name, end in tasks.items() if end.status != "waiting"}


def _ends(plan: Plan, tasks: Mapping[str, TaskEnd]) -> dict[str, TaskEnd]:
    """How the tasks of a plan stand; one that was skipped before the plan was changed is not if it may run now."""
    import networkx as nx

    status = {name: end.status for name, end in tasks.items()}
    without = [task.id for task in plan.tasks if status.get(task.id) in _NO_RESULT and task.id not in plan.replaced]
    behind = {name for one in without for name in nx.descendants(plan.graph, one)}
    found = ((task.id, tasks[task.id]) for task in plan.tasks if task.id in tasks)
    return {name: end for name, end in found if end.status != "skipped" or name in behind}


def _lost(plan: Plan, ended: Mapping[str, TaskEnd]) -> list[str]:
    """A reason for each failed task that leaves others skipped, or the answer without its result."""
    import networkx as nx

    status = {name: one.status for name, one in ended.items()}
    failed = [task for task in plan.tasks if status.get(task.id) == "failed" and task.id not in plan.replaced]
    finals = {task.id for task in plan.finals} if failed else set()
    reasons = []
    for task in failed:
        behind = nx.descendants(plan.graph, task.id)
        skipped = [one.id for one in plan.tasks if one.id in behind and status.get(one.id) == "skipped"]
        if skipped:
            reasons.append(f"task {task.id!r} failed, and was needed for: {', '.join(skipped)}")
        elif task.id in finals:
            reasons.append(f"task {task.id!r} failed, and the answer lacks its result")
    return reasons


def _called_wrong(plan: Plan, wrong: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    for task in plan.tasks:
        for reason in wrong.get(task.id, ()):
            yield f"the worker of task {task.id!r} says that the plan is wrong: {reason}"


def _states(plan: Plan, ended: Mapping[str, TaskEnd], texts: Mapping[str, str]) -> tuple[TaskState, ...]:
    def state(task: Task) -> TaskState:
        one = ended.get(task.id)
        return TaskState(task.id, "pending" if one is None else one.status, texts.get(task.id, ""))

    return tuple(map(state, plan.tasks))


def replanning_of(
    pipeline: Pipeline, current: CurrentPlan, catalogue: Catalogue, answers: tuple[str, ...]
) -> Replanning:
    """How the plan of a run may change, by its settings."""
    repeats, started = pipeline.changes is not None, pipeline.history.started
    begun = pipeline.settings.max_replans if started is None else started.settings.get("max_replans", _DEFAULT)
    limits = ReplanLimits(0 if repeats or not _can(pipeline) else pipeline.settings.max_replans, begun)

    def check(plan: Plan) -> None:
        for warning in pipeline.unmet_needs(plan, catalogue):
            pipeline.record(Warned(warning))

    return Replanning(
        current=current,
        brief=lambda: pipeline.brief(catalogue, answers),
        models=pipeline.models,
        memo=pipeline.memo,
        prompts=pipeline.prompts,
        limits=limits,
        history=pipeline.changes or pipeline.history.replans,
        budget=lambda: pipeline.budget.left_text() if pipeline.budget is not None else "",
        check=check,
        cwd=str(pipeline.artifacts.workspace),
        repeats=repeats,
    )


def _can(pipeline: Pipeline) -> bool:
    """Whether there is a model for it, and not one that plans in the shape for small models."""
    if pipeline.settings.model_for("replanner") is None:
        return False
    return pipeline.models.profile("replanner").shape is SHAPES["full"]


def not_changed(why: str, before: RunFinished | None) -> RunFinished:
    """The end of a run whose plan was not changed as a person asked; it keeps its answer, and waits if it did."""
    answer = before.answer if before is not None else None
    status: RunStatus = "failed" if answer is None else "partial"
    if before is not None and before.status == "waiting":
        status = "waiting"
    return RunFinished(status, answer, f"the plan was not changed: {why}", code=PLAN_NOT_CHANGED)


def as_before(why: str, pipeline: Pipeline) -> RunFinished | None:
    """The end of a run whose plan was not changed: as it stood. None if answers that it waited for let it go on."""
    ledger, known = pipeline.history.ledger, pipeline.memo.approvals.known
    waited = {one.id for one in ledger.waiting}
    if not waited:
        return not_changed(why, ledger.finished)
    still = waited.issubset(one.id for one in known.waiting)
    return not_changed(why, RunFinished("waiting")) if still else None
