"""Model calls made in worker processes, so that thousands of goals and their calls do not share one core.

A call costs litellm several milliseconds of CPU time, which is most of the work of a large batch. Workers take it off
the main process; there are as many as the load needs and the cores allow.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import socket
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from planner.errors import ModelError, Transient
from skills.errors import WeftError
from weft.models.workers import frames
from weft.models.workers.worker import READY

if TYPE_CHECKING:
    from planner.model import Reply, Request
    from weft.models.workers.worker import WorkerSettings

# This many concurrent calls keep one process busy; beyond that, starting another pays off.
_BUSY = 8
_MAX_WORKERS = 4
_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from weft.models.workers.worker import main; main(int(sys.argv[2]))"
)


def default_workers() -> int:
    """How many workers this machine has cores for; 1 on Windows, where a socket cannot be passed to a process."""
    if sys.platform == "win32":
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, _MAX_WORKERS)


@dataclass(slots=True, eq=False)
class Worker:
    """A worker process and its calls in progress."""

    process: subprocess.Popen[bytes]
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    waiting: dict[int, asyncio.Future[Reply]] = field(default_factory=dict)
    _numbers: itertools.count[int] = field(default_factory=itertools.count)
    _listening: asyncio.Task[None] | None = None

    @classmethod
    async def start(cls, setup: WorkerSettings) -> Worker:
        """Start a worker, and return once it is ready for calls."""
        ours, theirs = socket.socketpair()
        with theirs:
            # Not in a thread: all threads may be waiting for calls that need this process.
            process = _spawn(theirs.fileno())
        reader, writer = await asyncio.open_connection(sock=ours)
        worker = cls(process, reader, writer)
        try:
            frames.write(writer, setup)
            ready = await frames.read(reader) == READY
        except BaseException:  # cancelled: nothing else would stop this process
            writer.transport.abort()
            process.kill()
            process.wait()
            raise
        if not ready:
            await worker.stop()
            raise ModelError(
                f"a worker process ended at once (status {process.returncode})",
                hint="see its message above; `weft doctor` checks whether litellm is installed correctly",
            )
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


def _spawn(descriptor: int) -> subprocess.Popen[bytes]:
    # A session of its own: Ctrl-C is for weft, which lets calls in progress finish.
    return subprocess.Popen(
        [sys.executable, "-P", "-c", _PROGRAM, json.dumps(sys.path), str(descriptor)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=[descriptor],
        start_new_session=True,
    )


@dataclass(slots=True)
class WorkerPool:
    """Worker processes: the first starts with the first call, others while all are busy."""

    setup: WorkerSettings
    max_workers: int = field(default_factory=default_workers)
    _workers: dict[Worker, asyncio.Task[None]] = field(default_factory=dict)
    _started: int = 0
    _starting: asyncio.Lock = field(default_factory=asyncio.Lock)
    _more: asyncio.Task[None] | None = None

    async def warm(self) -> None:
        """Start the first worker, so that no call has to wait for it."""
        if not self._workers:
            await self._start(self._started)

    async def ask(self, name: str, request: Request) -> Reply:
        """The model's reply to a request, from the least busy worker."""
        while not (alive := [worker for worker in self._workers if worker.alive]):
            await self._start(self._started)
        worker = min(alive, key=lambda one: len(one.waiting))
        if len(worker.waiting) >= _BUSY and len(alive) < self.max_workers and (self._more is None or self._more.done()):
            self._more = asyncio.create_task(self._start_another())
        return await worker.ask(name, request)

    async def _start_another(self) -> None:
        with suppress(WeftError, OSError):  # the others carry on; if none is left, ask() starts one and raises
            await self._start(self._started)

    async def _start(self, started: int) -> None:
        """Start a worker, unless another call did so after `started` were counted."""
        async with self._starting:
            if self._started == started:
                worker = await Worker.start(self.setup)
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
