"""Run a graph on a bare loop, and on goalwright's scheduler with and without a journal."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import TYPE_CHECKING

from bench.harness.timing import Spent
from goalwright_executor.capture.capture import Capture
from goalwright_executor.journal.journal import Journal
from goalwright_executor.results.memo import Memo
from goalwright_executor.scheduling.attempt import ScheduleLimits
from goalwright_executor.scheduling.schedule import Schedule
from goalwright_executor.stores.urls import url_of
from goalwright_planner.events import PlanMade, RunFinished, RunStarted
from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.task import Task

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from pathlib import Path

    from bench.harness.graphs import Graph
    from goalwright_executor.results.outcome import Outcome
    from goalwright_planner.events import Event

Durations = dict[str, float] | None


def plan_of(graph: Graph) -> Plan:
    """Return the graph as a plan."""
    return Plan(tuple(Task(name, "llm", depends_on=tuple(before)) for name, before in graph.items()))


async def bare(plan: Plan, durations: Durations = None) -> None:
    """The lower bound: indegrees and one asyncio task per node, without outcomes, events, limits or failures."""
    waiting = dict(plan.graph.in_degree())
    ready = deque(name for name, count in waiting.items() if count == 0)
    running: set[asyncio.Task[str]] = set()

    async def nothing(name: str) -> str:
        return name

    async def sleep(name: str) -> str:
        await asyncio.sleep((durations or {})[name])
        return name

    work = sleep if durations else nothing
    while ready or running:
        while ready:
            running.add(asyncio.create_task(work(ready.popleft())))
        done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            for after in plan.graph.successors(task.result()):
                waiting[after] -= 1
                if waiting[after] == 0:
                    ready.append(after)


async def scheduled(plan: Plan, durations: Durations = None) -> None:
    """Run the plan on goalwright's scheduler, with events and the limits of a real run."""
    events: list[Event] = []
    schedule = Schedule(_work(durations), Memo(events.append).recorded, _limits(plan))
    outcomes = await _run(schedule, plan)
    assert len(outcomes) == len(plan.tasks)


async def _run(schedule: Schedule, plan: Plan) -> dict[str, Outcome]:
    schedule.add(*plan.tasks)
    schedule.close()
    return await schedule.run()


async def journaled(plan: Plan, folder: Path, durations: Durations = None) -> Spent:
    """Run the plan with every event on disk and all inputs hashed; opening and closing the store are not timed."""
    journal = Journal(url_of(folder / f"graph-{time.monotonic_ns()}.sqlite"))
    log = journal.begin("r", Capture())
    start = Spent.now()
    log.record(RunStarted("r", "a graph", str(folder), {}))
    log.record(PlanMade(plan, 1))
    await log.settle()
    memo = Memo(log.record, log.capture, log.settle)
    outcomes = await _run(Schedule(_work(durations), memo.recorded, _limits(plan), memo), plan)
    log.record(RunFinished("done"))
    await log.settle()
    took = Spent.since(start)
    assert len(outcomes) == len(plan.tasks)
    await asyncio.to_thread(journal.close)
    return took


def _limits(plan: Plan) -> ScheduleLimits:
    return ScheduleLimits(concurrency=len(plan.tasks), task_seconds=900)


def _work(durations: Durations) -> Callable[[Task, Mapping[str, str]], Awaitable[str]]:
    async def nothing(_task: Task, _results: Mapping[str, str]) -> str:
        return ""

    async def sleep(task: Task, _results: Mapping[str, str]) -> str:
        await asyncio.sleep((durations or {})[task.id])
        return ""

    return sleep if durations else nothing
