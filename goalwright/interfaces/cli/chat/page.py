"""The page of a conversation: `goalwright serve` in a thread of the chat, from the first `/open` to the chat's end."""

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

_PORT = 8420  # as of `goalwright serve`; the next free one if it is taken
_END = 10.0  # seconds for the runs that were started from the page


class ConversationPage:
    """Serves the workspace of a chat with its flags; the address has a token, without which nothing is shown."""

    def __init__(self, workspace: Path, flags: Mapping[str, Any]) -> None:
        self._workspace = workspace
        self._flags = flags
        self._server: WebServer | None = None
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def address(self, conversation: str) -> str:
        """Where the conversation is shown; raises InputError if no port can be used."""
        server = self._server or self._start()
        base, _, token = server.address.partition("/#")
        return f"{base}/conversations/{quote(conversation, safe='')}#{token}"

    def _start(self) -> WebServer:
        from goalwright.interfaces.web.serve import WebServer, bind
        from goalwright.interfaces.web.site import Site

        listening = bind("127.0.0.1", _PORT, allow_remote=False)
        server = WebServer(Site(self._workspace, self._flags), listening, lambda: None)
        server.capture_signals = nullcontext  # type: ignore[method-assign, assignment] # Ctrl-C is the chat's
        self._server = server
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(server)), name="page", daemon=True)
        self._thread.start()
        return server

    async def _serve(self, server: WebServer) -> None:
        self._loop = asyncio.get_running_loop()
        await server.run_to_end()

    def close(self) -> None:
        """Serve no longer; runs that were started from the page are interrupted."""
        if self._server is None or self._thread is None:
            return
        if self._loop is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._server.end)
        self._thread.join(_END)


def write_file(goalwright: Goalwright, run_id: str) -> Path:
    """A run as a page in one file, for where no server would outlive it."""
    from goalwright.traces.html_page import render

    page = goalwright.paths.cache / "pages" / f"{run_id}.html"
    page.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    page.write_text(render([list(goalwright.journal.store.rows(run_id))]), encoding="utf-8")
    return page


def show(address: str) -> bool:
    """Open an address, if a browser can open a window: one in the terminal would take the chat's place."""
    import webbrowser

    has_screen = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    return webbrowser.open(address) if sys.platform == "darwin" or has_screen else False
