"""Messages to and from a client, one per line and of limited size; faulty ones are refused, and the next is read."""

from __future__ import annotations

import asyncio
import json
from typing import Any

# A message holds at most a prompt with embedded files.
LARGEST = 50_000_000
_NO_JSON, _NO_MESSAGE = -32700, -32600


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
