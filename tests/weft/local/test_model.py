"""The embedded model behind the planner's port."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from planner.errors import ServerFailed
from planner.model import Message, Request
from weft.local import catalogue
from weft.local.model import LocalModel
from weft.local.server import Endpoint, Load

if TYPE_CHECKING:
    from pathlib import Path


class Failing(BaseHTTPRequestHandler):
    """Counts tokens, and fails at everything else."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        counts = self.path.endswith("/input_tokens")
        body = json.dumps({"input_tokens": 3} if counts else {"error": {"message": "out of memory"}}).encode()
        self.send_response(200 if counts else 500)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing is printed."""


async def test_an_error_names_the_model_and_no_provider_that_was_never_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = catalogue.read().default
    record = {"name": name, "bytes": 0, "sha256": "", "context": 0, "profile": "small", "origin": "a test"}
    (tmp_path / f"{name}.json").write_text(json.dumps(record), encoding="utf-8")
    (tmp_path / f"{name}.gguf").touch()
    monkeypatch.setenv("WEFT_MODELS_DIR", str(tmp_path))
    server = ThreadingHTTPServer(("127.0.0.1", 0), Failing)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    async def running(_: Load) -> Endpoint:
        return Endpoint(f"http://127.0.0.1:{server.server_port}/v1", "key", "weft-local", 4096)

    try:
        with pytest.raises(ServerFailed) as caught:
            await LocalModel("local", serve=running).complete(Request((Message("user", "hi"),)))
    finally:
        server.shutdown()
        server.server_close()
    assert caught.value.message.startswith("local failed (500): out of memory")
