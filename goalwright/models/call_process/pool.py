"""Makes the calls of a batch in private processes, so that they can use several cores.

A call takes litellm several milliseconds of CPU time, which is most of the work of a large batch. The number of workers
follows the load, up to the number of cores; the first one is started early, others while all are busy.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from goalwright.models.call_process import spawn
from goalwright.models.call_process.connection import Connection, ProcessLost, setup_of
from goalwright_planner.errors import ModelError, Transient
from goalwright_skills.errors import GoalwrightError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from goalwright.models.model_check import ModelProblem
    from goalwright.settings.settings import Settings
    from goalwright_planner.model import Reply, Request

# This many concurrent calls keep one worker busy; with more, another worker pays off.
_BUSY = 8
_MAX_WORKERS = 4
_EXIT_SECONDS = 5.0


def default_workers() -> int:
    """The number of workers for this machine's cores; 1 on Windows, where sockets cannot be passed to processes."""
    if sys.platform == "win32":
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, _MAX_WORKERS)


class Process(Protocol):
    """A process like `subprocess.Popen`."""

    pid: int

    def poll(self) -> int | None:
        """The exit status, or None while the process runs."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait until the process ends."""


@dataclass(slots=True)
class WorkerPool:
    """The workers of a batch; `capabilities` is the file that remembers what models support."""

    settings: Settings
    capabilities: Path
    max_workers: int = field(default_factory=default_workers)
    _processes: list[Process] = field(default_factory=list)
    _starting: deque[socket.socket] = field(default_factory=deque)
    _workers: list[Connection] = field(default_factory=list)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _growing: asyncio.Task[None] | None = None

    def start(self, calls: int) -> None:
        """Start enough workers for this many concurrent calls; needs no event loop."""
        # Not in a thread: all threads may be waiting for these processes.
        self._spawn(min(self.max_workers, -(-calls // _BUSY)))

    def problems(self, names: Sequence[str]) -> list[ModelProblem | None]:
        """Check models in the first worker: return the problem of each one, or None."""
        return asyncio.run(self._check(self._starting[0].dup(), names))

    def abandon(self) -> None:
        """End all workers at once."""
        self._end(patience=0)

    async def warm(self) -> None:
        """Wait until the first worker is ready; the others follow in the background."""
        await self._first()
        if self._starting:
            self._growing = asyncio.create_task(self._grow())

    async def ask(self, model: str, request: Request) -> Reply:
        """Return the model's reply to a request, made by the least busy worker."""
        while not (alive := self._alive()):
            await self._first()
        worker = min(alive, key=lambda worker: len(worker.waiting))
        is_growing = self._growing is not None and not self._growing.done()
        if len(worker.waiting) >= _BUSY and len(alive) < self.max_workers and not is_growing:
            self._growing = asyncio.create_task(self._grow())
        try:
            return await worker.ask(model, request)
        except ProcessLost as error:
            # The provider is not down: retry.
            raise Transient("the process that made the call ended; another is started") from error

    async def close(self) -> None:
        """Stop all workers; calls in progress are dropped."""
        if self._growing is not None:
            self._growing.cancel()
            await asyncio.gather(self._growing, return_exceptions=True)
        used, self._workers = self._workers, []
        for worker in used:
            worker.close()
        await asyncio.to_thread(self._end, patience=_EXIT_SECONDS if used else 0)

    def _alive(self) -> list[Connection]:
        self._workers = [worker for worker in self._workers if not worker.lost]
        return self._workers

    async def _first(self) -> None:
        """Start a worker, unless there is one."""
        async with self._lock:
            if not self._alive():
                await self._start()

    async def _grow(self) -> None:
        """Start another worker, and all others that were spawned with it."""
        with suppress(GoalwrightError, OSError):  # the others carry on; if none is left, `ask` starts one and raises
            await self._start()
            while self._starting:
                await self._start()

    async def _start(self) -> None:
        if not self._starting:
            self._spawn(1)
        worker = await self._open(self._starting.popleft())
        self._workers.append(worker)  # not before: `_alive` makes another list meanwhile

    def _spawn(self, count: int) -> None:
        """Spawn workers; on Linux, they are forks of one process that loads litellm for all of them."""
        self._processes = [process for process in self._processes if process.poll() is None]
        together = count if sys.platform == "linux" else 1
        for _ in range(count // together):
            pairs = [socket.socketpair() for _ in range(together)]
            self._processes.append(spawn.private(*(theirs.fileno() for _, theirs in pairs)))
            for ours, theirs in pairs:
                theirs.close()
                self._starting.append(ours)

    async def _check(self, end: socket.socket, names: Sequence[str]) -> list[ModelProblem | None]:
        connection = await self._open(end, names)
        connection.close()
        return connection.problems

    async def _open(self, end: socket.socket, check: Sequence[str] = ()) -> Connection:
        try:
            return await Connection.open(end, setup_of(self.settings, self.capabilities, check))
        except ProcessLost as error:
            raise ModelError(
                "a process that makes model calls ended at once",
                hint="see its message above; `goalwright doctor` checks whether litellm is installed correctly",
            ) from error

    def _end(self, patience: float) -> None:
        while self._starting:
            self._starting.popleft().close()
        while self._processes:
            process = self._processes.pop()
            try:
                process.wait(patience)
            except subprocess.TimeoutExpired:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)  # its forks too
                process.wait()


@dataclass(frozen=True, slots=True)
class PoolModel:
    """A model called by the workers of a batch."""

    name: str
    workers: WorkerPool

    async def complete(self, request: Request) -> Reply:
        """Answer the request."""
        return await self.workers.ask(self.name, request)
