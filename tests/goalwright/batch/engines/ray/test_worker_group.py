"""The workers of a batch, as plain objects in this process."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import pytest

from goalwright.batch.engine import Pace
from goalwright.batch.engines.ray.messages import WorkerReport
from goalwright.batch.engines.ray.metrics import BatchMetrics
from goalwright.batch.engines.ray.worker_group import WorkerGroup
from goalwright.batch.limits.shared.budget import Amount, BudgetRequest
from goalwright.models.budget import Budget
from goalwright.models.model_check import ModelProblem
from goalwright.runs.stop import Stop
from goalwright.version import __version__
from goalwright_planner.events import CallFinished, Event
from goalwright_planner.model import Reply, Usage
from goalwright_skills.errors import SetupError
from tests.goalwright.batch.engines.ray.plain_worker import GONE, PlainWorker, info

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class Said(list[str]):
    """What was said."""

    def __call__(self, text: str) -> None:
        self.append(text)


def report(*events: Event, commit: float = 0.0, memory: int = 1, stopped: bool = False) -> WorkerReport:
    return WorkerReport(events, Pace(1, 4, 4), commit, memory, stopped)


def group_of(*workers: PlainWorker, budget: Budget | None = None, memory: float = 100.0) -> tuple[WorkerGroup, Said]:
    said = Said()
    return WorkerGroup.of(cast("Any", workers), 4, budget or Budget(), memory, said), said


async def settled(group: WorkerGroup) -> None:
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.fixture
async def closing() -> AsyncIterator[list[WorkerGroup]]:
    groups: list[WorkerGroup] = []
    yield groups
    for group in groups:
        await group.close()


async def test_incompatible_worker_is_reported_and_not_used(closing: list[WorkerGroup]) -> None:
    keyless = info(problems=(ModelProblem("there is no key for openai/x", "set OPENAI_API_KEY"),))
    other, fit = PlainWorker(info(version="0.0.1")), PlainWorker(info("p2"))
    group, said = group_of(other, fit)
    closing.append(group)
    await group.start()
    assert [state.process for state in group.placement.workers] == ["p2"]
    assert other.did == ["end"]
    assert said == [
        (
            f"worker 1 is not used: node-1: it has goalwright 0.0.1, but this is {__version__}; "
            "install the same version there"
        )
    ]
    alone, _ = group_of(PlainWorker(keyless))
    closing.append(alone)
    with pytest.raises(SetupError, match="no worker can run goals: node-1: there is no key for openai/x: set OPENAI"):
        await alone.start()


async def test_slow_journal_or_full_memory_holds_back_new_goals(closing: list[WorkerGroup]) -> None:
    worker = PlainWorker(info())
    group, said = group_of(worker)
    closing.append(group)
    await group.start()
    (state,) = group.placement.workers
    await group.placement.acquire("goal", 0)
    worker.reports.put_nowait(report(commit=6.0))
    await settled(group)
    assert (state.held_back, group.placement.capacity) == ("journal", 0)
    worker.reports.put_nowait(report(memory=101))
    await settled(group)
    assert (state.held_back, worker.did) == ("memory", [])
    group.placement.release(state, "goal")
    worker.reports.put_nowait(report(memory=101))
    await settled(group)
    assert worker.did == ["restart"], "with no goal left, a new process begins with little memory"
    assert (said, group.restarted) == (["worker 1 on node-1 is restarted: its memory is over its limit"], {"p1"})
    worker.reports.put_nowait(report(commit=6.0))
    await settled(group)
    assert state.is_available, "without goals there is no commit that could be faster"


async def test_allotment_of_dead_worker_counts_as_spent(
    closing: list[WorkerGroup],
) -> None:
    worker, other = PlainWorker(info(), info("p2")), PlainWorker(info("q"))
    budget = Budget(max_cost=4.0)
    group, said = group_of(worker, other, budget=budget)
    closing.append(group)
    heard: list[Event] = []
    group.record = heard.append
    await group.start()
    nothing = Amount()
    first = await worker.channel.request(BudgetRequest("p1", nothing, nothing, wanted=Amount(3.0)))
    assert first.allotted == Amount(3.0)
    later = await other.channel.request(BudgetRequest("q", nothing, nothing, wanted=Amount(2.0)))
    assert later.is_pending, "the first worker may give some back"
    call = CallFinished("task", "t", "m", Reply("", usage=Usage(1, 10, 5), cost=0.5), 1.0)
    worker.reports.put_nowait(report(call))
    worker.reports.put_nowait(GONE)
    for _ in range(6_000):
        if group.placement.workers[0].process == "p2":
            break
        await asyncio.sleep(0.01)
    assert (budget.cost, heard) == (3.0, [call])
    rest = await other.channel.request(BudgetRequest("q", nothing, nothing, wanted=Amount(2.0)))
    assert rest.allotted == Amount(1.0), "nothing more comes back"
    assert said == ["worker 1 on node-1 is lost; its goals continue on other workers"]


async def test_silent_worker_is_restarted_when_budget_is_limited(
    closing: list[WorkerGroup],
) -> None:
    worker = PlainWorker(info(), info(), info("p2"))
    group, _ = group_of(worker, budget=Budget(max_cost=4.0))
    closing.append(group)
    await group.start()
    worker.reports.put_nowait(GONE)
    for _ in range(6_000):
        if group.placement.workers[0].process == "p2":
            break
        await asyncio.sleep(0.01)
    assert worker.did == ["restart"], "what it had was counted as spent"


async def test_worker_reports_become_metrics(closing: list[WorkerGroup]) -> None:
    worker = PlainWorker(info())
    group, _ = group_of(worker)
    closing.append(group)
    noted: list[tuple[str, float, dict[str, str]]] = []
    group.metrics = BatchMetrics(lambda *recorded: noted.append(recorded))
    await group.start()
    call = CallFinished("task", "t", "m", Reply("", usage=Usage(1, 10, 5), cost=0.5), 1.0)
    worker.reports.put_nowait(replace(report(call, commit=0.25), refused=2))
    await settled(group)
    assert noted == [
        ("goalwright_calls", 1, {"model": "m"}),
        ("goalwright_tokens", 15, {"model": "m"}),
        ("goalwright_cost_usd", 0.5, {"model": "m"}),
        ("goalwright_calls_refused", 2, {}),
        ("goalwright_commit_seconds", 0.25, {"worker": "1"}),
    ]


async def test_ignored_settings_are_reported_once(closing: list[WorkerGroup]) -> None:
    what = "'task_timeout' is ignored, because this workspace is not trusted and may only lower it from 900"
    group, said = group_of(PlainWorker(info(ignored=(what,))), PlainWorker(info("p2", ignored=(what,))))
    closing.append(group)
    await group.start()
    await settled(group)
    assert said == [f"on node-1, {what}: set it in the config.toml there"]


async def test_losing_ray_head_stops_batch_with_one_message(
    closing: list[WorkerGroup], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("goalwright.batch.engines.ray.worker_group._CHECK_HEAD", 0.01)
    monkeypatch.setattr("goalwright.batch.engines.ray.worker_group._HEAD_AWAY", 0.1)
    first, second = PlainWorker(info(), info("p3")), PlainWorker(info("p2"))
    group, said = group_of(first, second)
    closing.append(group)
    there = True

    async def answers() -> bool:
        return there

    group.head_answers = answers
    await group.start()
    await settled(group)
    stop = Stop()
    group.stop_with(stop)
    there = False
    first.reports.put_nowait(GONE)
    second.reports.put_nowait(GONE)
    await asyncio.wait_for(stop.wait(), 20)
    assert said == ["Ray's head is lost: the batch stops; what is finished is kept"]
    assert (group.head_is_lost, group.placement.connected) == (True, [])


async def test_stop_from_another_process_reaches_all_workers(closing: list[WorkerGroup]) -> None:
    first, second = PlainWorker(info()), PlainWorker(info("p2"))
    group, _ = group_of(first, second)
    closing.append(group)
    await group.start()
    await settled(group)
    stop = Stop()
    group.stop_with(stop)
    first.reports.put_nowait(report(stopped=True))
    await settled(group)
    assert stop.is_set()
    assert (first.did, second.did) == (["stop"], ["stop"])
    assert group.pace().workers == "2 workers"
