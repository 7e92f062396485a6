"""The agent on stdin and stdout; nothing else may write to stdout."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import TYPE_CHECKING, Any

from acp import run_agent
from acp.stdio import stdio_streams

from goalwright.interfaces.acp.agent import GoalwrightAgent
from goalwright.interfaces.serving import until_left
from goalwright.models.litellm import lifecycle

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from goalwright.settings.paths import Paths
    from goalwright.settings.settings import Settings

# A message holds at most a prompt with embedded files.
MAX_MESSAGE = 50_000_000
_PARSE_ERROR, _INVALID_REQUEST = -32700, -32600


async def serve(configure: Callable[[Path], tuple[Paths, Settings]]) -> list[str]:
    """Serve until the client disconnects or a signal arrives; returns the ids of the interrupted sessions."""
    agent = GoalwrightAgent(configure)
    transport = LineTransport(*await _streams())
    lifecycle.preload()
    return await until_left(run_agent(agent, transport), agent.close)  # type: ignore[arg-type]


async def _streams() -> tuple[Any, Any]:
    """Return the client's pipes, and redirect all other output from stdout to stderr."""
    if sys.platform == "win32":
        return await stdio_streams(limit=MAX_MESSAGE)
    loop = asyncio.get_running_loop()
    stdout = os.fdopen(os.dup(1), "wb", 0)
    os.dup2(2, 1)
    reader = asyncio.StreamReader(limit=MAX_MESSAGE)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, stdout)
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)


class LineTransport:
    """Reads and writes JSON-RPC messages, one per line and of limited size; invalid ones are refused.

    The package's own transport accepts lines of any length, and stops at the first invalid message.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._sending = asyncio.Lock()

    async def send(self, message: dict[str, Any]) -> None:
        """Write a message."""
        async with self._sending:
            self._writer.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
            await self._writer.drain()

    async def receive(self) -> dict[str, Any] | None:
        """Return the next message; None at the end."""
        while line := await self._line():
            if not line.strip():
                continue
            try:
                message = json.loads(line)
            except (ValueError, RecursionError):
                await self._refuse(_PARSE_ERROR, "this line is not JSON")
                continue
            if _is_message(message):
                return dict(message)
            await self._refuse(_INVALID_REQUEST, "this is not a message of JSON-RPC 2.0")
        return None

    async def close(self) -> None:
        """Do nothing: the streams are closed by their opener."""

    async def _line(self) -> bytes:
        """Return the next line; a line that is too long is read in pieces and dropped."""
        is_whole = True
        while True:
            try:
                line = await self._reader.readuntil(b"\n")
            except asyncio.LimitOverrunError as error:
                await self._reader.readexactly(error.consumed)
                is_whole = False
                continue
            except asyncio.IncompleteReadError as error:
                return error.partial if is_whole else b""
            if is_whole:
                return line
            await self._refuse(
                _INVALID_REQUEST, f"the message is larger than {MAX_MESSAGE:,} bytes; link files instead"
            )
            is_whole = True

    async def _refuse(self, code: int, message: str) -> None:
        await self.send({"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}})


def _is_message(value: Any) -> bool:
    """Return whether a value has the form of a JSON-RPC message."""
    if not isinstance(value, dict) or not isinstance(value.get("id"), str | int | float | None):
        return False
    return isinstance(value.get("method"), str) if "method" in value else isinstance(value.get("error", {}), dict)
