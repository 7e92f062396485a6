"""The scheduler with tasks that wait for a person: all other tasks continue."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from goalwright_executor.approvals.waiting import slot_released
from goalwright_executor.results.outcome import Done, Failed, Grown, Outcome, Skipped, Waiting
from goalwright_executor.scheduling.attempt import ScheduleLimits
from goalwright_planner.approvals import ApprovalRequest
from goalwright_planner.errors import AnswerNeeded, TaskDenied
from goalwright_planner.events import TaskFinished
from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.task import Task
from goalwright_planner.plan.task_id import item_id
from tests.executor.scheduling.run_plan import run_plan
from tests.fakes import Recorder

if TYPE_CHECKING:
    from collections.abc import Mapping


def task(task_id: str, *depends_on: str) -> Task:
    return Task(task_id, "llm", depends_on=depends_on)


async def asking(task: Task, _results: Mapping[str, str]) -> str:
    if task.id.startswith("ask"):
        raise AnswerNeeded(ApprovalRequest("k#1", task.id, "task"))
    if task.id.startswith("denied"):
        raise TaskDenied("it was denied")
    return task.id.upper()


async def test_waiting_task_and_its_dependents_have_no_outcome() -> None:
    record = Recorder()
    plan = Plan((task("ask"), task("after", "ask"), task("denied"), task("next", "denied"), task("other")))
    outcomes = await run_plan(plan, asking, record, ScheduleLimits(concurrency=1))
    assert outcomes == {
        "ask": Waiting("it waits for an answer: k#1"),
        "denied": Skipped("it was denied"),
        "next": Skipped("it depends on 'denied', which was skipped"),
        "other": Done("OTHER"),
    }
    assert "ask" not in [event.task for event in record.events if isinstance(event, TaskFinished)]


@pytest.mark.parametrize("width", [None, 1, 2])
async def test_parent_of_waiting_subtask_does_not_end(width: int | None) -> None:
    names = [item_id("all", number) for number in range(1, 5)]
    finished: list[Mapping[str, Outcome]] = []

    async def finish(outcomes: Mapping[str, Outcome]) -> str:
        finished.append(outcomes)
        return "all"

    async def run_task(one: Task, results: Mapping[str, str]) -> str | Grown:
        if one.id == "all":
            return Grown(tuple(task(name) for name in names), finish, width)
        return await asking(task("ask") if one.id in names[:2] else one, results)

    outcomes = await run_plan(Plan((task("all"), task("after", "all"))), run_task, Recorder(), ScheduleLimits())
    assert [type(outcomes[name]) for name in names] == [Waiting, Waiting, Done, Done]
    assert set(outcomes) == set(names)
    assert finished == []


async def test_waiting_task_releases_slot_and_stops_its_clock() -> None:
    others = asyncio.Event()
    order: list[str] = []

    async def run_task(one: Task, _results: Mapping[str, str]) -> str:
        if one.id == "other":
            others.set()
            return "other"
        for _ in range(2):
            with slot_released():
                await others.wait()
                await asyncio.sleep(0.3)
            order.append("went on")
        return "asked"

    limits = ScheduleLimits(concurrency=1, task_seconds=0.25)
    outcomes = await asyncio.wait_for(run_plan(Plan((task("a"), task("other"))), run_task, Recorder(), limits), 10)
    assert outcomes == {"a": Done("asked"), "other": Done("other")}
    assert order == ["went on", "went on"]


async def test_time_limit_continues_after_waiting() -> None:
    async def run_task(_one: Task, _results: Mapping[str, str]) -> str:
        with slot_released():
            await asyncio.sleep(0.05)
        await asyncio.sleep(10)
        return "late"

    outcomes = await run_plan(Plan((task("a"),)), run_task, Recorder(), ScheduleLimits(task_seconds=0.2))
    assert isinstance(outcomes["a"], Failed)


async def test_waiting_task_can_be_stopped() -> None:
    async def run_task(_one: Task, _results: Mapping[str, str]) -> str:
        with slot_released():
            await asyncio.sleep(10)
        return "late"

    record = Recorder()
    running = asyncio.ensure_future(run_plan(Plan((task("a"),)), run_task, record, ScheduleLimits(task_seconds=1)))
    await asyncio.sleep(0.05)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    (end,) = [event for event in record.events if isinstance(event, TaskFinished)]
    assert end.status == "cancelled"
