"""Serves the page of a conversation in a thread, from the first `/open` to the end of the chat."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from goalwright.interfaces.web.serve import WebServer
    from goalwright.runs.runtime import Goalwright

_PORT = 8420  # as for `goalwright serve`; the next free port if it is taken
_CLOSE_TIMEOUT = 10.0  # seconds for runs that were started from the page


class ConversationPage:
    """Serves the workspace of a chat with its flags; the address includes the required token."""

    def __init__(self, workspace: Path, flags: Mapping[str, Any]) -> None:
        self._workspace = workspace
        self._flags = flags
        self._server: WebServer | None = None
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def address(self, conversation: str) -> str:
        """Return the address of the conversation's page; raises InputError if no port is free."""
        server = self._server or self._start()
        base, _, token = server.address.partition("/#")
        return f"{base}/conversations/{quote(conversation, safe='')}#{token}"

    def _start(self) -> WebServer:
        from goalwright.interfaces.web.serve import WebServer, bind
        from goalwright.interfaces.web.site import Site

        listening = bind("127.0.0.1", _PORT, allow_remote=False)
        server = WebServer(Site(self._workspace, self._flags), listening, lambda: None)
        server.capture_signals = nullcontext  # type: ignore[method-assign, assignment] # the chat handles Ctrl-C
        self._server = server
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(server)), name="page", daemon=True)
        self._thread.start()
        return server

    async def _serve(self, server: WebServer) -> None:
        self._loop = asyncio.get_running_loop()
        await server.run_to_end()

    def close(self) -> None:
        """Stop the server; runs that were started from the page are interrupted."""
        if self._server is None or self._thread is None:
            return
        if self._loop is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._server.end)
        self._thread.join(_CLOSE_TIMEOUT)


def write_file(goalwright: Goalwright, run_id: str) -> Path:
    """Write a run as a self-contained page, for a chat that does not last as long as its reader."""
    from goalwright.interfaces.web.trace_page import render

    page = goalwright.paths.cache / "pages" / f"{run_id}.html"
    page.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    page.write_text(render([list(goalwright.journal.store.rows(run_id))]), encoding="utf-8")
    return page


def show(address: str) -> bool:
    """Open an address if a browser can open a window; a browser in the terminal would cover the chat."""
    import webbrowser

    has_screen = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    return webbrowser.open(address) if sys.platform == "darwin" or has_screen else False
