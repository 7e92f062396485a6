"""One run over a batch's goals."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from goalwright.batch.goals import BatchGoal
from goalwright.batch.limits.limited_model import CallLimits
from goalwright.batch.limits.rate_limiter import Rates
from goalwright.batch.options import BatchOptions
from goalwright.batch.results import EarlierResult, Results
from goalwright.batch.runner import BatchRunner
from goalwright.batch.summary import BatchSummary
from goalwright.models.budget import Budget
from goalwright_executor.history.result import Result
from goalwright_planner.model import Message, Reply, Request, Usage
from tests.virtual_time import run_virtually

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from goalwright.batch.engine import Job
    from goalwright.runs.stop import Stop


class Prompt:
    """Every goal is done at once."""

    def has_room(self, running: int) -> bool:
        return True

    async def run(self, job: Job, _: Stop) -> Result:
        return Result("run", "done", job.goal.text, "ok", None, None, (), (), Usage(), 0.0, None)

    async def close(self) -> None:
        """Nothing was opened."""


async def test_batch_with_unfinished_goal_is_not_complete(
    tmp_path: Path,
) -> None:
    results = Results(tmp_path / "out.jsonl")
    history = {"a": EarlierResult("", "run-a"), "z": EarlierResult("", "run-z")}
    runner = BatchRunner(Prompt(), results, history, Budget(), BatchOptions(), BatchSummary(1))
    complete = []
    for goal in (BatchGoal("a", 1, "x"), BatchGoal("z", 9, "y")):
        await runner.run([goal])
        complete.append(runner.is_complete)
    results.close(complete=True)
    assert complete == [False, True]


class SlowModel:
    """Answers after a moment; counts how many wait for it."""

    name = "openai/test-model"

    def __init__(self) -> None:
        self.waiting = self.most = 0

    async def complete(self, _: Request) -> Reply:
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        await asyncio.sleep(0.01)
        self.waiting -= 1
        return Reply("ok")


class Calling(Prompt):
    """Every goal makes one call, three at once, and another one."""

    def __init__(self, slots: int) -> None:
        self.model, self.limits = SlowModel(), CallLimits(Rates(slots))
        self.running = self.most = 0

    def has_room(self, running: int) -> bool:
        return self.limits.demand.has_room(self.limits.limit, running)

    async def run(self, job: Job, stop: Stop) -> Result:
        self.running += 1
        self.most = max(self.most, self.running)
        with self.limits.demand.goal(job.goal.id):
            model, request = self.limits.around(self.model, job.goal.id), Request((Message("user", "hi"),))
            for width in (1, 3, 1):
                await asyncio.gather(*(model.complete(request) for _ in range(width)))
        self.running -= 1
        return await super().run(job, stop)


def goals(number: int) -> list[BatchGoal]:
    return [BatchGoal(str(one), one, "x") for one in range(number)]


@pytest.fixture
def results(tmp_path: Path) -> Iterator[Results]:
    opened = Results(tmp_path / "out.jsonl")
    yield opened
    opened.close(complete=False)


def runner_of(engine: Any, results: Results, options: BatchOptions | None = None) -> BatchRunner:
    return BatchRunner(engine, results, {}, Budget(), options or BatchOptions(), BatchSummary(1))


def test_running_goals_keep_call_slots_busy(results: Results) -> None:
    engine = Calling(slots=24)
    run_virtually(runner_of(engine, results).run(goals(100)))
    assert engine.model.most == 24
    assert 10 < engine.most <= 27


def test_jobs_limits_running_goals(results: Results) -> None:
    engine = Calling(slots=24)
    run_virtually(runner_of(engine, results, BatchOptions(jobs=2)).run(goals(10)))
    assert engine.most == 2
    assert engine.model.most == 6


class Stuck(Prompt):
    """Goals that never end by themselves, except `0`, which does something `first`."""

    def __init__(self, first: Callable[[], None] = lambda: None) -> None:
        self.ended: list[str] = []
        self.first = first

    async def run(self, job: Job, stop: Stop) -> Result:
        if job.goal.id == "0":
            await asyncio.sleep(0.02)
            self.first()
            return await super().run(job, stop)
        try:
            await stop.wait()
        finally:
            self.ended.append(job.goal.id)
        return await super().run(job, stop)


async def test_unwritable_results_file_stops_other_goals_first(results: Results) -> None:
    engine = Stuck(lambda: results.close(complete=False))
    runner = runner_of(engine, results)
    with pytest.raises(ValueError, match="closed file"):
        await runner.run(goals(4))
    assert sorted(engine.ended) == ["1", "2", "3"]


async def test_cancelled_batch_cancels_its_goals(results: Results) -> None:
    engine = Stuck()
    running = asyncio.create_task(runner_of(engine, results).run(goals(4)))
    await asyncio.sleep(0.05)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert sorted(engine.ended) == ["1", "2", "3"]
