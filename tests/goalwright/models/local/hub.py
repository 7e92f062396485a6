"""A model hub on loopback that can be missing, busy, or drop connections."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from types import TracebackType


class Hub:
    """Serves one file at `url`; `breaks` says after how many bytes each of the next responses is cut off.

    With `waits` cleared, a response stops in the middle until it is set.
    """

    def __init__(self, data: bytes, *, status: int = 200, etag: str = '"one"') -> None:
        self.data = data
        self.status = status
        self.etag = etag
        self.ranges = True
        self.breaks: list[int] = []
        self.waits = threading.Event()
        self.waits.set()
        self.asked: list[str | None] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/models/tiny.gguf"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def _handler(hub: Hub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = self.headers["Range"]
            hub.asked.append(wanted)
            if hub.status != 200:
                self.send_error(hub.status)
                return
            fresh = self.headers.get("If-Range", hub.etag) == hub.etag
            start = int(wanted[6:].rstrip("-")) if wanted and fresh and hub.ranges else 0
            if start >= len(hub.data):
                self.send_error(416)
                return
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(hub.data) - start))
            self.send_header("ETag", hub.etag)
            self.end_headers()
            end = start + hub.breaks.pop(0) if hub.breaks else len(hub.data)
            middle = (start + end) // 2
            self.wfile.write(hub.data[start:middle])
            hub.waits.wait(60)
            self.wfile.write(hub.data[middle:end])

        def log_message(self, *args: object) -> None:
            """Say nothing."""

    return Handler
