"""Slow servers: a call times out even while data trickles in."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import pytest

from goalwright.models.litellm import lifecycle
from goalwright.models.litellm.model import LitellmModel
from goalwright_planner.errors import CallTimedOut
from goalwright_planner.model import Message, Request

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\ntransfer-encoding: chunked\r\n\r\n"


@asynccontextmanager
async def dripping(kind: bytes, drop: bytes) -> AsyncIterator[str]:
    """A server that sends small pieces without end."""
    dripped: list[asyncio.Event] = []

    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        dripped.append(asyncio.Event())
        with suppress(ConnectionError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(HEAD % kind)
            while not writer.is_closing():
                writer.write(b"%x\r\n%s\r\n" % (len(drop), drop))
                await writer.drain()
                await asyncio.sleep(0.05)
        writer.close()
        dripped[-1].set()

    server = await asyncio.start_server(drip, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        await lifecycle.close()  # hangs up, which ends the server's handlers
        await asyncio.gather(*(one.wait() for one in dripped))


@pytest.mark.parametrize("streamed", [False, True])
async def test_call_with_a_trickling_answer_times_out(*, streamed: bool) -> None:
    kind, drop = (b"text/event-stream", b": still here\n\n") if streamed else (b"application/json", b" ")
    async with dripping(kind, drop) as base, asyncio.timeout(60):
        model = LitellmModel("openai/test-model", 0.5, parameters={"api_base": base, "api_key": "sk-test"})
        request = Request((Message("user", "x"),), on_text=print if streamed else None)
        with pytest.raises(CallTimedOut, match=r"within 0\.5 s"):
            await model.complete(request)
