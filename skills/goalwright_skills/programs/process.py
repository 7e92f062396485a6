"""Run one process to its end, bounded in time and output, with nothing left running afterwards."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import tempfile
from dataclasses import dataclass, replace
from typing import IO, TYPE_CHECKING, Literal

from goalwright_skills.tools.envelope import LOG_LIMIT

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping
    from pathlib import Path

    from goalwright_skills.confinement import Launch

STDOUT_LIMIT = 8 * 1024**2
STDERR_LIMIT = LOG_LIMIT
GRACE = 2.0
GENTLE_GRACE = 20.0  # a watcher killed before it has killed its group would leave that behind
CHUNK = 64 * 1024
LOOK = 0.5  # seconds between two looks at the disk


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended: by itself, on timeout, or because it wrote or used too much.

    If the disk would be `full`, `stderr` says of what.
    """

    how: Literal["exit", "timeout", "flood", "memory", "full"]
    status: int
    stdout: str
    stderr: str


@dataclass(frozen=True, slots=True)
class ProcessSpec:
    """A process to run: what to start, with which environment and input, where, and for how long."""

    launch: Launch
    env: Mapping[str, str]
    cwd: Path
    timeout: float
    line: bytes = b""
    full: Callable[[], str] | None = None  # says what is too much of what it leaves on the disk, if anything is
    hear: Callable[[bytes], None] | None = None  # gets what it writes, as it comes


async def run(job: ProcessSpec) -> Ended:
    """Run it to its end; however this returns, including by cancellation, its processes are gone."""
    try:
        process = await _started(job)
        with job.launch.watch(process.pid) as exceeded:
            ended = await _finished(process, job)
            return replace(ended, how="memory") if exceeded() else ended
    finally:
        job.launch.done()


async def _started(job: ProcessSpec) -> asyncio.subprocess.Process:
    try:
        with _input(job.line) as stdin:
            return await asyncio.create_subprocess_exec(
                *job.launch.argv,
                stdin=stdin,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=dict(job.env),
                cwd=job.cwd,
                pass_fds=job.launch.fds,
                start_new_session=True,
            )
    finally:
        for fd in job.launch.fds:
            os.close(fd)


async def _finished(process: asyncio.subprocess.Process, job: ProcessSpec) -> Ended:
    assert process.stdout is not None  # noqa: S101  both are pipes, as ordered above
    assert process.stderr is not None  # noqa: S101
    hear = job.hear or _unheard
    out = _Output(STDOUT_LIMIT, lambda: _signal(process, gentle=job.launch.gentle), hear)
    err = _Tail(STDERR_LIMIT, hear)
    end = asyncio.create_task(_end(process, out.drain(process.stdout), err.drain(process.stderr)))
    try:
        done, fault = await _watched(end, job)
    finally:
        await asyncio.shield(_stop(process, end, gentle=job.launch.gentle))
    if fault:
        return Ended("full", process.returncode or 0, "", fault)
    how: Literal["exit", "timeout", "flood"] = "flood" if out.flooded else "exit" if done else "timeout"
    return Ended(how, process.returncode or 0, out.text(), err.text())


async def _watched(end: asyncio.Task[None], job: ProcessSpec) -> tuple[bool, str]:
    """Wait for the end or the timeout, looking at the disk meanwhile: whether it ended, and what is too much."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + job.timeout
    while True:
        left = deadline - loop.time()
        done, _ = await asyncio.wait({end}, timeout=max(0.0, left if job.full is None else min(left, LOOK)))
        fault = await asyncio.to_thread(job.full) if job.full is not None else ""
        if done or fault or loop.time() >= deadline:
            return bool(done), fault


async def _end(process: asyncio.subprocess.Process, *drains: Coroutine[None, None, None]) -> None:
    await asyncio.gather(*drains)
    await process.wait()


async def _stop(process: asyncio.subprocess.Process, end: asyncio.Task[None], *, gentle: bool) -> None:
    """Stop what still runs, reading its output meanwhile, since a full pipe would keep it from ending.

    A watcher gets SIGTERM first, since only it can stop its whole group.
    """
    for soft in (True, False) if gentle else (False,):
        if not end.done():
            _signal(process, gentle=soft)
            await asyncio.wait({end}, timeout=GENTLE_GRACE if soft else GRACE)
    if not end.done():  # a process that left the group holds the pipes
        end.cancel()
        await asyncio.wait({end})
    transport = getattr(process, "_transport", None)
    if transport is not None:
        transport.close()


def _signal(process: asyncio.subprocess.Process, *, gentle: bool) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGTERM if gentle else signal.SIGKILL)


def _unheard(_: bytes) -> None:
    """Nobody listens."""


class _Output:
    """What a process wrote, up to a limit at which it is stopped and the rest is read and dropped."""

    def __init__(self, limit: int, stop: Callable[[], None], hear: Callable[[bytes], None]) -> None:
        self.limit, self.stop, self.hear = limit, stop, hear
        self.kept = bytearray()
        self.flooded = False

    async def drain(self, reader: asyncio.StreamReader) -> None:
        while chunk := await reader.read(CHUNK):
            if self.flooded:
                continue
            self.hear(chunk)
            self.kept += chunk
            if len(self.kept) > self.limit:
                self.flooded = True
                self.stop()

    def text(self) -> str:
        return self.kept.decode(errors="replace")


class _Tail:
    """The end of what a process wrote, and how much was dropped before it."""

    def __init__(self, limit: int, hear: Callable[[bytes], None]) -> None:
        self.limit, self.hear = limit, hear
        self.kept = bytearray()
        self.dropped = 0

    async def drain(self, reader: asyncio.StreamReader) -> None:
        while chunk := await reader.read(CHUNK):
            self.hear(chunk)
            self.kept += chunk
            extra = len(self.kept) - self.limit
            if extra > 0:
                self.dropped += extra
                del self.kept[:extra]

    def text(self) -> str:
        note = f"[{self.dropped:,} bytes dropped]\n" if self.dropped else ""
        return note + self.kept.decode(errors="replace")


def _input(line: bytes) -> IO[bytes]:
    """A file in memory with the line: a tool can also open it as /dev/stdin, which Landlock refuses for one on disk."""
    memory = getattr(os, "memfd_create", None)
    file = os.fdopen(memory("goalwright-stdin"), "w+b") if memory else tempfile.TemporaryFile()  # noqa: SIM115  closed there
    file.write(line)
    file.seek(0)
    return file
