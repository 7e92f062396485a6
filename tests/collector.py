"""An OpenTelemetry collector on loopback that keeps its requests."""

from __future__ import annotations

import http.server
import json
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from email.message import Message

Sent = list[tuple["Message", dict[str, Any]]]


@contextmanager
def collecting(status: int = 200, answer: bytes = b"", **headers: str) -> Iterator[tuple[str, Sent]]:
    """Run a collector; yield its address and the headers and body of every request."""
    sent: Sent = []

    class Collector(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent.append((self.headers, json.loads(self.rfile.read(int(self.headers["content-length"])))))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Collector) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", sent
        server.shutdown()
