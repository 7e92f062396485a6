"""The runs that MCP clients started in this process; they continue if nobody waits for them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from goalwright.runs.stop import Stop
from goalwright_planner.events import Event, PlanChanged, PlanMade, RunResumed, RunStarted, TaskFinished
from goalwright_planner.plan.task_id import in_round, parent_of, root_of
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from goalwright_executor.history.result import Result
    from goalwright_planner.events import Record

MAX_RUNS = 8


class GoalRun(Protocol):
    """Runs a goal, sending its events to `record`, deadline it ends or `stop` is set."""

    async def __call__(self, *, record: Record, stop: Stop) -> Result:
        """Run to the end."""


@dataclass(slots=True)
class TaskProgress:
    """Counts the finished tasks of a run; `news` is set with each of them."""

    done: int = 0
    total: int = 0
    last: str = ""
    news: asyncio.Event = field(default_factory=asyncio.Event)
    _names: set[str] = field(default_factory=set)

    def note(self, event: Event) -> None:
        """Count the tasks of an event."""
        match event:
            case PlanMade(plan=plan):
                streamed = {name for name in self._names if parent_of(name) and root_of(name) in plan}
                self._names = streamed.union(task.id for task in plan.tasks)
                self.total = len(self._names)
            case PlanChanged(added=added, dropped=dropped):
                self._names = self._names.difference(dropped).union(task.id for task in added if not in_round(task.id))
                self.total = len(self._names)
            case TaskFinished(task=task, status=status) if status != "pending" and not in_round(task):
                self.done += 1
                self.last = f"{task}: {status}"
                self.news.set()


@dataclass(frozen=True, slots=True)
class _Started:
    task: asyncio.Task[Result]
    stop: Stop
    progress: TaskProgress


class GoalRuns:
    """Starts runs and keeps them deadline they end; waiting for a run never stops it."""

    def __init__(self) -> None:
        self._started: dict[str, _Started] = {}
        self._starting = 0

    def holds(self, run_id: str) -> bool:
        """Return whether this process executes the run."""
        return run_id in self._started

    async def begin(self, run: GoalRun) -> str | Result:
        """Start a run; returns its id once it has begun, or its result if there is nothing to do."""
        if len(self._started) + self._starting >= MAX_RUNS:
            raise InputError(
                f"{MAX_RUNS} runs are already in progress here", hint="wait until one of them ends; get_run shows it"
            )
        loop, stop, progress = asyncio.get_running_loop(), Stop(), TaskProgress()
        began: asyncio.Future[str] = loop.create_future()

        def note(event: Event) -> None:
            if isinstance(event, RunStarted | RunResumed) and not began.done():
                began.set_result(event.run_id)
            progress.note(event)

        self._starting += 1
        try:
            task = asyncio.ensure_future(run(record=lambda event: _note_in_loop(loop, note, event), stop=stop))
            futures: set[asyncio.Future[Any]] = {began, task}
            try:
                await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)
                await asyncio.sleep(0)
            except asyncio.CancelledError:
                stop.set()  # nobody knows its id
                raise
            if not began.done():
                return task.result()
            run_id = began.result()
            self._started[run_id] = _Started(task, stop, progress)
            task.add_done_callback(lambda ended: self._ended(run_id, ended))
            return run_id
        finally:
            self._starting -= 1

    async def wait(
        self, run_id: str, seconds: float, report: Callable[[TaskProgress], Awaitable[None]]
    ) -> Result | None:
        """Return the result of a run, or None after `seconds`; `report` is called for each finished task."""
        started = self._started.get(run_id)
        if started is None:
            return None
        task, progress = started.task, started.progress
        deadline = asyncio.get_running_loop().time() + seconds
        while not task.done() and (left := deadline - asyncio.get_running_loop().time()) > 0:
            news = asyncio.ensure_future(progress.news.wait())
            try:
                await asyncio.wait({task, news}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            finally:
                news.cancel()
            if progress.news.is_set():
                progress.news.clear()
                await report(progress)
        return task.result() if task.done() else None

    def stop(self, run_id: str) -> None:
        """Interrupt a run of this process, which can be resumed."""
        if run_id in self._started:
            self._started[run_id].stop.set()

    async def close(self) -> list[str]:
        """Interrupt all runs, wait for their end, and return their ids; they can be resumed."""
        runs = dict(self._started)
        for started in runs.values():
            started.stop.set()
        await asyncio.gather(*(started.task for started in runs.values()), return_exceptions=True)
        return sorted(runs)

    def _ended(self, run_id: str, task: asyncio.Task[Result]) -> None:
        self._started.pop(run_id, None)
        if not task.cancelled():
            task.exception()  # the failure is recorded in the journal


def _note_in_loop(loop: asyncio.AbstractEventLoop, note: Callable[[Event], None], event: Event) -> None:
    """Call `note` in the thread of the loop."""
    try:
        same_thread = asyncio.get_running_loop() is loop
    except RuntimeError:
        same_thread = False
    if same_thread:
        note(event)
    else:
        loop.call_soon_threadsafe(note, event)
