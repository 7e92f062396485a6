"""Runs a batch's goals in workers.

a goal waits for a worker with room → runs there → its result; if the worker dies, another one continues the run as
soon as it is free; a goal whose workers die again and again, at last with no other goal, fails
"""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from goalwright.batch.bundle.pack import pack
from goalwright.batch.engine import Pace
from goalwright.batch.engines.ray.messages import (
    GoalEnded,
    GoalJob,
    GoalRefused,
    GoalReturned,
    SharedObjects,
    WorkerSetup,
)
from goalwright.batch.engines.ray.metrics import BatchMetrics
from goalwright.batch.engines.ray.sent_settings import (
    check_goal,
    check_requirements,
    flags_for_workers,
    journal_for_workers,
)
from goalwright.batch.engines.ray.worker_group import WorkerGroup
from goalwright.batch.limits.rate_limiter import Rates
from goalwright.batch.options import RETRY_PATIENCE, BatchOptions
from goalwright.runs.stored import records
from goalwright.settings.settings import Settings
from goalwright.version import __version__
from goalwright_planner.errors import BudgetSpent
from goalwright_skills.errors import GoalwrightError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from goalwright.batch.bundle.pack import Bundle
    from goalwright.batch.engine import Job
    from goalwright.batch.engines.in_process import InProcess
    from goalwright.batch.engines.ray.cluster import Cluster, WorkerHandle
    from goalwright.batch.engines.ray.messages import Outcome
    from goalwright.batch.engines.ray.placement import WorkerState
    from goalwright.batch.goals import BatchGoal
    from goalwright.batch.options import ClusterOptions
    from goalwright.models.budget import Budget
    from goalwright.models.model_check import ModelProblem
    from goalwright.runs.runtime import Goalwright
    from goalwright.runs.stop import Stop
    from goalwright_executor.history.result import Result

# A goal fails when this many of its workers died while their machines lived.
DEATHS = 3
# Seconds until a goal is no longer suspected of earlier deaths; twice the time it had with those workers, if more.
_PROBATION = 60.0
# How long a goal waits at most until it is known why its workers were lost, before it is tried once more.
_UNCLEAR = 60.0
# After a worker is lost, and while a run is in use elsewhere: seconds before the next try, at first and at most.
_PAUSE, _LONGEST_PAUSE = 0.3, 5.0


class WorkerLost(GoalwrightError):
    """So many workers died with a goal that it is taken to be the reason."""

    code = "WORKER_LOST"


