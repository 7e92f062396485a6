"""Calls made in processes of their own, so that thousands of goals and their calls do not share one core.

A call costs litellm several milliseconds of computing. In one process that is most of what a large batch does; here
it happens beside the goals, in as many processes as there is work and there are cores for.
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

# So many calls at once keep one process busy; with more, another one is worth its start.
_BUSY = 8
_MOST = 4
_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from weft.models.workers.worker import main; main(int(sys.argv[2]))"
)


def most() -> int:
    """How many such processes this machine has cores for; only Unix gives a process a socket by its number."""
    if sys.platform == "win32":
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, _MOST)


@dataclass(slots=True, eq=False)
class Worker:
    """One such process and the calls that it has under way."""

    process: subprocess.Popen[bytes]
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    waiting: dict[int, asyncio.Future[Reply]] = field(default_factory=dict)
    _numbers: itertools.count[int] = field(default_factory=itertools.count)
    _listening: asyncio.Task[None] | None = None

    @classmethod
    async def start(cls, opening: WorkerSettings) -> Worker:
        """A new one, ready for calls."""
        ours, theirs = socket.socketpair()
        with theirs:
            # Not in a thread: all threads may be waiting for a call that waits for this process.
            process = _spawn(theirs.fileno())
        reader, writer = await asyncio.open_connection(sock=ours)
        caller = cls(process, reader, writer)
        try:
            frames.write(writer, opening)
            ready = await frames.read(reader) == READY
        except BaseException:  # whoever waited was stopped: nobody else knows of this process
            writer.transport.abort()
            process.kill()
            process.wait()
            raise
        if not ready:
            await caller.stop()
            raise ModelError(
                f"the process that makes the calls ended at once (status {process.returncode})",
                hint="its own message stands above; `weft doctor` shows whether litellm is installed rightly",
            )
        caller._listening = asyncio.create_task(caller._listen())
        return caller

    @property
    def alive(self) -> bool:
        """Whether it takes further calls."""
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
                    # In passing, but no sign that the provider is down.
                    future.set_exception(Transient("the process that makes the calls ended; it is started anew"))

    def _answer(self, number: int, answer: Any) -> None:
        future = self.waiting.get(number)
        if future is None or future.done():
            return  # whoever asked waits no longer
        if isinstance(answer, WeftError):
            future.set_exception(answer)
        else:
            future.set_result(answer)

    async def ended(self) -> None:
        """Return once it takes no further calls."""
        if self._listening is not None:
            await asyncio.wait([self._listening])

    async def stop(self) -> None:
        """End it; what it has under way is dropped."""
        self.writer.transport.abort()  # not close, which waits until all is read
        if self._listening is not None:
            await asyncio.gather(self._listening, return_exceptions=True)
        try:
            await asyncio.to_thread(self.process.wait, 5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            await asyncio.to_thread(self.process.wait)


def _spawn(descriptor: int) -> subprocess.Popen[bytes]:
    # A session of its own: Ctrl-C is for weft, which lets the calls under way end.
    return subprocess.Popen(
        [sys.executable, "-P", "-c", _PROGRAM, json.dumps(sys.path), str(descriptor)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=[descriptor],
        start_new_session=True,
    )


@dataclass(slots=True)
class WorkerPool:
    """All such processes: the first is started with the first call, further ones while all others are busy."""

    opening: WorkerSettings
    most: int = field(default_factory=most)
    _callers: dict[Worker, asyncio.Task[None]] = field(default_factory=dict)
    _started: int = 0
    _starting: asyncio.Lock = field(default_factory=asyncio.Lock)
    _more: asyncio.Task[None] | None = None

    async def warm(self) -> None:
        """Start the first, so that no call waits for it."""
        if not self._callers:
            await self._start(self._started)

    async def ask(self, name: str, request: Request) -> Reply:
        """The model's reply to a request, from the process with the least to do."""
        while not (alive := [caller for caller in self._callers if caller.alive]):
            await self._start(self._started)
        caller = min(alive, key=lambda one: len(one.waiting))
        if len(caller.waiting) >= _BUSY and len(alive) < self.most and (self._more is None or self._more.done()):
            self._more = asyncio.create_task(self._start_another())
        return await caller.ask(name, request)

    async def _start_another(self) -> None:
        with suppress(WeftError, OSError):  # those there are do the work; where none is left, whoever asks hears of it
            await self._start(self._started)

    async def _start(self, started: int) -> None:
        """Start one, unless someone else did since so many were."""
        async with self._starting:
            if self._started == started:
                caller = await Worker.start(self.opening)
                self._started += 1
                self._callers[caller] = asyncio.create_task(self._bury(caller))

    async def _bury(self, caller: Worker) -> None:
        """Let go of one that died: of its process, its socket and itself."""
        await caller.ended()
        del self._callers[caller]
        await caller.stop()

    async def close(self) -> None:
        """End them all."""
        if self._more is not None:
            self._more.cancel()
            await asyncio.gather(self._more, return_exceptions=True)
        living = dict(self._callers)
        await asyncio.gather(*(caller.stop() for caller in living))
        await asyncio.gather(*living.values())


@dataclass(frozen=True, slots=True)
class RemoteModel:
    """A model that is called from another process."""

    name: str
    workers: WorkerPool

    async def complete(self, request: Request) -> Reply:
        """Answer the request; its text comes in one piece."""
        reply = await self.workers.ask(self.name, request)
        if request.on_text is not None:
            request.on_text(reply.text)
        return reply
