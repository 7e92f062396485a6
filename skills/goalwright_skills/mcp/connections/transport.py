"""Messages to and from an MCP server process on its standard streams.

The `mcp` package's own transport reads messages of any length, so a hostile or broken server could fill the memory.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections import deque
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types
from mcp.shared.message import SessionMessage

from goalwright_skills.text.untrusted import join_surrogates, printable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from goalwright_skills.mcp.connections.behind_walls import Started
    from goalwright_skills.mcp.entry import ServerLaunch

MESSAGE_LIMIT = 16 * 1024 * 1024
# Lines that are not messages are skipped, as in other clients, because many servers print a greeting.
_MAX_STRAY_LINES = 1_000
# Each request of the server stays in memory until it reads the answer.
_MAX_UNANSWERED = 1_000
_INHERITED = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER")
_GRACE = 2.0
_POLL = 0.02


class OtherOutput:
    """The output of a server outside the protocol: the reason it was cut off, and the end of its standard error.

    `unanswered` counts its requests that have no answer yet.
    """

    def __init__(self) -> None:
        self.fault = ""
        self.unanswered = 0
        self._stderr: deque[bytes] = deque(maxlen=4)

    def add(self, data: bytes) -> None:
        """Keep the end of the standard error."""
        self._stderr.append(data[-2_000:])

    @property
    def last_line(self) -> str:
        """The last line of the standard error that is not blank."""
        lines = b"".join(self._stderr).decode("utf-8", "replace").split("\n")
        return next(filter(None, (printable(line).strip() for line in reversed(lines))), "")[:300]


def environment(launch: ServerLaunch, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a server's process: what every program needs, and the variables of its entry."""
    inherited = {name: environ[name] for name in _INHERITED if name in environ and not environ[name].startswith("()")}
    # Compiled files would change the folder that was trusted.
    return inherited | {"PYTHONDONTWRITEBYTECODE": "1"} | dict(launch.env)


@asynccontextmanager
async def stdio(
    launch: ServerLaunch, started: Started, output: OtherOutput, ended: Callable[[], None]
) -> AsyncIterator[Any]:
    """Start a process and yield streams to it; it is ended with all its children at the end of the block.

    `ended` is called if the process closes its output before that.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *started.launch.argv,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=dict(started.env),
            cwd=launch.cwd,
            pass_fds=started.launch.fds,
            start_new_session=True,
            limit=MESSAGE_LIMIT,
        )
    finally:
        for descriptor in started.launch.fds:
            os.close(descriptor)
    incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, outgoing = anyio.create_memory_object_stream[SessionMessage](0)

    async def receive(exceeded: Callable[[], bool]) -> None:
        async with incoming:
            await _receive(process, incoming, output)
            if exceeded():
                output.fault = "used more memory than a confined server may"
        ended()

    with started.launch.watch(process.pid) as exceeded:
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(receive, exceeded)
                tasks.start_soon(_send, process, outgoing, output)
                tasks.start_soon(_listen, process, output)
                try:
                    yield read, write
                finally:
                    tasks.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await _end(process)
            for stream in (incoming, read, write, outgoing):
                stream.close()


async def _receive(process: asyncio.subprocess.Process, incoming: Any, output: OtherOutput) -> None:
    stray = 0
    assert process.stdout is not None  # noqa: S101 - it is a pipe
    while stray < _MAX_STRAY_LINES:
        try:
            line = await process.stdout.readuntil(b"\n")
        except asyncio.IncompleteReadError:
            return
        except asyncio.LimitOverrunError:
            output.fault = f"sent a message of more than {MESSAGE_LIMIT // 1024**2} MB"
            return
        message = _parsed(line)
        if message is None:
            stray += 1
            continue
        if isinstance(message, mcp_types.JSONRPCRequest):
            output.unanswered += 1
            if output.unanswered > _MAX_UNANSWERED:
                output.fault = f"sent more than {_MAX_UNANSWERED:,} requests without waiting for an answer"
                return
        try:
            await incoming.send(SessionMessage(message))
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            return
    output.fault = f"wrote {stray:,} lines that are not protocol messages"


def _parsed(line: bytes) -> Any:
    """Parse a message; None if it is invalid. Accepts the lone surrogates of JavaScript, which the package rejects."""
    adapter = mcp_types.jsonrpc_message_adapter
    with suppress(ValueError):
        return adapter.validate_json(line, by_name=False)
    with suppress(ValueError, RecursionError):
        return adapter.validate_python(join_surrogates(json.loads(line)), by_name=False)
    return None


async def _send(process: asyncio.subprocess.Process, outgoing: Any, output: OtherOutput) -> None:
    assert process.stdin is not None  # noqa: S101 - it is a pipe
    with suppress(OSError, anyio.ClosedResourceError):
        async for sent in outgoing:
            process.stdin.write(sent.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
            await process.stdin.drain()
            if isinstance(sent.message, mcp_types.JSONRPCResponse | mcp_types.JSONRPCError):
                output.unanswered -= 1


async def _listen(process: asyncio.subprocess.Process, output: OtherOutput) -> None:
    assert process.stderr is not None  # noqa: S101 - it is a pipe
    while data := await process.stderr.read(65_536):
        output.add(data)


async def _end(process: asyncio.subprocess.Process) -> None:
    """End the process as the protocol requires: close its input, wait, then kill its process group."""
    assert process.stdin is not None  # noqa: S101 - it is a pipe
    process.stdin.close()
    if not await _has_ended(process):
        _signal(process, signal.SIGTERM)
        await _has_ended(process)
    _signal(process, signal.SIGKILL)  # also children that outlive it
    await _has_ended(process)
    transport = getattr(process, "_transport", None)  # otherwise it stays open while a child holds a pipe
    if transport is not None:
        transport.close()
    await asyncio.sleep(0)


async def _has_ended(process: asyncio.subprocess.Process) -> bool:
    """Wait for the grace period and return whether the process ended; `wait` would also wait for its children."""
    deadline = asyncio.get_running_loop().time() + _GRACE
    while process.returncode is None:
        if asyncio.get_running_loop().time() > deadline:
            return False
        await asyncio.sleep(_POLL)
    return True


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
