"""The runs of this process: starting, stopping, and answers that wait for a run to end."""

from __future__ import annotations

import asyncio
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from goalwright.interfaces.web.errors import HttpError
from goalwright.runs.stop import Stop
from goalwright_planner.events import (
    Event,
    RunResumed,
    RunStarted,
    TaskFinished,
    TextStreamed,
    ToolCalled,
    ToolOutput,
)
from goalwright_skills.errors import GoalwrightError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from goalwright_executor.history.result import Result
    from goalwright_executor.journal.journal import Journal
    from goalwright_planner.approvals import Answer
    from goalwright_planner.events import Record

MOST_RUNS = 8
_LONGEST_OUTPUT = 20_000

# Events that pages show but the journal does not record.
Streamed = TextStreamed | ToolOutput


class Running(Protocol):
    """Runs a goal until it ends or `stop` is set, and sends its events to `record`."""

    async def __call__(self, *, record: Record, stop: Stop) -> Result:
        """Run to the end."""


class Resuming(Protocol):
    """Continues a run with answers."""

    async def __call__(self, *, record: Record, stop: Stop, answers: Mapping[str, Answer]) -> Result:
        """Run to the end."""


@dataclass(frozen=True, slots=True)
class _Started:
    task: asyncio.Task[Result]
    stop: Stop


@dataclass(frozen=True, slots=True)
class _Queued:
    """Answers by request id, and the function that resumes the run with them."""

    resume: Resuming
    answers: dict[str, Answer] = field(default_factory=dict)


class Work:
    """Starts runs and keeps them until they end; `journal` returns the journal that records them."""

    def __init__(self, journal: Callable[[], Journal]) -> None:
        self._journal = journal
        self._started: dict[str, _Started] = {}
        self._starting = 0
        self._outputs = CommandOutputs()
        self._listeners: dict[str, list[tuple[Callable[[Streamed], None], asyncio.Event]]] = {}
        self._closing = False
        self._interrupted: set[str] = set()
        self._queued: dict[str, _Queued] = {}
        self._following: set[asyncio.Task[None]] = set()

    def holds(self, run_id: str) -> bool:
        """Return whether this process runs it."""
        return run_id in self._started

    async def begin(self, run: Running) -> str:
        """Start a run and return its id once its first event is on disk; raises if it cannot start."""
        if self._closing or len(self._started) + self._starting >= MOST_RUNS:
            raise HttpError(
                429,
                "TOO_MANY_RUNS",
                f"{MOST_RUNS} runs are already in progress here",
                hint="wait until one of them ends",
            )
        stop = Stop()
        started_id: asyncio.Future[str] = asyncio.get_running_loop().create_future()

        def note(event: Event) -> None:
            if isinstance(event, RunStarted | RunResumed) and not started_id.done():
                started_id.set_result(event.run_id)
            elif started_id.done():
                self._outputs.note(started_id.result(), event)
                if isinstance(event, TextStreamed | ToolOutput):
                    self._notify(started_id.result(), event)

        self._starting += 1
        try:
            task = asyncio.ensure_future(run(record=note, stop=stop))
            either: set[asyncio.Future[Any]] = {started_id, task}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if not started_id.done():
                task.result()  # raises if it could not start
                raise HttpError(409, "NOTHING_TO_DO", "the run is finished", hint="rerun a part of it, or run its goal")
            run_id = started_id.result()
            self._started[run_id] = _Started(task, stop)
            task.add_done_callback(lambda _: self._ended(run_id))
        finally:
            self._starting -= 1
        await self._journal().settle()
        return run_id

    def queue(self, run_id: str, answers: Mapping[str, Answer], resume: Resuming) -> bool:
        """Keep answers, by request id, until a run of this process has ended, and resume it with them.

        Return whether it is still running; raise if a request has an answer already.
        """
        if run_id not in self._started:
            return False
        queued = self._queued.setdefault(run_id, _Queued(resume))
        if duplicates := [name for name in answers if name in queued.answers]:
            hint = "the run continues when its other tasks end"
            raise HttpError(409, "ANSWERED_ALREADY", f"{duplicates[0]} has been answered already", hint=hint)
        queued.answers.update(answers)
        return True

    def queued(self, run_id: str) -> Collection[str]:
        """Return the ids of a run's requests whose answers are queued."""
        return self._queued[run_id].answers if run_id in self._queued else ()

    def stop(self, run_id: str) -> bool:
        """Stop a run and drop its queued answers; return whether this process runs it."""
        self._queued.pop(run_id, None)
        if run_id not in self._started:
            return False
        self._started[run_id].stop.set(by_user=True)
        return True

    def stop_all(self) -> None:
        """Stop all runs of this process, and start no more."""
        self._closing = True
        self._interrupted.update(self._started)
        for started in self._started.values():
            started.stop.set()

    @contextmanager
    def listening(self, run_id: str, hear: Callable[[Streamed], None], woken: asyncio.Event) -> Iterator[None]:
        """Call `hear` with each text that a run of this process streams, starting with earlier output of commands."""
        for piece in self._outputs.of(run_id):
            hear(piece)
        pair = (hear, woken)
        self._listeners.setdefault(run_id, []).append(pair)
        try:
            yield
        finally:
            self._listeners[run_id].remove(pair)
            if not self._listeners[run_id]:
                del self._listeners[run_id]

    async def close(self) -> list[str]:
        """Interrupt all runs, wait until they have ended, and return their ids."""
        self.stop_all()
        await asyncio.gather(*(started.task for started in self._started.values()), return_exceptions=True)
        return sorted(self._interrupted)

    def _notify(self, run_id: str, event: Streamed) -> None:
        for hear, woken in self._listeners.get(run_id, ()):
            hear(event)
            woken.set()

    def _ended(self, run_id: str) -> None:
        ended = self._started.pop(run_id)
        self._outputs.forget(run_id)
        if not ended.task.cancelled():
            ended.task.exception()  # its failure is recorded
        queued = self._queued.pop(run_id, None)
        if queued is not None and not self._closing:
            task = asyncio.ensure_future(self._follow(partial(queued.resume, answers=queued.answers)))
            self._following.add(task)
            task.add_done_callback(self._following.discard)

    async def _follow(self, run: Running) -> None:
        try:
            await self.begin(run)
        except GoalwrightError as error:  # an answer given elsewhere meanwhile takes precedence
            print(f"an answer was not used: {error.message}", file=sys.stderr)  # noqa: T201


class CommandOutputs:
    """The output so far of each running command, for a page that is opened while it runs."""

    def __init__(self) -> None:
        self._kept: dict[str, dict[str | None, ToolOutput]] = {}

    def note(self, run_id: str, event: Event) -> None:
        """Append a piece of output, or drop the output of a command that has ended."""
        match event:
            case ToolOutput(task=task, name=name, text=text):
                kept = self._kept.setdefault(run_id, {})
                before = kept[task].text if task in kept else ""
                kept[task] = ToolOutput(task, name, (before + text)[-_LONGEST_OUTPUT:])
            case ToolCalled(task=task) | TaskFinished(task=task):
                self._kept.get(run_id, {}).pop(task, None)
            case _:
                pass

    def of(self, run_id: str) -> list[ToolOutput]:
        """Return the output so far of a run's commands."""
        return list(self._kept.get(run_id, {}).values())

    def forget(self, run_id: str) -> None:
        """Drop the output of a run that has ended."""
        self._kept.pop(run_id, None)
