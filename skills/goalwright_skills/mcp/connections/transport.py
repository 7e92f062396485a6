"""Messages to and from an MCP server that is a process and speaks on its standard streams.

The `mcp` package's own transport reads messages of any length; a hostile or broken server must not fill the memory.
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
# What is not a message is skipped, as other clients do: many servers print a greeting.
_STRAY_LINES = 1_000
# Each of them waits in memory until the server reads the answer.
_UNANSWERED = 1_000
_INHERITED = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER")
_GRACE = 2.0
_POLL = 0.02


class Noise:
    """What a server said outside the protocol: why it was cut off, and the last lines of its standard error.

    `unanswered` counts what it has asked and not been answered yet.
    """

    def __init__(self) -> None:
        self.fault = ""
        self.unanswered = 0
        self._stderr: deque[bytes] = deque(maxlen=4)

    def heard(self, data: bytes) -> None:
        """Keep the end of the standard error."""
        self._stderr.append(data[-2_000:])

    @property
    def last_line(self) -> str:
        """The last line of its standard error that says something."""
        lines = b"".join(self._stderr).decode("utf-8", "replace").split("\n")
        return next(filter(None, (printable(line).strip() for line in reversed(lines))), "")[:300]


def environment(launch: ServerLaunch, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of a server's process: what every program needs, and what its entry names."""
    inherited = {name: environ[name] for name in _INHERITED if name in environ and not environ[name].startswith("()")}
    # What a server compiles while it starts would be a change of the files that it was trusted with.
    return inherited | {"PYTHONDONTWRITEBYTECODE": "1"} | dict(launch.env)


@asynccontextmanager
async def stdio(launch: ServerLaunch, started: Started, noise: Noise, ended: Callable[[], None]) -> AsyncIterator[Any]:
    """Streams to a process that is started here, and ended with all its children at the end of the block.

    `ended` is called if the process stops speaking before that.
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
            await _pass_on(process, incoming, noise)
            if exceeded():
                noise.fault = "used more memory than a confined server may"
        ended()

    with started.launch.watch(process.pid) as exceeded:
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(receive, exceeded)
                tasks.start_soon(_send, process, outgoing, noise)
                tasks.start_soon(_listen, process, noise)
                try:
                    yield read, write
                finally:
                    tasks.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await _end(process)
            for stream in (incoming, read, write, outgoing):
                stream.close()


async def _pass_on(process: asyncio.subprocess.Process, incoming: Any, noise: Noise) -> None:
    stray = 0
    assert process.stdout is not None  # noqa: S101 - it is a pipe
    while stray < _STRAY_LINES:
        try:
            line = await process.stdout.readuntil(b"\n")
        except asyncio.IncompleteReadError:
            return
        except asyncio.LimitOverrunError:
            noise.fault = f"sent a message of more than {MESSAGE_LIMIT // 1024**2} MB"
            return
        message = _parsed(line)
        if message is None:
            stray += 1
            continue
        if isinstance(message, mcp_types.JSONRPCRequest):
            noise.unanswered += 1
            if noise.unanswered > _UNANSWERED:
                noise.fault = f"asked more than {_UNANSWERED:,} things without waiting for an answer"
                return
        try:
            await incoming.send(SessionMessage(message))
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            return
    noise.fault = f"wrote {stray:,} lines that are not protocol messages"


def _parsed(line: bytes) -> Any:
    """The message in a line; None if it is none. JavaScript cuts characters in half, which the package refuses."""
    adapter = mcp_types.jsonrpc_message_adapter
    with suppress(ValueError):
        return adapter.validate_json(line, by_name=False)
    with suppress(ValueError, RecursionError):
        return adapter.validate_python(join_surrogates(json.loads(line)), by_name=False)
    return None


async def _send(process: asyncio.subprocess.Process, outgoing: Any, noise: Noise) -> None:
    assert process.stdin is not None  # noqa: S101 - it is a pipe
    with suppress(OSError, anyio.ClosedResourceError):
        async for sent in outgoing:
            process.stdin.write(sent.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
            await process.stdin.drain()
            if isinstance(sent.message, mcp_types.JSONRPCResponse | mcp_types.JSONRPCError):
                noise.unanswered -= 1


async def _listen(process: asyncio.subprocess.Process, noise: Noise) -> None:
    assert process.stderr is not None  # noqa: S101 - it is a pipe
    while data := await process.stderr.read(65_536):
        noise.heard(data)


async def _end(process: asyncio.subprocess.Process) -> None:
    """End the process as the protocol says: close its input, wait, then end all that it started."""
    assert process.stdin is not None  # noqa: S101 - it is a pipe
    process.stdin.close()
    if not await _has_ended(process):
        _signal(process, signal.SIGTERM)
        await _has_ended(process)
    _signal(process, signal.SIGKILL)  # children that outlive it, too
    await _has_ended(process)
    transport = getattr(process, "_transport", None)  # else it stays open as long as a child holds a pipe
    if transport is not None:
        transport.close()
    await asyncio.sleep(0)


async def _has_ended(process: asyncio.subprocess.Process) -> bool:
    """Whether it ends within the grace period; `wait` would wait for its children's pipes too."""
    deadline = asyncio.get_running_loop().time() + _GRACE
    while process.returncode is None:
        if asyncio.get_running_loop().time() > deadline:
            return False
        await asyncio.sleep(_POLL)
    return True


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
