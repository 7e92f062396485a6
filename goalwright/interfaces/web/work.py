"""The runs that this process started, and how they are stopped."""

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

# What is shown of a run as it comes, and not recorded.
Streamed = TextStreamed | ToolOutput


class Running(Protocol):
    """Runs a goal, sending its events to `record`, until it ends or `stop` is set."""

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
    """Answers by the ids of requests, and what continues the run with them."""

    resume: Resuming
    answers: dict[str, Answer] = field(default_factory=dict)


class Work:
    """Starts runs and keeps them until they end; `journal` is where they are recorded."""

    def __init__(self, journal: Callable[[], Journal]) -> None:
        self._journal = journal
        self._started: dict[str, _Started] = {}
        self._starting = 0
        self._shown = ShownOutputs()
        self._listeners: dict[str, list[tuple[Callable[[Streamed], None], asyncio.Event]]] = {}
        self._closing = False
        self._interrupted: set[str] = set()
        self._queued: dict[str, _Queued] = {}
        self._following: set[asyncio.Task[None]] = set()

    def holds(self, run_id: str) -> bool:
        """Whether this process runs it."""
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
        began: asyncio.Future[str] = asyncio.get_running_loop().create_future()

        def note(event: Event) -> None:
            if isinstance(event, RunStarted | RunResumed) and not began.done():
                began.set_result(event.run_id)
            elif began.done():
                self._shown.note(began.result(), event)
                if isinstance(event, TextStreamed | ToolOutput):
                    self._hand_on(began.result(), event)

        self._starting += 1
        try:
            task = asyncio.ensure_future(run(record=note, stop=stop))
            either: set[asyncio.Future[Any]] = {began, task}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if not began.done():
                task.result()  # raises if it could not start
                raise HttpError(409, "NOTHING_TO_DO", "the run is finished", hint="rerun a part of it, or run its goal")
            run_id = began.result()
            self._started[run_id] = _Started(task, stop)
            task.add_done_callback(lambda _: self._ended(run_id))
        finally:
            self._starting -= 1
        await self._journal().settle()
        return run_id

    def queue(self, run_id: str, answers: Mapping[str, Answer], resume: Resuming) -> bool:
        """Keep answers, by the ids of requests, for when a run of this process has ended: it continues with them then.

        Returns whether it still runs; raises if a request has an answer.
        """
        if run_id not in self._started:
            return False
        queued = self._queued.setdefault(run_id, _Queued(resume))
        if known := [name for name in answers if name in queued.answers]:
            hint = "the run continues when its other tasks end"
            raise HttpError(409, "ANSWERED_ALREADY", f"{known[0]} has been answered already", hint=hint)
        queued.answers.update(answers)
        return True

    def queued(self, run_id: str) -> Collection[str]:
        """The requests of a run that have an answer which it has not got yet."""
        return self._queued[run_id].answers if run_id in self._queued else ()

    def stop(self, run_id: str) -> bool:
        """Stop a run of this process; returns whether it is one. What was answered meanwhile does not continue it."""
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
        """Hear the text of a run of this process as it is written, while the block lasts.

        What commands have written before comes first.
        """
        for piece in self._shown.of(run_id):
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
        """Interrupt all runs and wait until they have ended; returns their ids, which can be resumed."""
        self.stop_all()
        await asyncio.gather(*(started.task for started in self._started.values()), return_exceptions=True)
        return sorted(self._interrupted)

    def _hand_on(self, run_id: str, event: Streamed) -> None:
        for hear, woken in self._listeners.get(run_id, ()):
            hear(event)
            woken.set()

    def _ended(self, run_id: str) -> None:
        ended = self._started.pop(run_id)
        self._shown.forget(run_id)
        if not ended.task.cancelled():
            ended.task.exception()  # its failure is on record
        queued = self._queued.pop(run_id, None)
        if queued is not None and not self._closing:
            task = asyncio.ensure_future(self._follow(partial(queued.resume, answers=queued.answers)))
            self._following.add(task)
            task.add_done_callback(self._following.discard)

    async def _follow(self, run: Running) -> None:
        try:
            await self.begin(run)
        except GoalwrightError as error:  # what was answered meanwhile, from elsewhere, counts
            print(f"an answer was not used: {error.message}", file=sys.stderr)  # noqa: T201


class ShownOutputs:
    """The end of what the command of each task has written; its result takes the place of it."""

    def __init__(self) -> None:
        self._kept: dict[str, dict[str | None, ToolOutput]] = {}

    def note(self, run_id: str, event: Event) -> None:
        """Keep a piece, or drop what a task's command has written when it has ended."""
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
        """What the commands of a run have written so far."""
        return list(self._kept.get(run_id, {}).values())

    def forget(self, run_id: str) -> None:
        """The run has ended."""
        self._kept.pop(run_id, None)
