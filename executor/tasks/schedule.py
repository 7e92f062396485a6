"""Runs a plan's graph: a task starts as soon as its own dependencies are done, not level by level.

ready tasks start, as many at a time as the limit allows
→ a task ends: its outcome is recorded
→ tasks that waited only for it become ready, or are skipped if it has no result
→ until nothing is ready or running; a failed task does not fail the others
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from executor.tasks.outcome import Cancelled, Done, Failed, Outcome, Skipped
from planner.errors import Halted, RecordEnded
from planner.events import TaskFinished, TaskStarted
from skills.errors import WeftError

if TYPE_CHECKING:
    from planner.events import Record, TaskStatus
    from planner.plan.plan import Plan, Task

RunTask = Callable[["Task", Mapping[str, str]], Awaitable[str]]

_STATUS: dict[type[Outcome], TaskStatus] = {
    Done: "done",
    Failed: "failed",
    Skipped: "skipped",
    Cancelled: "cancelled",
}
_BECAME: dict[type[Outcome], str] = {Failed: "failed", Skipped: "was skipped", Cancelled: "was cancelled"}


@dataclass(frozen=True, slots=True)
class ScheduleLimits:
    """How many tasks run at a time, and how long one may take."""

    concurrency: int = 16
    task_seconds: float | None = None


class Finished(Protocol):
    """Finds tasks that were finished before, in this run or in the one that it reuses."""

    def inputs(self, task: Task, results: Mapping[str, str]) -> str:
        """The hash of what the task is given."""

    def output(self, task: Task, inputs: str) -> str | None:
        """The task's output, if it was finished with these inputs."""


class _Nothing:
    def inputs(self, task: Task, results: Mapping[str, str]) -> str:
        return ""

    def output(self, task: Task, inputs: str) -> str | None:
        return None


NOTHING: Finished = _Nothing()


async def run_plan(
    plan: Plan, run_task: RunTask, record: Record, limits: ScheduleLimits, finished: Finished = NOTHING
) -> dict[str, Outcome]:
    """Run every task once, after its dependencies; finished tasks are neither run nor recorded again.

    A task that never started is not in the result.

    Raises Halted if a limit was reached or the journal failed, once the running tasks have ended.
    """
    run = _PlanRun(plan, run_task, record, limits, finished)
    try:
        await run.run()
    finally:
        await run.cancel()
    if run.halted is not None:
        raise run.halted
    return run.outcomes


@dataclass(slots=True)
class _PlanRun:
    plan: Plan
    run_task: RunTask
    record: Record
    limits: ScheduleLimits
    finished: Finished = NOTHING
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    halted: Halted | None = None
    _results: dict[str, str] = field(default_factory=dict)
    _waiting: dict[str, int] = field(default_factory=dict)
    _ready: deque[str] = field(default_factory=deque)
    _running: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    _started: dict[str, float] = field(default_factory=dict)
    _ended: deque[tuple[str, Outcome, float]] = field(default_factory=deque)
    _reused: set[str] = field(default_factory=set)
    _wake: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> None:
        self._waiting = dict(self.plan.graph.in_degree())
        self._ready.extend(task.id for task in self.plan.tasks if self._waiting[task.id] == 0)
        while self._start() or self._running:
            await self._wake.wait()
            self._wake.clear()
            while self._ended:
                self._settle(*self._ended.popleft())

    def _start(self) -> bool:
        """Start ready tasks up to the limit; whether any was started."""
        started = False
        while self._ready and len(self._running) < self.limits.concurrency and self.halted is None:
            task = self.plan.task(self._ready.popleft())
            self._running[task.id] = asyncio.create_task(self._run(task), name=f"task {task.id}")
            started = True
        return started

    async def _run(self, task: Task) -> None:
        inputs = self.finished.inputs(task, self._results)
        known = self.finished.output(task, inputs)
        started = self._started[task.id] = time.monotonic()
        if known is not None:
            self._reused.add(task.id)
            outcome: Outcome = Done(known)
        else:
            self.record(TaskStarted(task.id, inputs))
            outcome = await self._attempt(task)
        self._ended.append((task.id, outcome, time.monotonic() - started))
        self._wake.set()

    async def _attempt(self, task: Task) -> Outcome:
        seconds = self.limits.task_seconds
        try:
            async with asyncio.timeout(seconds):
                return Done(await self.run_task(task, self._results))
        except Halted as halted:
            self.halted = halted
            return Cancelled(halted.message)
        except RecordEnded as cut:
            return Cancelled(cut.message)
        except TimeoutError:
            return Failed(f"it took longer than {seconds:g} s; raise task_timeout, or split the task")
        except WeftError as error:
            return Failed(str(error))
        except Exception as error:  # noqa: BLE001 - whatever one task raises, the others continue
            return Failed(f"an unexpected error, please report it: {type(error).__name__}: {error}")

    def _settle(self, task_id: str, outcome: Outcome, seconds: float) -> None:
        """Record an outcome, and make the tasks that waited for it ready or skipped."""
        self._running.pop(task_id, None)
        settled = deque([(task_id, outcome, seconds)])
        while settled:
            done_id, result, took = settled.popleft()
            self.outcomes[done_id] = result
            if isinstance(result, Done):
                self._results[done_id] = result.output
            self._record_end(done_id, result, took)
            if isinstance(result, Cancelled):
                continue
            for after in self.plan.graph.successors(done_id):
                self._waiting[after] -= 1
                if self._waiting[after] == 0:
                    reason = self._why_skipped(after)
                    if reason is None:
                        self._ready.append(after)
                    else:
                        settled.append((after, Skipped(reason), 0.0))

    def _why_skipped(self, task_id: str) -> str | None:
        without = [
            f"{before!r}, which {_BECAME[type(self.outcomes[before])]}"
            for before in self.plan.graph.predecessors(task_id)
            if not isinstance(self.outcomes[before], Done)
        ]
        return f"it depends on {', '.join(without)}" if without else None

    def _record_end(self, task_id: str, outcome: Outcome, seconds: float) -> None:
        if task_id in self._reused:
            return
        output = outcome.output if isinstance(outcome, Done) else None
        error = None if isinstance(outcome, Done) else outcome.error
        self.record(TaskFinished(task_id, _STATUS[type(outcome)], seconds, output, error))

    async def cancel(self) -> None:
        """Cancel running tasks and wait until they have ended; a no-op after a normal end."""
        if not self._running:
            return
        for running in self._running.values():
            running.cancel()
        await asyncio.gather(*self._running.values(), return_exceptions=True)
        while self._ended:
            self._settle(*self._ended.popleft())
        now = time.monotonic()
        for task_id in list(self._running):
            self._settle(task_id, Cancelled("stopped before its end"), now - self._started.get(task_id, now))