@dataclass(slots=True)
class RayEngine:
    """Runs goals in Ray workers; `home` is this process, which checks goals and reads the journal."""

    home: InProcess
    options: BatchOptions
    where: ClusterOptions
    flags: Mapping[str, Any] = field(default_factory=dict)
    _models: tuple[str, ...] = ()
    _cluster: Cluster | None = None
    _group: WorkerGroup | None = None
    is_stuck: bool = False

    def __post_init__(self) -> None:
        check_requirements(self.home.runtime(), self.where)

    @property
    def budget(self) -> Budget:
        """What the batch may spend, and what its workers say that they have spent."""
        return self.home.budget

    def runtime(self, goal: BatchGoal | None = None) -> Goalwright:
        """The runtime here for goals with the model and settings of this one, or without any of their own."""
        return self.home.runtime(goal)

    def start(self, calling: int, models: Sequence[str]) -> None:
        """Remember the models; workers are started when it is certain that the batch runs."""
        self._models = tuple(models) if calling else ()

    def problems(self, names: Sequence[str]) -> list[ModelProblem]:
        """None that could be known here: keys are in the workers' environment, and each says what it lacks."""
        return []

    async def warm(self, say: Callable[[str], None], goals: Iterable[BatchGoal] = ()) -> None:
        """Connect, send what the goals need, start the workers, and wait for the first that can run goals."""
        from goalwright.batch.engines.ray import cluster

        bundle = await asyncio.to_thread(self._pack, goals)
        with cluster.keeping_signal_handlers():
            self._cluster = await asyncio.to_thread(cluster.connect, self.where, self.options.max_calls)
        batch = self.options
        limiter = self._cluster.limiter(Rates(batch.max_calls, batch.rpm, batch.tpm))
        shared = SharedObjects(limiter, self._cluster.put(bundle.data) if bundle is not None else None)
        handles = self._cluster.start_workers(self._setup(bundle), shared)
        self._group = WorkerGroup.of(handles, self.where.slots, self.budget, self._cluster.memory, say)
        self._group.metrics = BatchMetrics(self._cluster.metric_recorder())
        self._group.head_answers, self._group.is_alive = self._cluster.head_answers, self._cluster.is_alive
        await self._group.start()

    def has_room(self, running: int) -> bool:
        """Whether a worker can have another goal."""
        return self._group is not None and running < self._group.placement.capacity

    async def run(self, job: Job, stop: Stop) -> Result:
        """Run one goal in a worker; if that dies, another one continues the run."""
        group = self._group
        assert group is not None  # noqa: S101 - `warm` came first
        group.stop_with(stop)
        group.record = job.record
        losses = _Losses(group)
        begun, pause = job.begun, _PAUSE
        while not stop.is_set():
            if await losses.are_its_fault():
                group.metrics.goal_ended("failed")
                raise WorkerLost(
                    f"{DEATHS} workers died while they ran this goal", hint="see Ray's logs for the reason"
                )
            worker = await _acquire(group, job.goal.id, losses.suspicion, stop)
            if worker is None:
                break
            process = worker.process
            try:
                with losses.trying(worker, job.goal.id):
                    sent = GoalJob(job.goal, job.run_id, job.place, begun, job.waited)
                    outcome = await _run_in(worker, sent)
            finally:
                group.placement.release(worker, job.goal.id)
            begun = True
            match outcome:
                case GoalEnded(result):
                    group.metrics.goal_ended(result.status)
                    return result
                case GoalRefused(message, hint, code):
                    group.metrics.goal_ended("failed")
                    raise _refusal(message, hint, code)
                case GoalReturned(why, "budget", cost, tokens):
                    raise BudgetSpent(why, cost=cost, tokens=tokens)
                case GoalReturned(why, "lost"):
                    group.metrics.lease_lost()
                case GoalReturned(why, "journal"):
                    group.restart(worker, process, why)
                case None:
                    losses.add(process)
                    pause = _PAUSE
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)
        return job.interrupted

    def pace(self) -> Pace:
        """How the calls of all workers go now."""
        return self._group.pace() if self._group is not None else Pace(0, 0, 0)

    def abandon(self) -> None:
        """Nothing was started for a batch that does not run after all."""

    async def close(self) -> None:
        """Have the workers release what they hold, and leave the cluster."""
        try:
            if self._group is not None:
                await self._group.close()
        finally:
            if self._cluster is not None:
                self.is_stuck = not await self._cluster.disconnect()
            await self.home.close()

    def _pack(self, goals: Iterable[BatchGoal]) -> Bundle | None:
        """What other machines need; workers on this one use the workspace itself, its files and MCP servers too."""
        if self.where.address is None:
            return None
        settings = self.home.settings
        goals = list(goals)
        for goal in goals:
            if goal.files or goal.settings:
                check_goal(goal, settings)
        if settings.retry_patience == RETRY_PATIENCE:  # a worker's batch has it as well
            settings = replace(settings, retry_patience=Settings().retry_patience)
        return pack(self.home.runtime(), goals, settings=settings)

    def _setup(self, bundle: Bundle | None) -> WorkerSetup:
        """What the workers are given; limits are the whole batch's."""
        batch, goalwright = self.options, self.home.runtime()
        limits = BatchOptions(
            max_calls=batch.max_calls,
            rpm=batch.rpm,
            tpm=batch.tpm,
            max_cost=batch.max_cost,
            max_tokens=batch.max_tokens,
            dedupe=batch.dedupe,
            approve_all=batch.approve_all,
        )
        settings = self.home.settings
        setup = WorkerSetup(
            __version__,
            limits,
            self._models,
            self.where.slots,
            prices=settings.prices or {},
            assumes=settings.allow_unknown_cost,
        )
        if bundle is None:
            settings = replace(self.home.settings, journal=journal_for_workers(goalwright))
            return replace(setup, workspace=str(goalwright.paths.workspace.absolute()), settings=settings)
        journal = records.url(goalwright.paths, goalwright.settings)
        flags = flags_for_workers(self.flags, self.home.settings)
        return replace(
            setup, bundle=bundle.sha256, journal=journal, max_replans=self.home.settings.max_replans, flags=flags
        )


