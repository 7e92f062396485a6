"""Runs the server: binds a port, serves until interrupted, and then interrupts its runs cleanly."""

from __future__ import annotations

import asyncio
import ipaddress
import secrets
import signal
import socket
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import uvicorn

from goalwright.interfaces.web.app import ROUTES, load, make_app
from goalwright.interfaces.web.connections import bounded
from goalwright.interfaces.web.guard import Hosts
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from goalwright.interfaces.web.site import Site

_TRIES = 50
# Seconds that open connections get to end at shutdown.
_GRACE = 5
# Seconds after the start when the first page has loaded.
_LOADED = 4
_BACKLOG = 64  # connections that are accepted before the first can be closed again


def bind(host: str, port: int, *, allow_remote: bool) -> socket.socket:
    """Return a listening socket, on the next free port if the port is taken."""
    if not allow_remote and not _is_loopback(host):
        raise InputError(
            f"--host {host} can be reached from other machines, and nothing is encrypted",
            hint="leave it out and use an SSH tunnel, or pass --allow-remote",
        )
    try:
        family, _, _, _, _ = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise InputError(f"--host {host} is unknown: {error.strerror}", hint="for example: --host 127.0.0.1") from error
    for number in range(port, min(port + _TRIES, 65_536)) if port else (0,):
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, number))
            listener.listen(128)
        except OSError as error:
            listener.close()
            last = error
            continue
        return listener
    raise InputError(
        f"no port from {port} on can be used on {host}: {last.strerror}", hint="choose another with --port"
    )


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _load_routes() -> None:
    """Import all routes in a thread, so that the first goal starts quickly."""

    def work() -> None:
        for route in ROUTES:
            load(route.handler)

    threading.Thread(target=work, name="routes", daemon=True).start()


class WebServer(uvicorn.Server):
    """The server of one site; `address` contains its token. A second Ctrl-C ends it at once, as in `goalwright run`."""

    def __init__(self, site: Site, listening: socket.socket, exit_program: Callable[[], None]) -> None:
        token = secrets.token_urlsafe(32)
        host, port = listening.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        self.address = f"http://{shown}:{port}/#token={token}"
        self._site = site
        self._listening = listening
        self._exit_program = exit_program
        app = make_app(site, token, Hosts(host, port))
        super().__init__(
            uvicorn.Config(
                app,
                log_level="warning",
                access_log=False,
                http=bounded(app.has_token),
                backlog=_BACKLOG,
                ws="none",
                lifespan="off",
                server_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=_GRACE,
            )
        )

    async def run_to_end(self) -> list[str]:
        """Serve until Ctrl-C or `end`; return the ids of the runs that were interrupted."""
        asyncio.get_running_loop().call_later(_LOADED, _load_routes)
        try:
            await self.serve(sockets=[self._listening])
        finally:
            interrupted = await self._site.close()
        return interrupted

    def end(self) -> None:
        """Stop serving, end all streams, and interrupt the runs of this process."""
        self.should_exit = True
        self._site.streams.closing = True  # open pages would otherwise keep the server waiting
        self._site.changes.wake()
        self._site.work.stop_all()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals during the block; unlike uvicorn, do not raise them again while runs are being interrupted."""
        loop, signals = asyncio.get_running_loop(), (signal.SIGINT, signal.SIGTERM)
        if sys.platform == "win32":  # asyncio has no signal handlers there: Ctrl-C ends the process
            yield
            return
        before = {number: signal.getsignal(number) for number in signals}
        for number in signals:
            loop.add_signal_handler(number, self._on_signal)
        try:
            yield
        finally:
            for number in signals:
                loop.remove_signal_handler(number)
                signal.signal(number, (lambda *_: self._exit_program()) if self._was_interrupted else before[number])

    _was_interrupted = False

    def _on_signal(self) -> None:
        if self._was_interrupted:
            self._exit_program()
        self._was_interrupted = True
        self.end()
