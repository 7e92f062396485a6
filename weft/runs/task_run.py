"""The tasks of a run: a plan, run with the workspace's skills and tools; tasks with a list and goals grow."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from executor.tasks.condition import ConditionCheck
from executor.tasks.expand import FanOut, GrowthLimits, SetLimits
from executor.tasks.runner import TaskRunner
from executor.tasks.schedule import Schedule, ScheduleLimits
from planner.events import ToolLogged, Warned
from planner.plan.changes.sub_goals import GOAL
from weft.runs.steps.sub_goals import SubGoals

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from executor.files.given import GivenFiles
    from executor.tasks.outcome import Done, Grown, Outcome
    from planner.events import Record
    from planner.plan.plan import Task
    from skills.programs.executable import CallLog
    from weft.runs.pipeline import Pipeline
    from weft.runs.steps.replanning import Replanning
    from weft.workspace.workspace import Catalogue


async def run_tasks(
    pipeline: Pipeline, replanning: Replanning, catalogue: Catalogue, given: GivenFiles | None
) -> Mapping[str, Outcome]:
    """Run the tasks of a plan to their ends, as it may change; `given` are the files that came with the goal."""
    current, plan, settings, memo = replanning.current, replanning.scheduled, pipeline.settings, pipeline.memo
    runner = _task_runner(pipeline, replanning, catalogue, given)
    growth: GrowthLimits = SetLimits(catalogue.known, settings.max_items)
    fan_out = FanOut(current, memo, pipeline.growth(growth) if pipeline.growth else growth)
    sub_goals = SubGoals(pipeline, current, fan_out)
    record, budget = pipeline.record, settings.input_budget
    condition = ConditionCheck(current, pipeline.models, pipeline.prompts, record, pipeline.artifacts, budget)

    async def run_task(task: Task, results: Mapping[str, str]) -> str | Done | Grown:
        nonlocal runner
        if runner.plan is not current.plan:
            runner = replace(runner, plan=current.plan)
        if task.for_each is not None:
            return fan_out.grow(task, results)
        if task.action_type == GOAL:
            await runner.approve(task, results)
            return await sub_goals.grow(task, results)
        return await runner.run(task, results)

    if not any(task.action_type == "tool" for task in plan.tasks if not task.depends_on):
        await pipeline.models.ready("task")
    limits = ScheduleLimits(settings.max_concurrency, settings.task_timeout)
    schedule = Schedule(run_task, record, limits, memo, condition.check, replanning.holds)
    schedule.add(*plan.tasks)
    schedule.close()
    return await replanning.run(schedule)


def _task_runner(
    pipeline: Pipeline, replanning: Replanning, catalogue: Catalogue, given: GivenFiles | None
) -> TaskRunner:
    workspace, goal, folder = pipeline.workspace, pipeline.goal, pipeline.artifacts.folder
    record = pipeline.record
    tools = workspace.tools.by_name(folder, log=_recorder(record), progress=lambda text: record(Warned(text)))
    return TaskRunner(
        plan=replanning.current.plan,
        goal=goal.text,
        models=pipeline.models,
        skills=workspace.skills.registry,
        tools=tools,
        prompts=pipeline.prompts,
        record=record,
        artifacts=pipeline.artifacts,
        memo=pipeline.memo,
        toolbox_for=lambda task: [
            *workspace.task_tools(task, catalogue, tools, goal.files, folder),
            *replanning.tools(task),
        ],
        files=tuple(str(path) for path in goal.files),
        input_budget=pipeline.settings.input_budget,
        tool_calls=pipeline.settings.tool_calls,
        given=given,
        earlier=follow_up.for_task if (follow_up := pipeline.follow_up) is not None else None,
        on_answer=stream if goal.stream and goal.data is None else None,
        kept=pipeline.kept,
    )


def _recorder(record: Record) -> Callable[[CallLog], None]:
    def log(one: CallLog) -> None:
        record(ToolLogged(one.tool, one.log, one.stderr, one.exit_status, one.seconds))

    return log


def stream(text: str) -> None:
    """Asks for streaming; the pieces arrive as events."""
