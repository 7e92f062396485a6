"""One goal in workers, as plain objects in this process."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

import pytest

from goalwright.batch.engine import Job
from goalwright.batch.engines.in_process import InProcess
from goalwright.batch.engines.ray.engine import RayEngine, WorkerLost
from goalwright.batch.engines.ray.messages import GoalEnded, GoalRefused, GoalReturned
from goalwright.batch.engines.ray.worker_group import WorkerGroup
from goalwright.batch.goals import BatchGoal
from goalwright.batch.options import BatchOptions, ClusterOptions
from goalwright.runs.stop import Stop
from goalwright.settings.settings import Settings
from goalwright_executor.history.result import Result
from goalwright_planner.errors import BudgetSpent
from goalwright_planner.model import Usage
from goalwright_skills.errors import GoalwrightError
from tests.goalwright.batch.engines.ray.plain_worker import GONE, PlainWorker, info

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from goalwright_planner.events import Event

DONE = GoalEnded(Result("run-1", "done", "g", "ok", None, None, (), (), Usage(), 0.0, None))


def ignore(event: Event | str) -> None:
    """Nobody listens."""


class Running:
    """A goal on its way through an engine with one worker."""

    def __init__(self, engine: RayEngine, worker: PlainWorker) -> None:
        self.engine, self.worker, self.stop = engine, worker, Stop()

    @property
    def group(self) -> WorkerGroup:
        assert self.engine._group is not None
        return self.engine._group

    async def run(self, *outcomes: Any) -> Result:
        for outcome in outcomes:
            self.worker.outcomes.put_nowait(outcome)
        job = Job(BatchGoal("g", 1, "A goal"), "run-1", ignore)
        return await asyncio.wait_for(self.engine.run(job, self.stop), 120)


@pytest.fixture
async def running(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Running]:
    monkeypatch.setattr("goalwright.batch.engines.ray.engine._PAUSE", 0.01)
    monkeypatch.setattr("goalwright.batch.engines.ray.worker_group._PAUSE", 0.01)
    options = BatchOptions(cluster=ClusterOptions())
    assert options.cluster is not None
    home = InProcess.of(workspace, Settings(model="openai/x"), options)
    worker = PlainWorker(*(info(f"p{number}") for number in range(1, 8)))
    engine = RayEngine(home, options, options.cluster)
    engine._group = WorkerGroup.of(cast("Any", [worker]), 4, home.budget, 100.0, ignore)
    await engine._group.start()
    yield Running(engine, worker)
    await engine.close()


async def test_goal_is_returned_with_its_run_when_not_at_fault(running: Running) -> None:
    held, journal = GoalReturned("in use", "held"), GoalReturned("out of reach", "journal")
    result = await running.run(held, held, journal, DONE)
    assert result.status == "done"
    assert [(job.run_id, job.begun) for job in running.worker.jobs] == [("run-1", False), *[("run-1", True)] * 3]
    assert running.worker.did == ["restart"], "a journal that failed stays so for the process"
    assert running.group.placement.workers[0].goals == {}


async def until(holds: Callable[[], bool]) -> None:
    for _ in range(10_000):
        if holds():
            return
        await asyncio.sleep(0.005)
    pytest.fail("it did not happen")


async def lose(running: Running, times: int) -> None:
    """Have the worker's process lost so often, each time while it runs the goal; another one starts in its place."""
    (state,) = running.group.placement.workers
    for _ in range(times):
        await until(lambda: bool(state.goals and state.process))
        gone = state.lost
        running.worker.reports.put_nowait(GONE)
        await gone.wait()
        running.worker.outcomes.put_nowait(GONE)


async def no_machine(_: str) -> bool:
    return False


async def test_third_death_fails_the_goal_but_lost_connection_does_not_count(running: Running) -> None:
    cut = [GONE] * 5
    assert (await running.run(*cut, DONE)).status == "done", "it was the same process each time"
    losing = asyncio.ensure_future(lose(running, 3))
    with pytest.raises(WorkerLost, match="3 workers died while they ran this goal") as lost:
        await running.run()
    await losing
    assert lost.value.code == "WORKER_LOST"


async def test_lost_machines_do_not_count_against_a_goal(running: Running) -> None:
    running.group.is_alive = no_machine

    async def end() -> None:
        await lose(running, 4)
        running.worker.outcomes.put_nowait(DONE)

    ending = asyncio.ensure_future(end())
    assert (await running.run()).status == "done"
    await ending
    assert running.group.unclear == set()


async def test_deaths_expire_for_a_goal_that_keeps_running(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    probation = "goalwright.batch.engines.ray.engine._PROBATION"
    monkeypatch.setattr(probation, 1e6)

    async def end() -> None:
        (state,) = running.group.placement.workers
        await lose(running, 1)
        await until(lambda: state.goals == {"g": 1})
        monkeypatch.setattr(probation, 0.05)  # of the process that begins after the second death
        await lose(running, 1)
        await until(lambda: state.goals == {"g": 0})
        monkeypatch.setattr(probation, 1e6)
        await lose(running, 2)
        running.worker.outcomes.put_nowait(DONE)

    ending = asyncio.ensure_future(end())
    assert (await running.run()).status == "done", "four deaths, but not three in a row"
    await ending


async def test_refusals_spent_budgets_and_stops_are_passed_on(running: Running) -> None:
    with pytest.raises(GoalwrightError, match="no such skill") as refused:
        await running.run(GoalRefused("no such skill", "name another", "NOT_FOUND"))
    assert (refused.value.code, refused.value.hint) == ("NOT_FOUND", "name another")
    with pytest.raises(BudgetSpent, match="all spent") as spent:
        await running.run(GoalReturned("all spent", "budget", 0.25, 9_000))
    assert (spent.value.cost, spent.value.tokens) == (0.25, 9_000)
    running.group.placement.workers[0].held_back = "memory"
    waiting = asyncio.ensure_future(running.run())
    await asyncio.sleep(0.02)
    running.stop.set()
    assert (await waiting).status == "interrupted"
