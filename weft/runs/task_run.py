"""The tasks of a run: a plan, run with the workspace's skills and tools; tasks with a list and goals grow."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING

from weft.runs.steps.streaming import EarlyTasks, may_begin
from weft.runs.steps.sub_goals import SubGoals
from weft.workspace.builtin_tools import ToolPlace
from weft.workspace.mcp_choice import McpChoice
from weft_executor.model_loop.task_runner import TaskRunner
from weft_executor.results.kept_files import writers_of
from weft_executor.scheduling.attempt import ScheduleLimits
from weft_executor.scheduling.condition import ConditionCheck
from weft_executor.scheduling.expand import FanOut, GrowthLimits, SetLimits
from weft_executor.scheduling.schedule import Schedule
from weft_planner.decompose.early import EarlyReader
from weft_planner.events import ToolLogged, Warned
from weft_planner.model import as_events
from weft_planner.plan.changes.sub_goals import GOAL
from weft_skills.builtin.writing.claims import Claims
from weft_skills.tools.effects import changed_file

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from weft.runs.pipeline import Pipeline
    from weft.runs.steps.replanning import Replanning
    from weft.workspace.workspace import Catalogue
    from weft_executor.files.given import GivenFiles
    from weft_executor.results.outcome import Done, Grown, Outcome
    from weft_executor.scheduling.expand import CurrentPlan
    from weft_planner.events import Record
    from weft_planner.plan.plan import Task
    from weft_skills.programs.executable import CallLog, ToolHost
    from weft_skills.tools.tool import Tool


async def run_tasks(pipeline: Pipeline, replanning: Replanning, early: EarlyTasks) -> Mapping[str, Outcome]:
    """Run the tasks of a plan to their ends, as it may change; some may have begun while it was being written."""
    plan = replanning.scheduled
    if not early.begun and not any(task.action_type == "tool" for task in plan.tasks if not task.depends_on):
        await pipeline.models.ready("task")
    await early.join(plan)
    return await replanning.run(early.schedule)


def early_tasks(
    pipeline: Pipeline, replanning: Replanning, catalogue: Catalogue, given: GivenFiles | None
) -> EarlyTasks:
    """The tasks of a run, none of which has begun; `given` are the files that came with the goal."""
    current, settings, memo = replanning.current, pipeline.settings, pipeline.memo
    runner = _task_runner(pipeline, replanning, catalogue, given)
    growth: GrowthLimits = SetLimits(catalogue.known, settings.max_items)
    fan_out = FanOut(current, memo, pipeline.growth(growth) if pipeline.growth else growth)
    sub_goals = SubGoals(pipeline, current, fan_out, McpChoice(catalogue.mcp))
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
        if early.plan is None and runner.on_answer is not None:
            return await replace(runner, on_early=early.text_of).run(task, results)
        return await runner.run(task, results)

    limits = ScheduleLimits(settings.max_concurrency, settings.task_timeout)
    tools, policy = runner.tools, memo.approvals.policy
    early = EarlyTasks(
        current,
        Schedule(run_task, memo.recorded, limits, memo, condition.check, replanning.holds),
        memo,
        lambda: EarlyReader(catalogue.known, lambda task: may_begin(task, tools, policy)),
        partial(pipeline.models.ready, "task"),
        dict(pipeline.history.ledger.early),
    )
    return early


def _task_runner(
    pipeline: Pipeline, replanning: Replanning, catalogue: Catalogue, given: GivenFiles | None
) -> TaskRunner:
    workspace, goal, folder = pipeline.workspace, pipeline.goal, pipeline.artifacts.folder
    record = pipeline.record
    tools = workspace.tools.by_name(
        folder, log=_recorder(record), progress=lambda text: record(Warned(text)), mcp=catalogue.mcp
    )
    claims = Claims(writers_of(pipeline.memo.finished.files))

    @cache  # found when code first runs: looking for walls takes a moment
    def host() -> ToolHost:
        return workspace.tools.host(folder, _recorder(record))

    def toolbox_for(task: Task) -> Sequence[Tool]:
        from weft_skills.builtin.writing.function_write import bound  # not at start: it is needed when a task has tools
        from weft_skills.builtin.writing.tools import WritePlace

        before = partial(_comes_before, replanning.current, task.id)
        writes = pipeline.settings.workspace_writes
        writing = WritePlace(pipeline.artifacts.workspace, folder, writes, task.id, before, claims)
        for name in workspace.builtin.unknown_in(task, list(tools)):
            record(
                Warned(f"allowed-tools of the skill {task.name!r} names {name}, which is no tool here; it is ignored")
            )
        loaded = pipeline.memo.loaded
        place = ToolPlace(
            task, catalogue.skill_listing, goal.files, writing, host, lambda: tuple(loaded.get(task.id, ()))
        )
        return workspace.task_tools(pipeline.tool_set, place, bound(tools, writing))

    return TaskRunner(
        plan=replanning.current.plan,
        goal=goal.text,
        models=pipeline.models,
        skills=workspace.skills.registry,
        tools={name: tool for name, tool in tools.items() if not changed_file(getattr(tool, "function", None))},
        prompts=pipeline.prompts,
        record=record,
        artifacts=pipeline.artifacts,
        memo=pipeline.memo,
        toolbox_for=lambda task: [*toolbox_for(task), *replanning.tools(task)],
        files=tuple(str(path) for path in goal.files),
        input_budget=pipeline.settings.input_budget,
        tool_calls=pipeline.settings.tool_calls,
        given_files=given,
        earlier=follow_up.for_task if (follow_up := pipeline.follow_up) is not None else None,
        on_answer=as_events if goal.stream and goal.data is None else None,
        kept=pipeline.kept,
    )


def _comes_before(current: CurrentPlan, task: str, other: str) -> bool:
    """Whether a task is done before another one starts."""
    import networkx as nx

    graph = current.plan.graph
    return other in graph and task in graph and nx.has_path(graph, other, task)


def _recorder(record: Record) -> Callable[[CallLog], None]:
    def log(one: CallLog) -> None:
        record(ToolLogged(one.tool, one.log, one.stderr, one.exit_status, one.seconds))

    return log
