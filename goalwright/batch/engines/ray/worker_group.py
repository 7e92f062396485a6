"""The workers of a batch: each new process is checked and supervised, and replaced when lost."""

from __future__ import annotations

import asyncio
import math
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goalwright.batch.engine import Pace
from goalwright.batch.engines.ray.messages import NumberedGrant
from goalwright.batch.engines.ray.metrics import BatchMetrics
from goalwright.batch.engines.ray.placement import Placement, WorkerState
from goalwright.batch.limits.shared.budget import SharedBudget
from goalwright.version import __version__
from goalwright_skills.errors import SetupError
from goalwright_skills.text.formatting import counted

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from goalwright.batch.engines.ray.cluster import WorkerHandle
    from goalwright.batch.engines.ray.messages import WorkerInfo, WorkerReport
    from goalwright.models.budget import Budget
    from goalwright.runs.stop import Stop
    from goalwright_planner.events import Event

# A worker whose last commit took more seconds than this gets no new goals.
SLOW_COMMIT = 5.0
# A worker that is silent for more seconds than this is lost; its goals continue elsewhere when their leases are free.
_SILENCE = 60.0
# Seconds before retrying a lost worker, and one whose journal cannot be reached.
_PAUSE, _LONG_PAUSE = 0.3, 5.0
# Seconds between checks of the head, and how long it may be away: Ray ends this process after a minute.
_CHECK_HEAD, _HEAD_AWAY = 2.0, 20.0
# Seconds that workers have to stop their goals, and to release what they hold.
_STOPPING, _CLOSING = 30.0, 15.0


