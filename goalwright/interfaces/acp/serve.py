"""The agent on standard input and output; nothing else may write there."""

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
LARGEST = 50_000_000
_NO_JSON, _NO_MESSAGE = -32700, -32600


async def serve(configure: Callable[[Path], tuple[Paths, Settings]]) -> list[str]:
    """Serve until the client leaves or a signal comes; returns the ids of the sessions that this interrupted."""
    agent = GoalwrightAgent(configure)
    transport = LineTransport(*await _streams())
    lifecycle.preload()
    return await until_left(run_agent(agent, transport), agent.close)  # type: ignore[arg-type]


async def _streams() -> tuple[Any, Any]:
    """The client's pipes; whatever else writes to standard output goes to standard error from now on."""
    if sys.platform == "win32":
        return await stdio_streams(limit=LARGEST)
    loop = asyncio.get_running_loop()
    kept = os.fdopen(os.dup(1), "wb", 0)
    os.dup2(2, 1)
    reader = asyncio.StreamReader(limit=LARGEST)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, kept)
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)


class LineTransport:
    """Reads and writes JSON-RPC messages; the reader's own limit is that of a message.

    The package's own transport takes lines of any length, and ends with the first message of an odd form.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._sending = asyncio.Lock()

    async def send(self, message: dict[str, Any]) -> None:
        """Write a message whole."""
        async with self._sending:
            self._writer.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
            await self._writer.drain()

    async def receive(self) -> dict[str, Any] | None:
        """The next message; None at the end."""
        while line := await self._line():
            if not line.strip():
                continue
            try:
                message = json.loads(line)
            except (ValueError, RecursionError):
                await self._refuse(_NO_JSON, "this line is not JSON")
                continue
            if _is_message(message):
                return dict(message)
            await self._refuse(_NO_MESSAGE, "this is not a message of JSON-RPC 2.0")
        return None

    async def close(self) -> None:
        """The streams belong to who opened them."""

    async def _line(self) -> bytes:
        """The next line; one that is too long is read to its end, piece by piece, and dropped."""
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
            await self._refuse(_NO_MESSAGE, f"the message is larger than {LARGEST:,} bytes; link files instead")
            is_whole = True

    async def _refuse(self, code: int, what: str) -> None:
        await self.send({"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": what}})


def _is_message(value: Any) -> bool:
    """Whether a value can be handed on: an object whose id can be looked up, and whose method and error have a form."""
    if not isinstance(value, dict) or not isinstance(value.get("id"), str | int | float | None):
        return False
    return isinstance(value.get("method"), str) if "method" in value else isinstance(value.get("error", {}), dict)
