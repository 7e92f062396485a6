"""Whether the head of a cluster responds."""

from __future__ import annotations

import asyncio
import socket

import pytest

from goalwright.batch.engines.ray import cluster


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_PROBE", 0.5)


async def answers(address: tuple[str, int]) -> bool:
    return await cluster.Cluster(1, 0.0, f"{address[0]}:{address[1]}").head_answers()


async def test_silent_head_does_not_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as hanging:
        address = hanging.getsockname()
        assert not await answers(address)
    assert not await answers(address), "nor does one that is gone"


@pytest.mark.parametrize("said", [b"\0\0\0\4", b""], ids=["settings", "it closes the connection"])
async def test_head_answers_with_any_response(said: bytes) -> None:
    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(said)
        writer.close()

    async with await asyncio.start_server(greet, "127.0.0.1", 0) as server:
        assert await answers(server.sockets[0].getsockname())
