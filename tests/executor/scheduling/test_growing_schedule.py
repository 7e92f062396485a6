"""The scheduler with tasks that are added or grow into subtasks while it runs."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goalwright_executor.results.outcome import Cancelled, Done, Failed, Grown, Outcome, Skipped, Unneeded
from goalwright_executor.scheduling.attempt import ScheduleLimits
from goalwright_executor.scheduling.schedule import Schedule
from goalwright_planner.errors import BudgetSpent
from goalwright_planner.events import TaskFinished, TaskStarted
from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.task import Task
from goalwright_planner.plan.task_id import item_id, parent_of
from goalwright_skills.errors import GoalwrightError
from tests.executor.scheduling.run_plan import run_plan
from tests.fakes import Recorder
from tests.plans import plans

if TYPE_CHECKING:
    from collections.abc import Mapping


def task(task_id: str, *depends_on: str) -> Task:
    return Task(task_id, "llm", depends_on=depends_on)


async def saying(task: Task, _results: Mapping[str, str]) -> str:
    return task.id.upper()


def grown(parent: str, count: int, width: int | None = None) -> Grown:
    """So many items, whose outputs and failures become their parent's output."""
    names = [item_id(parent, number) for number in range(1, count + 1)]

    async def finish(outcomes: Mapping[str, Outcome]) -> str:
        ended = [outcomes[name] for name in names]
        return " ".join(one.output if isinstance(one, Done) else type(one).__name__ for one in ended)

    return Grown(tuple(task(name) for name in names), finish, width)


