"""Runs the tasks of a plan: schedules them, and grows items, sub-goals and rounds."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from goalwright.runs.conversations.earlier_outputs import EarlierOutputs
from goalwright.runs.conversations.remarks import remarked
from goalwright.runs.steps.given_files import given_files
from goalwright.runs.steps.streaming import EarlyTasks, may_begin
from goalwright.runs.steps.sub_goals import SubGoals
from goalwright.runs.steps.task_tools import TaskTools
from goalwright_executor.model_loop.task_runner import TaskRunner
from goalwright_executor.scheduling.attempt import ScheduleLimits
from goalwright_executor.scheduling.condition import ConditionCheck
from goalwright_executor.scheduling.expand import FanOut, GrowthLimits, SetLimits
from goalwright_executor.scheduling.rounds import Rounds
from goalwright_executor.scheduling.schedule import Schedule
from goalwright_planner.decompose.streaming import EarlyReader
from goalwright_planner.model import as_events
from goalwright_planner.plan.change import with_parts
from goalwright_planner.plan.task import GOAL
from goalwright_planner.plan.task_id import parent_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright.runs.run_context import RunContext
    from goalwright.runs.steps.replanning import Replanning
    from goalwright.workspace.workspace import Catalogue
    from goalwright_executor.files.given import GivenFiles
    from goalwright_executor.results.outcome import Done, Grown, Outcome
    from goalwright_planner.model import OnText
    from goalwright_planner.plan.plan import Plan
    from goalwright_planner.plan.task import Task


@dataclass(slots=True)
class RunningTasks:
    """Runs the tasks of a plan that may change; `early` are tasks that start while the plan is being written."""

    context: RunContext
    catalogue: Catalogue
    replanning: Replanning
    files: GivenFiles | None = field(init=False)
    schedule: Schedule = field(init=False)
    early: EarlyTasks | None = None
    _runner: TaskRunner = field(init=False)
    _fan_out: FanOut = field(init=False)
    _sub_goals: SubGoals = field(init=False)
    _rounds: Rounds = field(init=False)
    _earlier: EarlierOutputs | None = field(init=False)

    def __post_init__(self) -> None:
        context, current, settings = self.context, self.replanning.current, self.context.settings
        growth: GrowthLimits = SetLimits(self.catalogue.known, settings.max_items)
        recorded = context.recorded.growth
        limits = growth if recorded is None else recorded(growth)
        self._fan_out = FanOut(current, context.memo, limits, keeps_replaced=self.replanning.repeats)
        self._sub_goals = SubGoals(context, self._fan_out, self.catalogue)
        self.files = given_files(context)
        self._earlier = _earlier_outputs(context)
        self._runner = self._task_runner()
        models, prompts, budget = context.models, context.prompts, settings.input_budget
        earlier = self._earlier.named_in if self._earlier is not None else None
        condition = ConditionCheck(current, models, prompts, context.record, context.artifacts, budget, earlier)
        self._rounds = Rounds(self._fan_out, condition)
        at_a_time, memo = ScheduleLimits(settings.max_concurrency, settings.task_timeout), context.memo
        self.schedule = Schedule(self._run_task, memo.recorded, at_a_time, memo, condition.check, self.replanning.holds)

    def _task_runner(self) -> TaskRunner:
        context, replanning = self.context, self.replanning
        tools = TaskTools(context, self.catalogue, replanning.current)
        follow_up = context.follow_up
        return TaskRunner(
            plan=lambda: replanning.current.plan,
            goal=context.goal.text,
            models=context.models,
            skills=context.workspace.skills.registry,
            tools=tools.callable_by_plan,
            prompts=context.prompts,
            artifacts=context.artifacts,
            toolbox_for=lambda task: [*tools.for_task(task), *replanning.tools(task)],
            memo=context.memo,
            input_budget=context.settings.input_budget,
            tool_calls=context.settings.tool_calls,
            given_files=self.files,
            on_text=self._on_text if context.goal.stream and context.goal.data is None else None,
            kept=context.kept,
            earlier=follow_up.for_task if follow_up is not None else None,
            server_prompts=tools.server_prompts,
        )

    def stream(self) -> EarlyTasks:
        """Prepare to start tasks while the plan is being written."""
        may = partial(may_begin, tools=self._runner.tools, policy=self.context.memo.approvals.policy)
        brief = self.replanning.planning.brief(self.context.goal.answers)
        reader = partial(EarlyReader, brief.judged_by, may)
        self.early = EarlyTasks(self.context, self.replanning.current, self.schedule, reader)
        return self.early

    def begun_in(self, plan: Plan) -> Plan:
        """Return the accepted plan with the tasks that have begun already."""
        if self.early is not None:
            return self.early.begun_in(plan)
        return with_parts(plan, self.context.history.ledger.early.values())

    async def run(self) -> Mapping[str, Outcome]:
        """Run the tasks of the plan to their ends."""
        plan = self.replanning.scheduled
        begun = self.early.begun if self.early is not None else {}
        if not begun and not any(task.action_type == "tool" for task in plan.tasks if not task.depends_on):
            await self.context.models.ready("task")
        self.schedule.add(*(task for task in plan.tasks if task.id not in begun))
        self.schedule.close()
        self.context.remarks.begin(self._remark)
        if self.early is not None:
            await self.early.join(plan)
        return await self.replanning.run(self.schedule)

    def _remark(self, text: str) -> bool:
        """Add a remark to the tasks that have not begun; False if there are none."""
        current = self.replanning.current
        waiting = [task for task in self.schedule.not_begun() if task.id in current.plan and parent_of(task.id) is None]
        if waiting:
            current.change(remarked(text, waiting))
            self.schedule.reword(current.plan.task(task.id) for task in waiting)
        return bool(waiting)

    def earlier_results(self, text: str | None) -> dict[str, Done]:
        """Return the readable results of earlier turns that a text refers to."""
        return self._earlier.readable_in(text) if self._earlier is not None else {}

    async def stop(self) -> None:
        """Stop the tasks that have begun, because there will be no plan."""
        if self.early is not None:
            await self.early.stop()

    async def _run_task(self, task: Task, results: Mapping[str, str]) -> str | Outcome | Grown:
        if self._earlier is not None:
            results = self._earlier.given_to(task, results)
        if task.for_each is not None:
            return self._fan_out.grow(task, results)
        ended = await self._run_once(task, results)
        return ended if task.repeat is None else await self._rounds.after_first(task, results, ended)

    async def _run_once(self, task: Task, results: Mapping[str, str]) -> str | Done | Grown:
        if task.action_type == GOAL:
            await self._runner.approve(task, results)
            return await self._sub_goals.grow(task, results)
        return await self._runner.run(task, results)

    def _on_text(self, task: Task) -> OnText | None:
        """Return the receiver of a task's text while it is written: only the answer is shown, and not in rounds."""
        if task.repeat is not None:
            return None
        if self.early is not None and self.early.plan is None:
            return self.early.text_of(task)
        return as_events if self.replanning.current.plan.answering is task else None


def _earlier_outputs(context: RunContext) -> EarlierOutputs | None:
    """Return the reader of earlier turns' results, if there are any."""
    seen = context.goal.conversation
    if seen is None or not seen.results:
        return None
    return EarlierOutputs(seen, context.read_output, context.record, dict(context.recorded.outputs))
