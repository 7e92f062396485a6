"""A proxy to a PostgreSQL server that breaks connections during COMMIT, before the request or before the response."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from goalwright_executor.stores.postgres.address import address_of

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter
    from random import Random


class CommitCutter:
    """Listens on loopback, forwards both directions, and cuts one COMMIT of `every` on average.

    `cuts` counts commits that the server never received (`before`) and those that it executed (`after`).
    """

    def __init__(self, url: str, draw: Random, every: int = 6) -> None:
        self._address = address_of(url)
        self._draw, self._every = draw, every
        self.cuts: Counter[str] = Counter()
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def url(self) -> str:
        """The URL of the journal through the proxy."""
        parameters = self._address.parameters
        user, database = parameters.get("user", "postgres"), parameters.get("dbname", "postgres")
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}?sslmode=disable&gssencmode=disable&schema={self._address.schema}"

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(120)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(120)

    def _serve(self) -> None:
        server = self._loop.run_until_complete(asyncio.start_server(self._accept, "127.0.0.1", 0))
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        server.close()
        for task in (left := asyncio.all_tasks(self._loop)):
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        self._loop.close()

    async def _accept(self, reader: StreamReader, writer: StreamWriter) -> None:
        host, port = self._address.parameters.get("host", "127.0.0.1"), self._address.parameters.get("port", 5432)
        if str(host).startswith("/"):
            answers, server = await asyncio.open_unix_connection(f"{host}/.s.PGSQL.{port}")
        else:
            answers, server = await asyncio.open_connection(host, int(port))
        cut = asyncio.Event()
        passing = [
            asyncio.ensure_future(self._questions(reader, server, cut)),
            asyncio.ensure_future(_answers(answers, writer, cut)),
        ]
        try:
            await asyncio.wait(passing, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in passing:
                task.cancel()
            for end in (server, writer):
                end.transport.abort()

    async def _questions(self, reader: StreamReader, server: StreamWriter, cut: asyncio.Event) -> None:
        """Forward the client's messages one by one until the connection ends."""
        statements: dict[bytes, bytes] = {}
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            length = await reader.readexactly(4)  # the first message has no type
            server.write(length + await reader.readexactly(int.from_bytes(length) - 4))
            while True:
                kind, length = await reader.readexactly(1), await reader.readexactly(4)
                body = await reader.readexactly(int.from_bytes(length) - 4)
                name, _, rest = body.partition(b"\0")
                if kind == b"P":  # Parse: the name of a statement, then its text
                    statements[name] = rest.partition(b"\0")[0]
                commits = body if kind == b"Q" else statements.get(rest.partition(b"\0")[0]) if kind == b"B" else b""
                if (commits or b"").rstrip(b"\0") == b"COMMIT" and not self._draw.randrange(self._every):
                    when = self._draw.choice(["before", "after"])
                    self.cuts[when] += 1
                    if when == "before":
                        return
                    cut.set()
                server.write(kind + length + body)
                await server.drain()


async def _answers(reader: StreamReader, writer: StreamWriter, cut: asyncio.Event) -> None:
    """Forward the server's data until the connection is cut or ends."""
    with suppress(ConnectionError):
        while (data := await reader.read(2**16)) and not cut.is_set():
            writer.write(data)
            await writer.drain()
