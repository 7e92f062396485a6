"""Runs a batch's goals in workers.

A goal waits for a worker with room and runs there. If the worker dies, another one continues the run as soon as it is
free. A goal whose workers die repeatedly, at last while it runs alone, fails.
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

# A goal fails when this many of its workers died on machines that stayed alive.
DEATHS = 3
# A goal is cleared of earlier deaths after this many seconds, or twice its time on those workers if longer.
_PROBATION = 60.0
# The most seconds that a goal waits to learn why its workers were lost, before it is tried again.
_UNCLEAR = 60.0
# Seconds before the next attempt after a lost worker or a held run, at first and at most.
_PAUSE, _LONGEST_PAUSE = 0.3, 5.0


class WorkerLost(GoalwrightError):
    """So many workers died while they ran the goal that it is considered the cause."""

    code = "WORKER_LOST"


@dataclass(slots=True)
class RayEngine:
    """Runs goals in Ray workers; `home` is this process, which validates goals and reads the journal."""

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
        """The batch's budget, with what its workers report as spent."""
        return self.home.budget

    def runtime(self, goal: BatchGoal | None = None) -> Goalwright:
        """Return the local runtime for a goal with its own settings, or the default one."""
        return self.home.runtime(goal)

    def start(self, calling: int, models: Sequence[str]) -> None:
        """Remember the models; workers are started once the batch certainly runs."""
        self._models = tuple(models) if calling else ()

    def problems(self, names: Sequence[str]) -> list[ModelProblem]:
        """Return nothing: keys are in the workers' environment, and each worker reports what it lacks."""
        return []

    async def warm(self, say: Callable[[str], None], goals: Iterable[BatchGoal] = ()) -> None:
        """Connect, send what the goals need, start the workers, and wait for the first one that is ready."""
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
        """Whether a worker can take another goal."""
        return self._group is not None and running < self._group.placement.capacity

    async def run(self, job: Job, stop: Stop) -> Result:
        """Run one goal in a worker; if that dies, another one continues the run."""
        group = self._group
        assert group is not None  # noqa: S101 - `warm` has set it
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
                case GoalReturned(message, "budget", cost, tokens):
                    raise BudgetSpent(message, cost=cost, tokens=tokens)
                case GoalReturned(reason="lost"):
                    group.metrics.lease_lost()
                case GoalReturned(message, "journal"):
                    group.restart(worker, process, message)
                case None:
                    losses.add(process)
                    pause = _PAUSE
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)
        return job.interrupted

    def pace(self) -> Pace:
        """Return the current state of the calls of all workers."""
        return self._group.pace() if self._group is not None else Pace(0, 0, 0)

    def abandon(self) -> None:
        """Do nothing: nothing was started yet."""

    async def close(self) -> None:
        """Have the workers release what they hold, and disconnect."""
        try:
            if self._group is not None:
                await self._group.close()
        finally:
            if self._cluster is not None:
                self.is_stuck = not await self._cluster.disconnect()
            await self.home.close()

    def _pack(self, goals: Iterable[BatchGoal]) -> Bundle | None:
        """Pack what other machines need; workers on this machine use the workspace itself."""
        if self.where.address is None:
            return None
        settings = self.home.settings
        goals = list(goals)
        for goal in goals:
            if goal.files or goal.settings:
                check_goal(goal, settings)
        if settings.retry_patience == RETRY_PATIENCE:  # the default of every batch, also in a worker
            settings = replace(settings, retry_patience=Settings().retry_patience)
        return pack(self.home.runtime(), goals, settings=settings)

    def _setup(self, bundle: Bundle | None) -> WorkerSetup:
        """Return the setup of the workers; its limits are those of the whole batch."""
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
    """The worker processes that were lost while they ran a goal, each with its seconds on the goal."""

    group: WorkerGroup
    _lost: dict[str, float] = field(default_factory=dict)
    _began: float = 0.0

    @property
    def suspicion(self) -> int:
        """How many of them the goal may have killed, as far as known."""
        return sum(process in self.group.died or process in self.group.unclear for process in self._lost)

    async def are_its_fault(self) -> bool:
        """Whether so many died that the goal is considered the cause; waits some time until it is known."""
        for _ in range(int(_UNCLEAR / _PAUSE)):
            if self.suspicion < DEATHS or self.group.unclear.isdisjoint(self._lost):
                break
            await asyncio.sleep(_PAUSE)
        return len(self.group.died.intersection(self._lost)) >= DEATHS

    @contextmanager
    def trying(self, worker: WorkerState[WorkerHandle], goal: str) -> Iterator[None]:
        """The goal runs within the block; if it runs for long, it did not kill its earlier workers."""
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
        """Count a process that was lost while it ran the goal."""
        self._lost[process] = asyncio.get_running_loop().time() - self._began


async def _acquire(group: WorkerGroup, goal: str, deaths: int, stop: Stop) -> WorkerState[WorkerHandle] | None:
    """Wait for a worker for the goal; None if the batch is stopped first."""
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
    """Return a worker's outcome; None if it is lost."""
    answer = asyncio.ensure_future(worker.handle.run(job))
    lost = asyncio.ensure_future(worker.lost.wait())
    try:
        await asyncio.wait({answer, lost}, return_when=asyncio.FIRST_COMPLETED)
        return answer.result() if answer.done() else None
    except ConnectionError:
        return None
    finally:
        lost.cancel()
        if not answer.done():  # a worker that was only silent still runs it, in one of its slots
            worker.orphaned += 1
            answer.add_done_callback(lambda ended: _note_end(worker, ended))


def _note_end(worker: WorkerState[WorkerHandle], ended: asyncio.Future[Outcome]) -> None:
    worker.orphaned -= 1
    if not ended.cancelled():
        ended.exception()  # marks it as retrieved; another worker has the goal now


def _refusal(message: str, hint: str, code: str) -> GoalwrightError:
    error = GoalwrightError(message, hint=hint)
    error.code = code
    return error
