"""Logins at MCP servers that a page started: each waits in a thread for the browser's callback."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING

from goalwright_skills.errors import GoalwrightError, InputError

if TYPE_CHECKING:
    from goalwright_skills.mcp.entry import ServerEntry
    from goalwright_skills.mcp.servers import McpServers

_LOGIN_SECONDS = 600.0
_ADDRESS_SECONDS = 60.0
_MOST = 8


class WebLogins:
    """The logins in progress, at most one per server."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._addresses: dict[str, Future[str]] = {}
        self._failed: dict[str, str] = {}

    def begin(self, servers: McpServers, entry: ServerEntry) -> str:
        """Return the address to open, empty if the server needs no login; raise McpFault if the login fails."""
        with self._lock:
            address = self._addresses.get(entry.name)
            if address is None:
                if len(self._addresses) >= _MOST:
                    raise InputError(f"{_MOST} logins are in progress", hint="finish one of them")
                address = self._addresses[entry.name] = Future()
                self._failed.pop(entry.name, None)
                threading.Thread(target=self._log_in, args=(servers, entry, address), daemon=True).start()
        return address.result(_ADDRESS_SECONDS)

    def status(self, name: str) -> tuple[bool, str]:
        """Return whether a login is in progress, and why the last one failed."""
        with self._lock:
            return name in self._addresses, self._failed.get(name, "")

    def _log_in(self, servers: McpServers, entry: ServerEntry, address: Future[str]) -> None:
        async def opened(url: str) -> None:
            address.set_result(url)

        try:
            servers.log_in(entry, opened, _LOGIN_SECONDS)
        except Exception as error:  # noqa: BLE001 - reported to the page
            self._failed[entry.name] = error.message if isinstance(error, GoalwrightError) else type(error).__name__
            if not address.done():
                address.set_exception(error)
        finally:
            if not address.done():
                address.set_result("")
            with self._lock:
                self._addresses.pop(entry.name, None)
