"""Runs the graph of a plan: each task starts as soon as its own dependencies have ended, not level by level.

Ready tasks start, up to the concurrency limit. When a task ends, its outcome is recorded, and tasks that waited only
for it become ready, or are skipped if it has no result. A failed task does not fail the others. The run ends when
nothing is ready or running, and no more tasks can be added.

A task may grow into subtasks, and then ends after them or grows again. Neither this nor waiting for a person counts as
running. A task may be held, so that the plan can change before it starts.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goalwright_executor.results.outcome import (
    STATUS,
    Cancelled,
    Done,
    Grown,
    Outcome,
    Skipped,
    Waiting,
    outcome_of,
    output_of,
    why_not,
)
from goalwright_executor.results.task_results import TaskResults
from goalwright_executor.scheduling.attempt import ScheduleLimits, TimeLimits, attempt, cancelled, needed, unexpected
from goalwright_executor.scheduling.finished import NOTHING, Finished
from goalwright_executor.scheduling.growth import Growth
from goalwright_planner.errors import Halted
from goalwright_planner.events import TaskFinished, TaskStarted
from goalwright_planner.plan.task_id import parent_of

if TYPE_CHECKING:
    from goalwright_planner.events.event import Recorder
    from goalwright_planner.plan.plan import Plan
    from goalwright_planner.plan.task import Task

RunTask = Callable[["Task", Mapping[str, str]], Awaitable[str | Outcome | Grown]]
Check = Callable[["Task", Mapping[str, Outcome]], Awaitable[bool]]

_STOPPED = Cancelled("stopped before its end")
_UNSETTLED = (Cancelled, Waiting)


@dataclass(slots=True)
class Schedule:
    """Runs tasks as they become ready; tasks may be added while it runs, until it is closed.

    `run` returns when it is closed and idle. It may then get more tasks and run again. Tasks for which `hold` returns
    true do not start, and nor do tasks behind them: they have no outcome until the plan is changed.
    """

    run_task: RunTask
    record: Recorder
    limits: ScheduleLimits
    finished: Finished = NOTHING
    check: Check | None = None
    hold: Callable[[Task], bool] | None = None
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    halted: Halted | None = None
    _tasks: dict[str, Task] = field(default_factory=dict)
    _after: dict[str, list[str]] = field(default_factory=dict)
    _waiting: dict[str, int] = field(default_factory=dict)
    _growths: dict[str, Growth] = field(default_factory=dict)
    _part_of: dict[str, Growth] = field(default_factory=dict)
    _results: TaskResults = field(init=False)
    _ready: deque[str] = field(default_factory=deque)
    _running: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    _started: dict[str, float] = field(default_factory=dict)
    _ended: deque[tuple[str, Outcome | Grown, float]] = field(default_factory=deque)
    _reused: set[str] = field(default_factory=set)
    _suspended: int = 0
    _time: TimeLimits = field(init=False)
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    _closed: bool = False

    def __post_init__(self) -> None:
        self._results = TaskResults(self.outcomes)

    def add(self, *tasks: Task) -> None:
        """Add tasks whose dependencies were added before or with them."""
        for task in tasks:
            self._tasks[task.id] = task
            self._after.setdefault(task.id, [])
        settled: deque[tuple[str, Outcome, float]] = deque()
        for task in tasks:
            waiting = 0
            for before in task.depends_on:
                if before not in self._after:
                    raise ValueError(f"task {task.id!r} depends on {before!r}, which was not added")
                self._after[before].append(task.id)
                waiting += not self._is_settled(before)
            self._waiting[task.id] = waiting
            if waiting == 0:
                self._release(task, settled)
        self._settle_all(settled)
        self._wake.set()

    def change(self, plan: Plan) -> None:
        """Take a changed plan, without grown tasks, while idle; held and skipped tasks are considered again."""
        held = {task_id for task_id in self._tasks if task_id not in self.outcomes}
        skipped = {task_id for task_id, outcome in self.outcomes.items() if isinstance(outcome, Skipped)}
        changed = {task.id for task in plan.tasks if self._tasks.get(task.id) is not task} | held
        again = (changed | plan.behind(changed)) & (held | skipped)
        for task_id in again:
            self._forget(task_id)
        for task_id in [task_id for task_id in self._tasks if task_id not in plan and parent_of(task_id) is None]:
            self._forget(task_id)
            del self._tasks[task_id]
        new = [task for task in plan.tasks if task.id not in self._tasks and task.id not in plan.replaced]
        self.add(*(task for task in plan.tasks if task.id in again), *new)

    def not_begun(self) -> list[Task]:
        """Return the tasks that are neither running nor ended, and have not grown."""
        begun = {*self._running, *self.outcomes, *self._growths}
        return [task for task_id, task in self._tasks.items() if task_id not in begun]

    def reword(self, tasks: Iterable[Task]) -> None:
        """Replace tasks that have not begun by versions with other texts and the same dependencies."""
        self._tasks |= {task.id: task for task in tasks}

    def _forget(self, task_id: str) -> None:
        self._reused.discard(task_id)
        for before in self._tasks[task_id].depends_on:
            self._after[before] = [after for after in self._after[before] if after != task_id]
        self.outcomes.pop(task_id, None)
        self._waiting.pop(task_id, None)

    async def drop(self, task_ids: Collection[str], why: str) -> None:
        """Stop and forget tasks with their subtasks; no other task waits for them."""
        grown = {part.id for name in task_ids if name in self._growths for part in self._growths[name].grown.tasks}
        gone = dict.fromkeys(name for name in self._tasks if name in grown or name in task_ids)
        begun = {name for name in gone if name in self._running or self._grows(name)}
        stopped = [self._running.pop(name) for name in gone if name in self._running]
        # No await before this is done: a task that has just ended must not start its successors.
        self._ended = deque(end for end in self._ended if end[0] not in gone)
        self._ready = deque(name for name in self._ready if name not in gone)
        for name in gone:
            self._forget(name)
        for name in gone:
            for by_id in (self._tasks, self._after, self._results, self._growths, self._part_of):
                by_id.pop(name, None)
        await cancelled(stopped)
        self._wake.set()  # other tasks may use their slots
        for name in gone:
            began = self._started.pop(name, None)
            if began is not None and name in begun:
                self.record(TaskFinished(name, "cancelled", time.monotonic() - began, None, why))

    def _grows(self, task_id: str) -> bool:
        """Whether a task has grown and waits for its subtasks; reused tasks are not reported again."""
        return task_id in self._growths and task_id not in self.outcomes and task_id not in self._reused

    def close(self) -> None:
        """Allow `run` to end once all tasks have ended."""
        self._closed = True
        self._wake.set()

    async def run(self) -> dict[str, Outcome]:
        """Run until all tasks have ended, and return their outcomes; raises Halted if a limit ends the run."""
        self._time = TimeLimits(self.limits.task_seconds, self._move)
        try:
            while self._start() or self._running or not (self._closed or self.halted):
                await self._wake.wait()
                self._wake.clear()
                while self._ended:
                    self._settle(*self._ended.popleft())
        except BaseException:
            await self._cancel()
            raise
        finally:
            self._time.close()
        if self.halted is not None:
            self._abandon()
            raise self.halted
        return self.outcomes

    def _start(self) -> bool:
        """Start ready tasks up to the limit; returns whether any was started."""
        started, running, limit, loop = False, self._running, self.limits.concurrency, self._time.loop
        while self._ready and len(running) - self._suspended < limit and self.halted is None:
            task = self._tasks[self._ready.popleft()]
            running[task.id] = loop.create_task(self._run(task), name=task.id)
            started = True
        return started

    async def _run(self, task: Task) -> None:
        started = self._started.setdefault(task.id, time.monotonic())
        outcome: Outcome | Grown
        try:
            if (growth := self._growths.get(task.id)) is not None:
                outcome = await self._attempt(task, growth.grown.finish(self.outcomes))
            else:
                outcome = await self._first(task)
        except Exception as error:  # noqa: BLE001 - a task without an outcome would block the schedule forever
            outcome = unexpected(error)
        self._ended.append((task.id, outcome, time.monotonic() - started))
        self._wake.set()

    async def _first(self, task: Task) -> Outcome | Grown:
        """Find out whether a task is finished or not needed; if neither, start it."""
        inputs = self.finished.inputs(task, self._results)
        output = self.finished.output(task, inputs)
        if output is not None:
            self._reused.add(task.id)
            if not self.finished.grows_again(task):
                return Done(output)
        else:
            if task.when is not None and self.check is not None and not task.each_when:
                verdict = await self._attempt(task, needed(self.check(task, self.outcomes)))
                if not isinstance(verdict, Done):
                    return verdict
            self.record(TaskStarted(task.id, inputs))
        return await self._attempt(task, self.run_task(task, self._results))

    async def _attempt(self, task: Task, work: Awaitable[str | Outcome | Grown]) -> Outcome | Grown:
        try:
            return await attempt(work, self._time.begin(self._running[task.id]))
        except Halted as halted:
            self.halted = halted
            return Cancelled(halted.message)

    def _move(self, suspended: int) -> None:
        """Count a task that begins or ends waiting for a person; others may use its slot meanwhile."""
        self._suspended += suspended
        self._wake.set()

    def _settle(self, task_id: str, outcome: Outcome | Grown, seconds: float) -> None:
        """Apply an outcome or growth of a task, unless the task was dropped meanwhile."""
        self._running.pop(task_id, None)
        if task_id not in self._tasks:
            return
        if isinstance(outcome, Grown):
            self._grow(task_id, outcome)
        else:
            self._settle_all(deque([(task_id, outcome, seconds)]))

    def _settle_all(self, settled: deque[tuple[str, Outcome, float]]) -> None:
        """Record outcomes, and make the tasks that waited for them ready or skipped."""
        while settled:
            done_id, outcome, seconds = settled.popleft()
            result = self.outcomes[done_id] = self._recorded_end(done_id, outcome, seconds)
            if isinstance(result, Done):
                self._results[done_id] = result.output
            elif (output := output_of(result)) is not None:
                self._results[done_id] = output
            if done_id in self._part_of:
                settled.extend(self._end_part(done_id, result))
            if isinstance(result, _UNSETTLED):
                continue
            for after in self._after[done_id]:
                waiting = self._waiting[after] = self._waiting[after] - 1
                if waiting == 0:
                    self._release(self._tasks[after], settled)

    def _release(self, task: Task, settled: deque[tuple[str, Outcome, float]]) -> None:
        """Make a task ready that waits for nothing; if it will not run, append its outcome to `settled`."""
        verdict = why_not(task, self.outcomes)
        if verdict is not None:
            settled.append((task.id, verdict, 0.0))
        elif self.hold is not None and self.hold(task):
            return
        elif task.id not in self._part_of or self._part_of[task.id].may_start(task.id):
            self._ready.append(task.id)

    def _is_settled(self, task_id: str) -> bool:
        outcome = self.outcomes.get(task_id)
        return outcome is not None and not isinstance(outcome, _UNSETTLED)

    def _grow(self, task_id: str, grown: Grown) -> None:
        growth = self._growths[task_id] = Growth.of(task_id, grown)
        self._part_of |= {part.id: growth for part in grown.tasks}
        if grown.tasks:
            self.add(*grown.tasks)
        else:
            self._ready.append(task_id)
        self._wake.set()

    def _end_part(self, task_id: str, result: Outcome) -> Iterator[tuple[str, Outcome, float]]:
        """Count a subtask that ended: another one may start, and after the last one its parent continues."""
        growth = self._part_of[task_id]
        following = growth.end(task_id)
        if following is not None:
            self._ready.append(following)
        if growth.parent in self.outcomes:
            return
        if isinstance(result, Cancelled):
            yield growth.parent, result, time.monotonic() - self._started[growth.parent]
        elif growth.left == 0 and not any(isinstance(self.outcomes[part.id], Waiting) for part in growth.grown.tasks):
            self._ready.append(growth.parent)

    def _recorded_end(self, task_id: str, outcome: Outcome, seconds: float) -> Outcome:
        """Record an outcome, and return the recorded one."""
        if task_id in self._reused or isinstance(outcome, Waiting):
            return outcome
        if isinstance(outcome, Done):
            event = TaskFinished(task_id, "done", seconds, outcome.output, key=outcome.key)
        else:
            event = TaskFinished(task_id, STATUS[type(outcome)], seconds, output_of(outcome), outcome.error)
        recorded = self.record(event)
        return outcome if recorded is event else outcome_of(recorded)

    async def _cancel(self) -> None:
        """Cancel running tasks, and wait until they have ended."""
        await cancelled(self._running.values())
        while self._ended:
            self._settle(*self._ended.popleft())
        for task_id in list(self._running):
            self._stop(task_id)
        self._abandon()

    def _abandon(self) -> None:
        """Stop the tasks that wait for subtasks, which will not all run."""
        for task_id in [name for name in self._growths if name not in self.outcomes]:
            self._stop(task_id)

    def _stop(self, task_id: str) -> None:
        now = time.monotonic()
        self._settle(task_id, _STOPPED, now - self._started.get(task_id, now))
