"""The workers of a batch, here as plain objects in this process."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import pytest

from tests.weft.batch.engines.ray.plain_worker import GONE, PlainWorker, facts
from weft.batch.engine import Pace
from weft.batch.engines.ray.crew import Crew
from weft.batch.engines.ray.messages import WorkerReport
from weft.batch.engines.ray.meters import Meters
from weft.batch.limits.shared.budget import Amount, BudgetAsk
from weft.models.budget import Budget
from weft.models.model_check import ModelProblem
from weft.runs.stop import Stop
from weft.version import __version__
from weft_planner.events import CallFinished, Event
from weft_planner.model import Reply, Usage
from weft_skills.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class Said(list[str]):
    """What was said."""

    def __call__(self, text: str) -> None:
        self.append(text)


def report(*events: Event, commit: float = 0.0, memory: int = 1, stopped: bool = False) -> WorkerReport:
    return WorkerReport(events, Pace(1, 4, 4), commit, memory, stopped)


def crew_of(*workers: PlainWorker, budget: Budget | None = None, memory: float = 100.0) -> tuple[Crew, Said]:
    said = Said()
    return Crew.of(cast("Any", workers), 4, budget or Budget(), memory, said), said


async def passing(crew: Crew) -> None:
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.fixture
async def closing() -> AsyncIterator[list[Crew]]:
    crews: list[Crew] = []
    yield crews
    for crew in crews:
        await crew.close()


async def test_a_worker_of_another_version_or_without_a_key_is_named_and_not_used(closing: list[Crew]) -> None:
    keyless = facts(problems=(ModelProblem("there is no key for openai/x", "set OPENAI_API_KEY"),))
    other, fit = PlainWorker(facts(version="0.0.1")), PlainWorker(facts("p2"))
    crew, said = crew_of(other, fit)
    closing.append(crew)
    await crew.begin()
    assert [seat.process for seat in crew.placement.seats] == ["p2"]
    assert other.did == ["end"]
    assert said == [
        f"worker 1 is not used: node-1: it has weft 0.0.1, and this is {__version__}; install the same version there"
    ]
    alone, _ = crew_of(PlainWorker(keyless))
    closing.append(alone)
    with pytest.raises(SetupError, match="no worker can run goals: node-1: there is no key for openai/x: set OPENAI"):
        await alone.begin()


async def test_a_slow_journal_or_full_memory_holds_new_goals_back(closing: list[Crew]) -> None:
    worker = PlainWorker(facts())
    crew, said = crew_of(worker)
    closing.append(crew)
    await crew.begin()
    (seat,) = crew.placement.seats
    await crew.placement.enter("goal", 0)
    worker.reports.put_nowait(report(commit=6.0))
    await passing(crew)
    assert (seat.held_back, crew.placement.room) == ("journal", 0)
    worker.reports.put_nowait(report(memory=101))
    await passing(crew)
    assert (seat.held_back, worker.did) == ("memory", [])
    crew.placement.leave(seat, "goal")
    worker.reports.put_nowait(report(memory=101))
    await passing(crew)
    assert worker.did == ["restart"], "with no goal left, a new process begins with little memory"
    assert (said, crew.excused) == (["worker 1 on node-1 is restarted: its memory is over its limit"], {"p1"})
    worker.reports.put_nowait(report(commit=6.0))
    await passing(crew)
    assert seat.is_open, "without goals there is no commit that could be faster"


async def test_all_workers_spend_from_one_budget_and_what_a_dead_one_had_counts_as_spent(closing: list[Crew]) -> None:
    worker, other = PlainWorker(facts(), facts("p2")), PlainWorker(facts("q"))
    budget = Budget(max_cost=4.0)
    crew, said = crew_of(worker, other, budget=budget)
    closing.append(crew)
    heard: list[Event] = []
    crew.record = heard.append
    await crew.begin()
    nothing = Amount()
    first = await worker.line.ask(BudgetAsk("p1", nothing, nothing, wanted=Amount(3.0)))
    assert first.allotted == Amount(3.0)
    later = await other.line.ask(BudgetAsk("q", nothing, nothing, wanted=Amount(2.0)))
    assert later.later, "the first worker may give some back"
    call = CallFinished("task", "t", "m", Reply("", usage=Usage(1, 10, 5), cost=0.5), 1.0)
    worker.reports.put_nowait(report(call))
    worker.reports.put_nowait(GONE)
    for _ in range(200):
        if crew.placement.seats[0].process == "p2":
            break
        await asyncio.sleep(0.01)
    assert (budget.cost, heard) == (3.0, [call])
    rest = await other.line.ask(BudgetAsk("q", nothing, nothing, wanted=Amount(2.0)))
    assert rest.allotted == Amount(1.0), "nothing more comes back"
    assert said == ["worker 1 on node-1 is lost; its goals continue on other workers"]


async def test_a_worker_that_was_silent_and_comes_back_starts_again_if_there_is_a_budget(closing: list[Crew]) -> None:
    worker = PlainWorker(facts(), facts(), facts("p2"))
    crew, _ = crew_of(worker, budget=Budget(max_cost=4.0))
    closing.append(crew)
    await crew.begin()
    worker.reports.put_nowait(GONE)
    for _ in range(200):
        if crew.placement.seats[0].process == "p2":
            break
        await asyncio.sleep(0.01)
    assert worker.did == ["restart"], "what it had was counted as spent"


async def test_what_workers_report_becomes_metrics(closing: list[Crew]) -> None:
    worker = PlainWorker(facts())
    crew, _ = crew_of(worker)
    closing.append(crew)
    noted: list[tuple[str, float, dict[str, str]]] = []
    crew.meters = Meters(lambda *given: noted.append(given))
    await crew.begin()
    call = CallFinished("task", "t", "m", Reply("", usage=Usage(1, 10, 5), cost=0.5), 1.0)
    worker.reports.put_nowait(replace(report(call, commit=0.25), refused=2))
    await passing(crew)
    assert noted == [
        ("weft_calls", 1, {"model": "m"}),
        ("weft_tokens", 15, {"model": "m"}),
        ("weft_cost_usd", 0.5, {"model": "m"}),
        ("weft_calls_refused", 2, {}),
        ("weft_commit_seconds", 0.25, {"worker": "1"}),
    ]


async def test_settings_that_do_not_count_on_workers_are_named_once(closing: list[Crew]) -> None:
    what = "'task_timeout' is ignored, because this workspace is not trusted and may only lower it from 900"
    crew, said = crew_of(PlainWorker(facts(ignored=(what,))), PlainWorker(facts("p2", ignored=(what,))))
    closing.append(crew)
    await crew.begin()
    await passing(crew)
    assert said == [f"on node-1, {what}: set it in the config.toml there"]


async def test_a_stop_from_another_process_reaches_all_workers(closing: list[Crew]) -> None:
    first, second = PlainWorker(facts()), PlainWorker(facts("p2"))
    crew, _ = crew_of(first, second)
    closing.append(crew)
    await crew.begin()
    await passing(crew)
    stop = Stop()
    crew.heed(stop)
    first.reports.put_nowait(report(stopped=True))
    await passing(crew)
    assert stop.is_set()
    assert (first.did, second.did) == (["stop"], ["stop"])
    assert crew.pace().workers == "2 workers"
