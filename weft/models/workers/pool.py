"""Model calls made in worker processes, so that thousands of goals and their calls do not share one core.

A call costs litellm several milliseconds of CPU time, which is most of the work of a large batch. Workers take it off
the main process; there are as many as the load needs and the cores allow.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import subprocess
import sys
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from weft.models.workers import frames, process
from weft_planner.errors import Transient
from weft_skills.errors import WeftError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft.models.model_check import ModelProblem
    from weft.models.workers.process import Process, StartingWorker
    from weft.models.workers.worker import WorkerSettings
    from weft_planner.model import Reply, Request

# This many concurrent calls keep one process busy; beyond that, starting another pays off.
_BUSY = 8
_MAX_WORKERS = 4


def default_workers() -> int:
    """How many workers this machine has cores for; 1 on Windows, where a socket cannot be passed to a process."""
    if sys.platform == "win32":
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, _MAX_WORKERS)


@dataclass(slots=True, eq=False)
class Worker:
    """A worker process and its calls in progress."""

    process: Process
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    waiting: dict[int, asyncio.Future[Reply]] = field(default_factory=dict)
    _numbers: itertools.count[int] = field(default_factory=itertools.count)
    _listening: asyncio.Task[None] | None = None

    @classmethod
    async def start(cls, starting: StartingWorker) -> Worker:
        """Wait until a worker is ready, and listen to it from then on."""
        reader, writer = await asyncio.open_connection(sock=starting.connection)
        try:
            if not starting.is_ready:
                starting.note(await frames.read(reader))
        except BaseException:  # cancelled: nothing else would stop this process
            writer.transport.abort()
            starting.abandon()
            raise
        assert starting.process is not None  # noqa: S101 - `note` has set it
        worker = cls(starting.process, reader, writer)
        worker._listening = asyncio.create_task(worker._listen())
        return worker

    @property
    def alive(self) -> bool:
        """Whether it accepts calls."""
        return self._listening is not None and not self._listening.done()

    async def ask(self, name: str, request: Request) -> Reply:
        """The model's reply to a request."""
        number = next(self._numbers)
        self.waiting[number] = asyncio.get_running_loop().create_future()
        try:
            frames.write(self.writer, (number, name, replace(request, on_text=None)))
            return await self.waiting[number]
        except asyncio.CancelledError:
            if self.alive:
                frames.write(self.writer, (number, name, None))
            raise
        finally:
            self.waiting.pop(number, None)

    async def _listen(self) -> None:
        try:
            while (message := await frames.read(self.reader)) is not None:
                self._answer(*message)
        finally:
            for future in self.waiting.values():
                if not future.done():
                    # Transient, but not a sign that the provider is down.
                    future.set_exception(Transient("a worker process ended; another is started"))

    def _answer(self, number: int, answer: Any) -> None:
        future = self.waiting.get(number)
        if future is None or future.done():
            return  # the call was cancelled
        if isinstance(answer, WeftError):
            future.set_exception(answer)
        else:
            future.set_result(answer)

    async def ended(self) -> None:
        """Return once it no longer accepts calls."""
        if self._listening is not None:
            await asyncio.wait([self._listening])

    async def stop(self) -> None:
        """Stop it; calls in progress are dropped."""
        self.writer.transport.abort()  # close() would wait until everything is sent
        if self._listening is not None:
            await asyncio.gather(self._listening, return_exceptions=True)
        try:
            await asyncio.to_thread(self.process.wait, 5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            await asyncio.to_thread(self.process.wait)


@dataclass(slots=True)
class WorkerPool:
    """Worker processes: the first starts with the first call, others while all are busy."""

    setup: WorkerSettings
    max_workers: int = field(default_factory=default_workers)
    _workers: dict[Worker, asyncio.Task[None]] = field(default_factory=dict)
    _starting_up: deque[StartingWorker] = field(default_factory=deque)
    _started: int = 0
    _starting: asyncio.Lock = field(default_factory=asyncio.Lock)
    _more: asyncio.Task[None] | None = None

    def start(self, calls: int) -> None:
        """Start as many workers as so many calls at a time need; they get ready meanwhile. No event loop is needed."""
        # Not in a thread: all threads may be waiting for calls that need these processes.
        self._starting_up.extend(process.start(self.setup, min(self.max_workers, -(-calls // _BUSY))))

    def problems(self, names: Sequence[str]) -> list[ModelProblem | None]:
        """What keeps each of these models from being called, if anything does; a worker that is starting knows."""
        return self._starting_up[0].problems(names)

    def abandon(self) -> None:
        """End the workers that were never used."""
        while self._starting_up:
            self._starting_up.popleft().abandon()

    async def warm(self) -> None:
        """Wait until the first worker is ready, so that no call has to wait for it; the others follow."""
        if not self._workers:
            await self._start(self._started)
        if self._starting_up:
            self._more = asyncio.create_task(self._start_others())

    async def ask(self, name: str, request: Request) -> Reply:
        """The model's reply to a request, from the least busy worker."""
        while not (alive := [worker for worker in self._workers if worker.alive]):
            await self._start(self._started)
        worker = min(alive, key=lambda one: len(one.waiting))
        if len(worker.waiting) >= _BUSY and len(alive) < self.max_workers and (self._more is None or self._more.done()):
            self._more = asyncio.create_task(self._start_another())
        return await worker.ask(name, request)

    async def _start_others(self) -> None:
        while self._starting_up:
            await self._start_another()

    async def _start_another(self) -> None:
        with suppress(WeftError, OSError):  # the others carry on; if none is left, ask() starts one and raises
            await self._start(self._started)

    async def _start(self, started: int) -> None:
        """Start a worker, unless another call did so after `started` were counted."""
        async with self._starting:
            if self._started == started:
                if not self._starting_up:
                    self._starting_up.extend(process.start(self.setup))
                worker = await Worker.start(self._starting_up.popleft())
                self._started += 1
                self._workers[worker] = asyncio.create_task(self._clean_up(worker))

    async def _clean_up(self, worker: Worker) -> None:
        """Once a worker has ended, forget it and release its process and socket."""
        await worker.ended()
        del self._workers[worker]
        await worker.stop()

    async def close(self) -> None:
        """Stop all workers."""
        if self._more is not None:
            self._more.cancel()
            await asyncio.gather(self._more, return_exceptions=True)
        self.abandon()
        workers = dict(self._workers)
        await asyncio.gather(*(worker.stop() for worker in workers))
        await asyncio.gather(*workers.values())


@dataclass(frozen=True, slots=True)
class RemoteModel:
    """A model called from a worker process."""

    name: str
    workers: WorkerPool

    async def complete(self, request: Request) -> Reply:
        """Answer the request; a streamed answer arrives in one piece."""
        reply = await self.workers.ask(self.name, request)
        if request.on_text is not None:
            request.on_text(reply.text)
        return reply
