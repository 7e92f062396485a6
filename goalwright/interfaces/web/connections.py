"""Limits connections without a token: how many there are, and how long a request may stay unfinished.

Anyone on the machine can connect, and a process may open few files. The oldest connection without a token is dropped
for a newer one, so that the user can always connect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from starlette.types import Scope

MOST_STRANGERS = 100
UNFINISHED = 10.0  # seconds


def bounded(is_user: Callable[[Scope], bool], seconds: float = UNFINISHED) -> type[H11Protocol]:
    """Return the protocol class of one server; `is_user` returns whether a request has the token."""
    strangers: dict[BoundedProtocol, None] = {}

    class BoundedProtocol(H11Protocol):
        _timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            strangers[self] = None
            self._start_timer()
            while len(strangers) > MOST_STRANGERS:
                oldest = next(
                    (connection for connection in strangers if not connection.is_answering), next(iter(strangers))
                )
                oldest.drop()

        def connection_lost(self, exc: Exception | None) -> None:
            strangers.pop(self, None)
            self._stop_timer()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            if self._timer is None and not self.is_answering:  # another request begins
                self._start_timer()
            super().data_received(data)

        def handle_events(self) -> None:
            super().handle_events()
            if self.is_answering:  # the request's head is complete
                self._stop_timer()
                if self.scope is not None and is_user(dict(self.scope)):
                    strangers.pop(self, None)

        @property
        def is_answering(self) -> bool:
            return self.cycle is not None and not self.cycle.response_complete

        def drop(self) -> None:
            strangers.pop(self, None)
            self._stop_timer()
            self.transport.abort()

        def _start_timer(self) -> None:
            self._timer = self.loop.call_later(seconds, self.drop)

        def _stop_timer(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

    return BoundedProtocol
