"""The streams of events that pages have open."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from weft.web.errors import HttpError

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_STREAMS = 32


class Streams:
    """Counts the open streams, and ends them when the server ends."""

    def __init__(self) -> None:
        self.closing = False
        self._open = 0

    @contextmanager
    def one(self) -> Iterator[None]:
        """One more stream, while the block lasts; refused if there are too many."""
        self.check()
        self._open += 1
        try:
            yield
        finally:
            self._open -= 1

    def check(self) -> None:
        """Raise if no further stream may be opened."""
        if self._open >= MOST_STREAMS:
            raise HttpError(
                429, "TOO_MANY_STREAMS", f"{MOST_STREAMS} streams are already open", hint="close some of the pages"
            )
