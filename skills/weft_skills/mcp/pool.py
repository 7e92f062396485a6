"""The MCP servers of this process: they live in a thread with a loop of their own, whichever loop calls them."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from weft_skills.mcp.connection import ServerConnection, close_all

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator, Mapping
    from concurrent.futures import Future

    from weft_skills.mcp.connection import CallAnswer, CheckTools, ServerStart
    from weft_skills.mcp.entry import ServerLaunch

Result = TypeVar("Result")


class ServerPool:
    """Starts servers when they are first needed; they end when nobody holds the pool any more."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._connections: dict[str, ServerConnection] = {}
        self._holders = 0

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep servers from the first call to the end of the block, or of the last such block."""
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
        """Keep servers until the pool is closed."""
        with self._lock:
            self._holders += 1

    def is_open(self, key: str) -> bool:
        """Whether the server of this key is running."""
        connection = self._connections.get(key)
        return connection is not None and connection.is_open

    def tools(self, key: str, launch: ServerLaunch, start: ServerStart) -> list[dict[str, Any]]:
        """The tools that a server lists; waits for them, so not for the thread of a loop."""

        async def listed() -> list[dict[str, Any]]:
            return await self._connection(key, launch, start).tools()

        return self._submit(listed).result()

    async def call(
        self,
        key: str,
        launch: ServerLaunch,
        start: ServerStart,
        tool: str,
        arguments: Mapping[str, Any],
        check: CheckTools,
    ) -> CallAnswer:
        """Call a tool; `check` may refuse the tools that its server lists."""

        async def called() -> CallAnswer:
            return await self._connection(key, launch, start).call(tool, arguments, check)

        return await asyncio.wrap_future(self._submit(called))

    def close(self) -> None:
        """End all servers, and the thread."""
        with self._lock:
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
            connections, self._connections = list(self._connections.values()), {}
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(close_all(connections), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()

    def _connection(self, key: str, launch: ServerLaunch, start: ServerStart) -> ServerConnection:
        return self._connections.setdefault(key, ServerConnection(launch, self._environ, start))

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
