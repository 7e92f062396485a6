"""The event streams that pages have open."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, contextmanager
from typing import TYPE_CHECKING

from goalwright.interfaces.web.errors import HttpError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator, Sequence

MOST_STREAMS = 32
# Pieces that are buffered for a slow page.
_AHEAD = 4


class Streams:
    """Counts the open streams; they end once `closing` is set."""

    def __init__(self) -> None:
        self.closing = False
        self._open = 0

    @contextmanager
    def one(self) -> Iterator[None]:
        """Count a stream while it is open; raise if there are too many."""
        self.check()
        self._open += 1
        try:
            yield
        finally:
            self._open -= 1

    def check(self) -> None:
        """Raise if there are too many streams."""
        if self._open >= MOST_STREAMS:
            raise HttpError(
                429, "TOO_MANY_STREAMS", f"{MOST_STREAMS} streams are already open", hint="close some of the pages"
            )

    async def counted(self, sources: Sequence[AsyncGenerator[bytes]]) -> AsyncGenerator[bytes]:
        """Merge several sources into one stream, until all of them have ended."""
        with self.one():
            pieces: asyncio.Queue[bytes | Exception | None] = asyncio.Queue(_AHEAD)
            readers = [asyncio.create_task(_read(source, pieces)) for source in sources]
            left = len(readers)
            try:
                while left:
                    match await pieces.get():
                        case bytes(piece):
                            yield piece
                        case None:
                            left -= 1
                        case error:
                            raise error
            finally:
                for reader in readers:
                    reader.cancel()
                await asyncio.gather(*readers, return_exceptions=True)


async def _read(source: AsyncGenerator[bytes], pieces: asyncio.Queue[bytes | Exception | None]) -> None:
    """Put the pieces of a source into the queue, then None or the exception that ended it."""
    try:
        async with aclosing(source):
            async for piece in source:
                await pieces.put(piece)
    except Exception as error:  # noqa: BLE001 - the stream's reader raises it
        await pieces.put(error)
    else:
        await pieces.put(None)