@dataclass(slots=True)
class WorkerGroup:
    """The workers, the `budget` that is allotted to them, and the memory in bytes that each may use.

    `say` takes messages about the whole batch, `record` events of goals. `restarted` processes were killed on purpose.
    A lost process is `unclear` until it is known whether it `died` while its machine was alive: only then may a goal
    of it be the cause.
    """

    placement: Placement[WorkerHandle]
    budget: Budget
    memory: float
    say: Callable[[str], None]
    record: Callable[[Event], object] = lambda _: None
    restarted: set[str] = field(default_factory=set)
    died: set[str] = field(default_factory=set)
    unclear: set[str] = field(default_factory=set)
    head_answers: Callable[[], Awaitable[bool]] = field(default=lambda: _yes())
    is_alive: Callable[[str], Awaitable[bool]] = field(default=lambda _: _yes())
    head_is_lost: bool = False
    metrics: BatchMetrics = field(default_factory=BatchMetrics)
    _budget: SharedBudget = field(init=False)
    _reported: set[str] = field(default_factory=set)
    _lost: set[str] = field(default_factory=set)
    _budget_tasks: dict[int, asyncio.Task[None]] = field(default_factory=dict)
    _stop: Stop | None = None
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)
    _paces: dict[int, Pace] = field(default_factory=dict)
    _unfit: list[str] = field(default_factory=list)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self._budget = SharedBudget(self.budget)

    @classmethod
    def of(
        cls, handles: Sequence[WorkerHandle], slots: int, budget: Budget, memory: float, say: Callable[[str], None]
    ) -> WorkerGroup:
        """Return a group of workers with these handles and as many slots each."""
        workers = [WorkerState(number, handle, slots) for number, handle in enumerate(handles, 1)]
        return cls(Placement(workers), budget, memory, say)

    async def start(self) -> None:
        """Wait for the first worker that can run goals; the others join when they are ready."""
        self._tasks = [asyncio.create_task(self._supervise(worker)) for worker in self.placement.workers]
        self._tasks.append(asyncio.create_task(self._watch_head()))
        while not self.placement.connected:
            if self.head_is_lost:
                raise SetupError("Ray's head is lost", hint="start the cluster again, then the batch")
            if not self.placement.workers:
                reasons = "; ".join(dict.fromkeys(self._unfit))
                raise SetupError(f"no worker can run goals: {reasons}", hint="fix it on the nodes, then run it again")
            await self._changed.wait()
            self._changed.clear()

    def stop_with(self, stop: Stop) -> None:
        """Stop the goals of all workers when the batch is stopped."""
        if self._stop is None:
            self._stop = stop
            self._tasks.append(asyncio.create_task(self._forward_stop(stop)))

    def restart(self, worker: WorkerState[WorkerHandle], process: str, reason: str) -> None:
        """Replace a worker's process."""
        if process and process == worker.process and process not in self.restarted:
            self.restarted.add(process)
            self.say(f"worker {worker.number} on {worker.node} is restarted: {reason}")
            worker.handle.restart()

    def pace(self) -> Pace:
        """Return the current state of the calls of all workers."""
        paces, connected, total = self._paces.values(), len(self.placement.connected), len(self.placement.workers)
        pauses = sorted((pause for pace in paces for pause in pace.pauses), key=lambda pause: pause.seconds)
        longest = {pause.model: pause for pause in pauses}
        return Pace(
            sum(pace.calls for pace in paces),
            max((pace.most for pace in paces), default=0),  # they share one limiter
            max((pace.limit for pace in paces), default=0),
            tuple(longest.values()),
            f"{connected} of {counted(total, 'worker')}" if connected < total else counted(connected, "worker"),
        )

    async def close(self) -> None:
        """Have the workers release what they hold."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        with suppress(TimeoutError):  # a lease that is not released expires
            async with asyncio.timeout(_CLOSING):
                closing = (worker.handle.close() for worker in self.placement.connected)
                await asyncio.gather(*closing, return_exceptions=True)
        for task in self._budget_tasks.values():  # only now, because workers have just reported what they spent
            task.cancel()
        await asyncio.gather(*self._budget_tasks.values(), return_exceptions=True)

    async def _supervise(self, worker: WorkerState[WorkerHandle]) -> None:
        before: WorkerInfo | None = None
        while True:
            try:
                info = await worker.handle.start()
                await self._judge(before, info)
                before = info
                if info.process in self._lost and self.budget.limited:
                    worker.handle.restart()  # its whole allotment counts as spent, so it has nothing left
                    await asyncio.sleep(_PAUSE)
                    continue
                if info.fault and info.is_temporary:
                    self.say(f"worker {worker.number} on {info.node} waits: {info.fault}")
                    await asyncio.sleep(_LONG_PAUSE)
                    continue
                if reason := incompatibility(info):
                    self._remove(worker, f"{info.node}: {reason}")
                    return
                self._report_ignored(info)
                worker.connect(info.process, info.node)
                if self.budget.limited:
                    self._budget_tasks[worker.number] = asyncio.create_task(self._serve_budget(worker))
                self._dispatch()
                while True:
                    async with asyncio.timeout(_SILENCE):
                        report = await worker.handle.report()
                    self._take_report(worker, report)
            except (ConnectionError, TimeoutError) as error:
                process = worker.process
                self._mark_lost(worker)
                if await self.head_answers():  # without a head all workers are lost, which is reported once
                    if process and process not in self.restarted:
                        lost = f"worker {worker.number} on {worker.node} is lost"
                        self.say(f"{lost}; its goals continue on other workers")
                    if getattr(error, "final", False):
                        await self._judge(before, None)
                        self._remove(worker, str(error))
                        return
                await asyncio.sleep(_PAUSE)

    async def _judge(self, before: WorkerInfo | None, now: WorkerInfo | None) -> None:
        """Find out how a lost process ended, now that it or its successor has started."""
        if before is None or before.process not in self.unclear:
            return
        is_same = now is not None and now.process == before.process
        if not is_same and before.process not in self.restarted and await self.is_alive(before.machine):
            self.died.add(before.process)
        self.unclear.discard(before.process)

    async def _watch_head(self) -> None:
        """Stop the batch when Ray's head is lost, before Ray ends this process, with a single message."""
        loop, missed = asyncio.get_running_loop(), math.inf
        while loop.time() - missed < _HEAD_AWAY:
            await asyncio.sleep(_CHECK_HEAD)
            # Counted from the first miss, not from the last response: this process may have been asleep.
            missed = math.inf if await self.head_answers() else min(missed, loop.time())
        self.head_is_lost = True
        self.say("Ray's head is lost: the batch stops; what is finished is kept")
        if self._stop is not None:
            self._stop.set()
        for worker in self.placement.workers:
            worker.disconnect()
        self._dispatch()

    def _report_ignored(self, info: WorkerInfo) -> None:
        """Report each ignored setting once: most workers are set up alike."""
        for setting in info.ignored:
            if setting not in self._reported:
                self._reported.add(setting)
                self.say(f"on {info.node}, {setting}: set it in the config.toml there")

    def _take_report(self, worker: WorkerState[WorkerHandle], report: WorkerReport) -> None:
        self._paces[worker.number] = report.pace
        self.metrics.report(worker.number, report)
        for event in report.events:
            self.record(event)
        full = report.memory > self.memory
        if full and not worker.goals:
            self.restart(worker, worker.process, "its memory is over its limit")
        slow = report.commit_seconds > SLOW_COMMIT and bool(worker.goals)  # without goals there is no next commit
        worker.held_back = "memory" if full else "journal" if slow else ""
        if report.stopped and self._stop is not None:
            self._stop.set()
        self._dispatch()

    async def _serve_budget(self, worker: WorkerState[WorkerHandle]) -> None:
        """Grant a worker's budget requests until its process is gone."""
        granted: NumberedGrant | None = None
        with suppress(ConnectionError):
            while True:
                number, request = await worker.handle.poll_budget(granted)
                granted = NumberedGrant(number, self._budget.grant(request))

    def _mark_lost(self, worker: WorkerState[WorkerHandle]) -> None:
        self._paces.pop(worker.number, None)
        if worker.process:
            self._budget.lost(worker.process)
            self._lost.add(worker.process)
            self.unclear.add(worker.process)
        if (serving := self._budget_tasks.pop(worker.number, None)) is not None:
            serving.cancel()
        worker.disconnect()
        self._dispatch()

    def _remove(self, worker: WorkerState[WorkerHandle], reason: str) -> None:
        self._unfit.append(reason)
        self.say(f"worker {worker.number} is not used: {reason}")
        self.placement.remove(worker)
        worker.handle.end()
        if not self.placement.workers and self._stop is not None:
            self.say("no worker is left: the batch stops")
            self._stop.set()
        self._dispatch()

    def _dispatch(self) -> None:
        self._changed.set()
        self.placement.dispatch()

    async def _forward_stop(self, stop: Stop) -> None:
        """Stop the goals in all workers, and disconnect those that do not respond."""
        await stop.wait()
        for worker in self.placement.connected:
            with suppress(ConnectionError):
                await worker.handle.stop()
        await asyncio.sleep(_STOPPING)
        for worker in self.placement.connected:
            worker.disconnect()


async def _yes() -> bool:
    return True


def incompatibility(info: WorkerInfo) -> str:
    """Return why a worker cannot be used; empty if it can."""
    if info.version != __version__:
        return f"it has goalwright {info.version}, but this is {__version__}; install the same version there"
    return info.fault or "; ".join(f"{problem.what}: {problem.remedy}" for problem in info.problems)
