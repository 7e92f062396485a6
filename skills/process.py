"""Run one process to its end: bounded in time and output, and nothing of it left afterwards."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import tempfile
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from skills.confinement import Launch

STDOUT_LIMIT = 8 * 1024**2
STDERR_LIMIT = 16 * 1024
GRACE = 2.0
CHUNK = 64 * 1024


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended: by itself, at the time-out, or because it wrote too much."""

    how: Literal["exit", "timeout", "flood"]
    status: int
    stdout: str
    stderr: str


@dataclass(frozen=True, slots=True)
class Job:
    """A process to run: what to start, with which environment and input, where, and for how long."""

    launch: Launch
    env: Mapping[str, str]
    cwd: Path
    timeout: float
    line: bytes = b""


async def run(job: Job) -> Ended:
    """Run it to the end; on every way out, cancellation included, its processes are gone."""
    try:
        with _input(job.line) as stdin:
            process = await asyncio.create_subprocess_exec(
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
    return await _finished(process, job)


async def _finished(process: asyncio.subprocess.Process, job: Job) -> Ended:
    assert process.stdout is not None  # noqa: S101  both are pipes, as ordered above
    assert process.stderr is not None  # noqa: S101
    out, err = _Stream(STDOUT_LIMIT, flood=True), _Stream(STDERR_LIMIT)
    streams = asyncio.gather(out.drain(process.stdout), err.drain(process.stderr))
    how: Literal["exit", "timeout", "flood"] = "exit"
    try:
        async with asyncio.timeout(job.timeout):
            await streams
            await process.wait()
    except TimeoutError:
        how = "timeout"
    except _Flood:
        how = "flood"
    finally:
        await asyncio.shield(_end(process, gentle=job.launch.gentle))
        streams.cancel()
        with contextlib.suppress(asyncio.CancelledError, _Flood):
            await streams
    return Ended(how, process.returncode or 0, out.text(), err.text())


async def _end(process: asyncio.subprocess.Process, *, gentle: bool) -> None:
    """End what still runs. A watcher is asked first, since only it can take its group along."""
    if process.returncode is None and gentle:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE):
                await process.wait()
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
    await process.wait()
    # Kept open by nothing that lives: the pipes close when the last of them is gone.
    transport = getattr(process, "_transport", None)
    if transport is not None:
        transport.close()


class _Flood(Exception):
    """More output than anyone wants to read."""


class _Stream:
    """What a process wrote, up to a limit: beyond it the rest is a flood, or the middle is dropped."""

    def __init__(self, limit: int, *, flood: bool = False) -> None:
        self.limit = limit
        self.flood = flood
        self.head = bytearray()
        self.tail = bytearray()
        self.dropped = 0

    async def drain(self, reader: asyncio.StreamReader) -> None:
        while chunk := await reader.read(CHUNK):
            if self.flood:
                self.head += chunk
                if len(self.head) > self.limit:
                    raise _Flood
                continue
            self.tail += chunk
            extra = len(self.tail) - self.limit
            if extra > 0:
                self.dropped += extra
                del self.tail[:extra]

    def text(self) -> str:
        note = f"[{self.dropped:,} bytes dropped]\n" if self.dropped else ""
        return note + bytes(self.head + self.tail).decode(errors="replace")


def _input(line: bytes) -> IO[bytes]:
    """A file without a name that holds the line: unlike a socket, a tool can also open it as /dev/stdin."""
    file = tempfile.TemporaryFile()  # noqa: SIM115  the caller closes it
    file.write(line)
    file.seek(0)
    return file