@given(plans(most=12), st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_tasks_added_while_running_are_scheduled(plan: Plan, draw: random.Random) -> None:
    async def run() -> dict[str, Outcome]:
        schedule = Schedule(saying, Recorder(), ScheduleLimits(3))
        running = asyncio.ensure_future(schedule.run())
        known: set[str] = set()
        while left := [one for one in plan.tasks if one.id not in known]:
            one = draw.choice([one for one in left if known.issuperset(one.depends_on)])
            known.add(one.id)
            schedule.add(one)
            for _ in range(draw.randrange(4)):
                await asyncio.sleep(0)
        assert not running.done(), "it is open"
        schedule.close()
        return await asyncio.wait_for(running, 10)

    assert asyncio.run(run()) == {one.id: Done(one.id.upper()) for one in plan.tasks}


async def test_task_can_be_added_after_its_dependencies_ended() -> None:
    async def run_task(task: Task, results: Mapping[str, str]) -> str:
        if task.id == "bad":
            raise GoalwrightError("no")
        return f"{task.id} after {sorted(results)}"

    schedule = Schedule(run_task, Recorder(), ScheduleLimits())
    schedule.add(task("good"), task("bad"))
    schedule.close()
    assert (await schedule.run())["bad"] == Failed("no")
    schedule.add(task("next", "good"), task("never", "bad"), task("nor_this", "never"))
    outcomes = await schedule.run()
    assert outcomes["next"] == Done("next after ['good']")
    assert outcomes["never"] == Skipped("it depends on 'bad', which failed")
    assert outcomes["nor_this"] == Skipped("it depends on 'never', which was skipped")


async def test_unknown_dependency_is_refused() -> None:
    with pytest.raises(ValueError, match="depends on 'x', which was not added"):
        Schedule(saying, Recorder(), ScheduleLimits()).add(task("a", "x"))


async def test_growing_task_ends_after_subtasks_without_a_slot() -> None:
    async def run_task(task: Task, results: Mapping[str, str]) -> str | Grown:
        return grown("all", 3) if task.id == "all" else task.id.upper()

    record = Recorder()
    plan = Plan((task("all"), task("after", "all")))
    outcomes = await asyncio.wait_for(run_plan(plan, run_task, record, ScheduleLimits(concurrency=1)), 5)
    assert outcomes["all"] == Done("ALL[1] ALL[2] ALL[3]")
    assert outcomes["after"] == Done("AFTER")
    ends = [event.task for event in record.events if isinstance(event, TaskFinished)]
    assert ends == ["all[1]", "all[2]", "all[3]", "all", "after"]
    assert next(event.task for event in record.events if isinstance(event, TaskStarted)) == "all"


async def test_task_may_grow_into_nothing() -> None:
    async def run_task(task: Task, results: Mapping[str, str]) -> Grown:
        return grown(task.id, 0)

    assert await run_plan(Plan((task("a"),)), run_task, Recorder(), ScheduleLimits()) == {"a": Done("")}


async def test_failed_subtask_does_not_affect_others() -> None:
    async def run_task(task: Task, results: Mapping[str, str]) -> str | Grown:
        if task.id == "all":
            return grown("all", 4)
        if task.id in ("all[2]", "all[3]"):
            raise GoalwrightError("no")
        return "fine"

    outcomes = await run_plan(Plan((task("all"),)), run_task, Recorder(), ScheduleLimits())
    assert outcomes["all"] == Done("fine Failed Failed fine")
    assert outcomes["all[2]"] == Failed("no")


async def test_width_applies_to_own_subtasks_when_nested() -> None:
    under_way: dict[str, int] = {}
    peaks: dict[str, int] = {}

    async def run_task(task: Task, results: Mapping[str, str]) -> str | Grown:
        parent = parent_of(task.id) or ""
        if task.id in ("wide", "narrow"):
            return grown(task.id, 30, {"wide": 7, "narrow": 2}[task.id])
        if parent == "narrow":
            return grown(task.id, 3)
        under_way[parent] = under_way.get(parent, 0) + 1
        peaks[parent] = max(peaks.get(parent, 0), under_way[parent])
        narrow = sum(count > 0 for name, count in under_way.items() if name.startswith("narrow["))
        peaks["narrow"] = max(peaks.get("narrow", 0), narrow)
        await asyncio.sleep(random.uniform(0, 0.002))
        under_way[parent] -= 1
        return "x"

    plan = Plan((task("wide"), task("narrow")))
    outcomes = await asyncio.wait_for(run_plan(plan, run_task, Recorder(), ScheduleLimits(concurrency=50)), 20)
    assert len(outcomes) == 2 + 30 + 30 + 90
    assert outcomes["narrow"] == Done(" ".join(["x x x"] * 30))
    assert peaks["wide"] == 7
    assert peaks["narrow"] == 2


async def test_skipped_subtask_is_counted() -> None:
    async def run_task(task: Task, results: Mapping[str, str]) -> str | Grown:
        if task.id == "all":
            parts = (Task("all/a", "llm"), Task("all/b", "llm", depends_on=("all/a",)), Task("all/c", "llm"))

            async def finish(outcomes: Mapping[str, Outcome]) -> str:
                return ", ".join(type(outcomes[one.id]).__name__ for one in parts)

            return Grown(parts, finish, width=1)
        if task.id == "all/a":
            raise GoalwrightError("no")
        return "fine"

    outcomes = await asyncio.wait_for(run_plan(Plan((task("all"),)), run_task, Recorder(), ScheduleLimits()), 5)
    assert outcomes["all"] == Done("Failed, Skipped, Done")


async def test_unneeded_dependencies_make_task_unneeded() -> None:
    async def run_task(task: Task, results: Mapping[str, str]) -> str | Unneeded:
        return Unneeded() if task.id.startswith("no") else "fine"

    plan = Plan(
        (
            task("no1"),
            task("no2"),
            task("yes"),
            task("join", "no1", "yes"),
            task("none", "no1", "no2"),
            task("z", "none"),
        )
    )
    record = Recorder()
    outcomes = await run_plan(plan, run_task, record, ScheduleLimits())
    assert outcomes["join"] == Done("fine")
    assert outcomes["none"] == outcomes["z"] == Unneeded()
    ends = {event.task: (event.status, event.error) for event in record.events if isinstance(event, TaskFinished)}
    assert ends["none"] == ends["no1"] == ("unneeded", None)


async def test_spent_budget_cancels_parent_of_subtasks() -> None:
    async def run_task(task: Task, results: Mapping[str, str]) -> str | Grown:
        if task.id == "all":
            return grown("all", 5, width=1)
        if task.id == "all[2]":
            raise BudgetSpent("no money left")
        return "paid for"

    record = Recorder()
    with pytest.raises(BudgetSpent):
        await run_plan(Plan((task("all"), task("after", "all"))), run_task, record, ScheduleLimits())
    ends = {event.task: event.status for event in record.events if isinstance(event, TaskFinished)}
    assert ends == {"all[1]": "done", "all[2]": "cancelled", "all": "cancelled"}


async def test_cancelling_ends_tasks_with_unstarted_subtasks() -> None:
    async def run_task(task: Task, results: Mapping[str, str]) -> str | Grown:
        if task.id == "all":
            return grown("all", 2)
        await asyncio.sleep(30)
        return ""

    record = Recorder()
    plan = Plan((task("slow"), task("all")))
    run = asyncio.ensure_future(run_plan(plan, run_task, record, ScheduleLimits(concurrency=2)))
    await asyncio.sleep(0.02)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    ends = {event.task: event.status for event in record.events if isinstance(event, TaskFinished)}
    assert ends == {"slow": "cancelled", "all[1]": "cancelled", "all": "cancelled"}


async def test_open_schedule_ends_when_budget_is_spent() -> None:
    async def run_task(task: Task, results: Mapping[str, str]) -> str:
        raise BudgetSpent("no money left")

    schedule = Schedule(run_task, Recorder(), ScheduleLimits())
    schedule.add(task("a"))
    with pytest.raises(BudgetSpent):
        await asyncio.wait_for(schedule.run(), 5)
    assert schedule.outcomes == {"a": Cancelled("no money left")}


async def test_dropping_a_task_drops_its_subtasks() -> None:
    """What ended just now must not start what comes after it: `each[1]` and `a` end while the others are stopped."""
    ends, begun, record = asyncio.Event(), asyncio.Semaphore(0), Recorder()

    async def run_task(task: Task, _: Mapping[str, str]) -> str | Grown:
        if task.id == "each":
            return grown("each", 4, width=2)
        begun.release()
        if task.id in ("a", "each[1]"):
            await ends.wait()
        elif task.id != "kept":
            try:
                await asyncio.sleep(60)
            finally:
                await asyncio.sleep(0)  # it takes a while to be stopped
        return task.id

    schedule = Schedule(run_task, record, ScheduleLimits(8))
    schedule.add(task("each"), task("a"), task("b", "a"), task("slow"))
    running = asyncio.ensure_future(schedule.run())
    for _ in ("each[1]", "each[2]", "a", "slow"):
        await begun.acquire()
    ends.set()
    await asyncio.sleep(0)
    await schedule.drop({"each", "a", "b"}, "not wanted")
    schedule.add(task("kept"))
    await asyncio.sleep(0)
    ended = [(one.task, one.status) for one in record.of(TaskFinished)]
    assert ended.count(("each[2]", "cancelled")) == 1
    assert ended.count(("each", "cancelled")) == 1
    assert {one.task for one in record.of(TaskStarted)}.isdisjoint({"b", "each[3]", "each[4]"})
    await schedule.drop({"slow"}, "not wanted")
    schedule.close()
    assert await asyncio.wait_for(running, 10) == {"kept": Done("kept")}
