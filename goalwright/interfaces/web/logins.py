"""Logins at MCP servers that were begun on a page: each waits in a thread until the browser comes back."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING

from goalwright_skills.errors import GoalwrightError, InputError

if TYPE_CHECKING:
    from goalwright_skills.mcp.entry import ServerEntry
    from goalwright_skills.mcp.servers import McpServers

_SECONDS = 600.0
_FOUND = 60.0
_MOST = 8


class WebLogins:
    """The logins under way; the same server has one at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: dict[str, Future[str]] = {}
        self._failed: dict[str, str] = {}

    def begin(self, servers: McpServers, entry: ServerEntry) -> str:
        """The address that a person has to open; empty if the server wants no login. Raises McpFault if it fails."""
        with self._lock:
            address = self._under_way.get(entry.name)
            if address is None:
                if len(self._under_way) >= _MOST:
                    raise InputError(f"{_MOST} logins are under way", hint="finish one of them")
                address = self._under_way[entry.name] = Future()
                self._failed.pop(entry.name, None)
                threading.Thread(target=self._log_in, args=(servers, entry, address), daemon=True).start()
        return address.result(_FOUND)

    def standing(self, name: str) -> tuple[bool, str]:
        """Whether a login at a server is under way, and why the last one failed."""
        with self._lock:
            return name in self._under_way, self._failed.get(name, "")

    def _log_in(self, servers: McpServers, entry: ServerEntry, address: Future[str]) -> None:
        async def opened(url: str) -> None:
            address.set_result(url)

        try:
            servers.log_in(entry, opened, _SECONDS)
        except Exception as error:  # noqa: BLE001 - the page that asked is told
            self._failed[entry.name] = error.message if isinstance(error, GoalwrightError) else type(error).__name__
            if not address.done():
                address.set_exception(error)
        finally:
            if not address.done():
                address.set_result("")
            with self._lock:
                self._under_way.pop(entry.name, None)
