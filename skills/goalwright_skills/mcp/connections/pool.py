"""The MCP servers of this process, which run in a thread with an event loop of their own."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from goalwright_skills.mcp.connections.callbacks import PendingCall
from goalwright_skills.mcp.connections.connection import ServerConnection, close_all
from goalwright_skills.tools.current_call import current_person

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator, Mapping
    from concurrent.futures import Future

    from goalwright_skills.mcp.authorisation.tokens import TokenFile
    from goalwright_skills.mcp.connections.answers import ServerOffer
    from goalwright_skills.mcp.connections.session import ServerStart
    from goalwright_skills.mcp.entry import ServerLaunch

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class ServerAccess:
    """The access to a server: the hash of its entry, its launch, the conditions of a start, and its login."""

    key: str
    launch: ServerLaunch
    start: ServerStart
    login: TokenFile | None = None


class ServerPool:
    """Starts servers when they are first needed and ends them when the last holder releases the pool."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._connections: dict[str, ServerConnection] = {}
        self._holders = 0

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep servers running until the end of the block, or of the last concurrent block."""
        self.hold()
        try:
            yield
        finally:
            with self._lock:
                self._holders -= 1
                last = self._holders == 0
            if last:
                self.close()

    def hold(self) -> None:
        """Keep servers running until the pool is closed."""
        with self._lock:
            self._holders += 1

    def is_open(self, key: str) -> bool:
        """Whether the server of this key is running."""
        connection = self._connections.get(key)
        return connection is not None and connection.is_open

    def offer(self, server: ServerAccess) -> ServerOffer:
        """Return the tools and prompts of a server; blocks, so it must not run in an event loop's thread."""

        async def request() -> ServerOffer:
            return await self._connection(server).offer()

        return self._submit(request).result()

    async def ask(
        self, server: ServerAccess, request: Callable[[ServerConnection, PendingCall], Coroutine[Any, Any, Result]]
    ) -> Result:
        """Send a request; questions of the server to the person are asked in the caller's loop."""
        call = PendingCall(current_person(), asyncio.get_running_loop())

        async def send() -> Result:
            return await request(self._connection(server), call)

        return await asyncio.wrap_future(self._submit(send))

    def close(self) -> None:
        """End all servers and the thread."""
        with self._lock:
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
            connections, self._connections = list(self._connections.values()), {}
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(close_all(connections), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()

    def _connection(self, server: ServerAccess) -> ServerConnection:
        new = ServerConnection(server.launch, self._environ, server.start, server.login)
        return self._connections.setdefault(server.key, new)

    def forget(self, key: str) -> None:
        """End a server, for example after its login has changed; the next call starts it again."""
        connection = self._connections.pop(key, None)
        if connection is not None and self._loop is not None:
            self._submit(connection.close).result()

    def _submit(self, work: Callable[[], Coroutine[Any, Any, Result]]) -> Future[Result]:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=_run, args=(self._loop,), name="mcp", daemon=True)
                self._thread.start()
            return asyncio.run_coroutine_threadsafe(work(), self._loop)


def _run(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
