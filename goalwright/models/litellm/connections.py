"""litellm's connections: each event loop has its own, and no call that is under way loses them."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager, suppress
from inspect import isawaitable
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from collections.abc import Iterator


class LoopConnections:
    """Counts the calls of each event loop, so that a loop's connections are closed when no call of it uses them."""

    def __init__(self) -> None:
        self._calls: WeakKeyDictionary[asyncio.AbstractEventLoop, int] = WeakKeyDictionary()
        self._counting = threading.Lock()

    @contextmanager
    def in_use(self, litellm: Any) -> Iterator[None]:
        """Keep the connections of this event loop open while a call is made."""
        loop = asyncio.get_running_loop()
        with self._counting:
            if loop not in self._calls:
                _taken(litellm, loop)  # those of a loop that has ended, and whose place in memory this one has
            self._calls[loop] = self._calls.get(loop, 0) + 1
        try:
            yield
        finally:
            with self._counting:
                self._calls[loop] -= 1

    async def close(self, litellm: Any) -> None:
        """Close those of this event loop, unless a call uses them: then the run that makes it does so at its end."""
        loop = asyncio.get_running_loop()
        with self._counting:
            if self._calls.get(loop):
                return
            clients = _taken(litellm, loop)
            if not any(self._calls.values()):  # all loops share this one
                clients.append(getattr(litellm, "base_llm_aiohttp_handler", None))
        for client in clients:
            close = getattr(client, "aclose", None) or getattr(client, "close", None)
            with suppress(Exception):  # anything still open ends with the process
                closing = close() if close is not None else None
                if isawaitable(closing):
                    await closing


def _taken(litellm: Any, loop: asyncio.AbstractEventLoop) -> list[Any]:
    """Take the clients of an event loop out of litellm's cache, whose keys end with the loop's id."""
    cache, end = litellm.in_memory_llm_clients_cache, f"-{id(loop)}"
    names = [name for name in list(cache.cache_dict) if name.endswith(end)]
    taken = [cache.cache_dict.pop(name, None) for name in names]
    for name in names:
        cache.ttl_dict.pop(name, None)
    return taken