@dataclass(slots=True)
class _Losses:
    """The processes that were lost while they ran a goal, each with the seconds that it had run there."""

    group: WorkerGroup
    _lost: dict[str, float] = field(default_factory=dict)
    _began: float = 0.0

    @property
    def suspicion(self) -> int:
        """How many of them the goal may have killed, as far as it is known."""
        return sum(process in self.group.died or process in self.group.unclear for process in self._lost)

    async def are_its_fault(self) -> bool:
        """Whether so many died that the goal is taken to be the reason; waits until it is known, but not for ever."""
        for _ in range(int(_UNCLEAR / _PAUSE)):
            if self.suspicion < DEATHS or self.group.unclear.isdisjoint(self._lost):
                break
            await asyncio.sleep(_PAUSE)
        return len(self.group.died.intersection(self._lost)) >= DEATHS

    @contextmanager
    def trying(self, worker: WorkerState[WorkerHandle], goal: str) -> Iterator[None]:
        """The goal runs; if it does so for long, it did not kill its earlier workers."""
        loop = asyncio.get_running_loop()

        def clear() -> None:
            self._lost.clear()
            self.group.placement.clear(worker, goal)

        self._began = loop.time()
        clearing = loop.call_later(max(_PROBATION, *(2 * seconds for seconds in self._lost.values()), 0.0), clear)
        try:
            yield
        finally:
            clearing.cancel()

    def add(self, process: str) -> None:
        """A process was lost while it ran the goal."""
        self._lost[process] = asyncio.get_running_loop().time() - self._began


async def _acquire(group: WorkerGroup, goal: str, deaths: int, stop: Stop) -> WorkerState[WorkerHandle] | None:
    """A worker for the goal; None if the batch is stopped before there is one."""
    acquired = asyncio.ensure_future(group.placement.acquire(goal, deaths))
    stopped = asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait({acquired, stopped}, return_when=asyncio.FIRST_COMPLETED)
        return acquired.result() if acquired.done() else None
    finally:
        acquired.cancel()
        stopped.cancel()
        await asyncio.gather(acquired, stopped, return_exceptions=True)


async def _run_in(worker: WorkerState[WorkerHandle], job: GoalJob) -> Outcome | None:
    """A worker's answer; None if it is lost."""
    answer = asyncio.ensure_future(worker.handle.run(job))
    lost = asyncio.ensure_future(worker.lost.wait())
    try:
        await asyncio.wait({answer, lost}, return_when=asyncio.FIRST_COMPLETED)
        return answer.result() if answer.done() else None
    except ConnectionError:
        return None
    finally:
        lost.cancel()
        if not answer.done():  # a worker that was only silent still runs it, and it takes a slot there
            worker.orphaned += 1
            answer.add_done_callback(lambda ended: _note_end(worker, ended))


def _note_end(worker: WorkerState[WorkerHandle], ended: asyncio.Future[Outcome]) -> None:
    worker.orphaned -= 1
    if not ended.cancelled():
        ended.exception()  # whatever it is, another worker has the goal now


def _refusal(message: str, hint: str, code: str) -> GoalwrightError:
    error = GoalwrightError(message, hint=hint)
    error.code = code
    return error
