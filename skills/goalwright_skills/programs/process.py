"""Runs one process with limits on time and output, and leaves nothing running afterwards."""

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
GENTLE_GRACE = 20.0  # a watcher killed too early would leave its process group behind
CHUNK = 64 * 1024
DISK_CHECK_INTERVAL = 0.5  # seconds between two checks of the disk


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended: by itself, by timeout, or because it exceeded a limit.

    If it exceeded a limit on the disk (`full`), `stderr` names the limit.
    """

    how: Literal["exit", "timeout", "flood", "memory", "full"]
    status: int
    stdout: str
    stderr: str


@dataclass(frozen=True, slots=True)
class ProcessSpec:
    """A process to run: its launch, environment, input, folder and timeout."""

    launch: Launch
    env: Mapping[str, str]
    cwd: Path
    timeout: float
    line: bytes = b""
    full: Callable[[], str] | None = None  # returns the exceeded limit on the disk, or an empty string
    hear: Callable[[bytes], None] | None = None  # called with each chunk of output


async def run(job: ProcessSpec) -> Ended:
    """Run the process to its end; on return, including cancellation, its processes are gone."""
    try:
        process = await _start(job)
        with job.launch.watch(process.pid) as exceeded:
            ended = await _finish(process, job)
            return replace(ended, how="memory") if exceeded() else ended
    finally:
        job.launch.done()


async def _start(job: ProcessSpec) -> asyncio.subprocess.Process:
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


async def _finish(process: asyncio.subprocess.Process, job: ProcessSpec) -> Ended:
    assert process.stdout is not None  # noqa: S101 - both are pipes
    assert process.stderr is not None  # noqa: S101
    hear = job.hear or _ignore
    out = _Output(STDOUT_LIMIT, lambda: _signal(process, gentle=job.launch.gentle), hear)
    err = _Tail(STDERR_LIMIT, hear)
    end = asyncio.create_task(_end(process, out.drain(process.stdout), err.drain(process.stderr)))
    try:
        done, fault = await _wait(end, job)
    finally:
        await asyncio.shield(_stop(process, end, gentle=job.launch.gentle))
    if fault:
        return Ended("full", process.returncode or 0, "", fault)
    how: Literal["exit", "timeout", "flood"] = "flood" if out.flooded else "exit" if done else "timeout"
    return Ended(how, process.returncode or 0, out.text(), err.text())


async def _wait(end: asyncio.Task[None], job: ProcessSpec) -> tuple[bool, str]:
    """Wait for the end, the timeout or a disk limit; returns whether it ended, and the exceeded limit."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + job.timeout
    while True:
        left = deadline - loop.time()
        done, _ = await asyncio.wait(
            {end}, timeout=max(0.0, left if job.full is None else min(left, DISK_CHECK_INTERVAL))
        )
        fault = await asyncio.to_thread(job.full) if job.full is not None else ""
        if done or fault or loop.time() >= deadline:
            return bool(done), fault


async def _end(process: asyncio.subprocess.Process, *drains: Coroutine[None, None, None]) -> None:
    await asyncio.gather(*drains)
    await process.wait()


async def _stop(process: asyncio.subprocess.Process, end: asyncio.Task[None], *, gentle: bool) -> None:
    """Stop the process, still reading its output, since a full pipe would block its exit.

    A watcher gets SIGTERM first, since only it can stop its whole group.
    """
    for soft in (True, False) if gentle else (False,):
        if not end.done():
            _signal(process, gentle=soft)
            await asyncio.wait({end}, timeout=GENTLE_GRACE if soft else GRACE)
    if not end.done():  # a process that left the group keeps the pipes open
        end.cancel()
        await asyncio.wait({end})
    transport = getattr(process, "_transport", None)
    if transport is not None:
        transport.close()


def _signal(process: asyncio.subprocess.Process, *, gentle: bool) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGTERM if gentle else signal.SIGKILL)


def _ignore(_: bytes) -> None:
    """Ignore the output."""


class _Output:
    """The output of a process up to a limit, at which the process is stopped and further output is dropped."""

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
    """The end of a process's output, and the number of dropped bytes before it."""

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
    """Return an in-memory file with the line, which a tool can also open as /dev/stdin under Landlock."""
    memory = getattr(os, "memfd_create", None)
    file = os.fdopen(memory("goalwright-stdin"), "w+b") if memory else tempfile.TemporaryFile()  # noqa: SIM115
    file.write(line)
    file.seek(0)
    return file
