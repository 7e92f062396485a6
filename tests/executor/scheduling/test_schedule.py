"""The scheduler runs every task once, as soon as its dependencies are done."""

from __future__ import annotations

import asyncio
import gc
import weakref
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goalwright_executor.results.outcome import Done, Failed, Skipped
from goalwright_executor.scheduling.attempt import ScheduleLimits
from goalwright_executor.scheduling.schedule import Schedule
from goalwright_planner.errors import BudgetSpent
from goalwright_planner.events import TaskFinished, TaskStarted
from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.task import Task
from goalwright_skills.errors import GoalwrightError
from tests.executor.scheduling.run_plan import run_plan
from tests.fakes import Recorder
from tests.plans import plans

if TYPE_CHECKING:
    from collections.abc import Mapping


def graph(**waits: str) -> Plan:
    """graph(a="", b="a", c="a b")"""
    return Plan(tuple(Task(name, "llm", depends_on=tuple(before.split())) for name, before in waits.items()))


@given(plans(most=15), st.integers(1, 5))
@settings(max_examples=60)
def test_every_task_runs_once_after_its_dependencies(plan: Plan, limit: int) -> None:
    began: list[str] = []
    running = peak = 0

    async def run_task(task: Task, results: Mapping[str, str]) -> str:
        nonlocal running, peak
        assert all(before in results for before in task.depends_on)
        began.append(task.id)
        running += 1
        peak = max(peak, running)
        await asyncio.sleep(0)
        running -= 1
        return task.id.upper()

    outcomes = asyncio.run(run_plan(plan, run_task, Recorder(), ScheduleLimits(limit)))
    assert sorted(began) == sorted(task.id for task in plan.tasks)
    assert peak <= limit
    assert outcomes == {task.id: Done(task.id.upper()) for task in plan.tasks}


async def test_task_starts_when_its_own_dependencies_are_done() -> None:
    slow = asyncio.Event()
    order: list[str] = []

    async def run_task(task: Task, _: Mapping[str, str]) -> str:
        if task.id == "slow":
            await slow.wait()
        order.append(task.id)
        if task.id == "end_of_fast":
            slow.set()
        return ""

    plan = graph(slow="", fast="", next_of_fast="fast", end_of_fast="next_of_fast", last="slow end_of_fast")
    await asyncio.wait_for(run_plan(plan, run_task, Recorder(), ScheduleLimits()), 5)
    assert order == ["fast", "next_of_fast", "end_of_fast", "slow", "last"]


async def test_ended_task_is_released_without_garbage_collection() -> None:
    begun: list[weakref.ref[object]] = []

    async def run_task(task: Task, _: Mapping[str, str]) -> str:
        begun.append(weakref.ref(asyncio.current_task()))
        if task.id == "b":
            await asyncio.sleep(60)
        return ""

    gc.disable()
    try:
        outcomes = await run_plan(graph(a="", b=""), run_task, Recorder(), ScheduleLimits(2, task_seconds=0.1))
        await asyncio.sleep(0)
        assert {name: type(outcome) for name, outcome in outcomes.items()} == {"a": Done, "b": Failed}
        assert [ref() for ref in begun] == [None, None]
    finally:
        gc.enable()


async def test_failed_task_skips_only_its_dependents() -> None:
    async def run_task(task: Task, _: Mapping[str, str]) -> str:
        if task.id == "bad":
            raise GoalwrightError("the key is wrong")
        if task.id == "worse":
            raise ZeroDivisionError("by zero")
        return "fine"

    plan = graph(good="", bad="", worse="", after_good="good", after_bad="bad good", after_that="after_bad")
    record = Recorder()
    outcomes = await run_plan(plan, run_task, record, ScheduleLimits())
    assert outcomes["after_good"] == Done("fine")
    assert outcomes["bad"] == Failed("the key is wrong")
    assert outcomes["worse"] == Failed("an unexpected error, please report it: ZeroDivisionError: by zero")
    assert outcomes["after_bad"] == Skipped("it depends on 'bad', which failed")
    assert outcomes["after_that"] == Skipped("it depends on 'after_bad', which was skipped")
    started = [event.task for event in record.events if isinstance(event, TaskStarted)]
    assert sorted(started) == ["after_good", "bad", "good", "worse"]
    assert len(record.of(TaskFinished)) == 6


async def test_timeout_fails_only_its_task() -> None:
    async def run_task(task: Task, _: Mapping[str, str]) -> str:
        await asyncio.sleep(30 if task.id == "slow" else 0)
        return "ok"

    outcomes = await run_plan(graph(slow="", quick=""), run_task, Recorder(), ScheduleLimits(task_seconds=0.05))
    assert isinstance(outcomes["slow"], Failed)
    assert "longer than 0.05 s" in outcomes["slow"].error
    assert outcomes["quick"] == Done("ok")


async def test_foreign_timeout_is_not_the_task_timeout() -> None:
    async def run_task(task: Task, _: Mapping[str, str]) -> str:
        raise TimeoutError("the gateway took too long")

    outcomes = await run_plan(graph(a=""), run_task, Recorder(), ScheduleLimits(task_seconds=900))
    error = "an unexpected error, please report it: TimeoutError: the gateway took too long"
    assert outcomes == {"a": Failed(error)}


async def test_task_ends_after_any_exception() -> None:
    class Reading:
        """Finds no task, and cannot say what one of them is given."""

        def inputs(self, task: Task, results: Mapping[str, str]) -> str:
            if task.id == "bad":
                raise ZeroDivisionError("by zero")
            return ""

        def output(self, task: Task, inputs: str) -> str | None:
            return None

        def grows_again(self, task: Task) -> bool:
            return False

    async def run_task(task: Task, _: Mapping[str, str]) -> str:
        return "fine"

    schedule = Schedule(run_task, Recorder(), ScheduleLimits(), Reading())
    schedule.add(*graph(good="", bad="").tasks)
    schedule.close()
    async with asyncio.timeout(30):
        outcomes = await schedule.run()
    assert outcomes["good"] == Done("fine")
    assert outcomes["bad"] == Failed("an unexpected error, please report it: ZeroDivisionError: by zero")


async def test_spent_budget_lets_running_tasks_end() -> None:
    may_end = asyncio.Event()

    async def run_task(task: Task, _: Mapping[str, str]) -> str:
        if task.id == "broke":
            may_end.set()
            raise BudgetSpent("no money left")
        await may_end.wait()
        return "paid for"

    record = Recorder()
    with pytest.raises(BudgetSpent, match="no money left"):
        await run_plan(graph(paid="", broke="", later="paid"), run_task, record, ScheduleLimits())
    ends = {event.task: event for event in record.events if isinstance(event, TaskFinished)}
    assert ends["paid"].status == "done"
    assert ends["broke"].status == "cancelled"
    assert "later" not in ends


async def test_cancelling_waits_for_running_tasks() -> None:
    cleaned: list[str] = []

    async def run_task(task: Task, _: Mapping[str, str]) -> str:
        try:
            await asyncio.sleep(30)
        finally:
            cleaned.append(task.id)
        return ""

    record = Recorder()
    run = asyncio.ensure_future(run_plan(graph(a="", b="", c="a b"), run_task, record, ScheduleLimits()))
    await asyncio.sleep(0.01)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert sorted(cleaned) == ["a", "b"]
    ends = [(event.task, event.status) for event in record.events if isinstance(event, TaskFinished)]
    assert sorted(ends) == [("a", "cancelled"), ("b", "cancelled")]
    assert all(event.seconds > 0 for event in record.events if isinstance(event, TaskFinished))
