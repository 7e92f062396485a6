"""The embedded model."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from goalwright.models.budget import Budget
from goalwright.models.litellm.capabilities import Capabilities
from goalwright.models.local import catalogue
from goalwright.models.local.model import LocalModel
from goalwright.models.local.serving.endpoint import Endpoint
from goalwright.models.local.serving.server import SLOTS, Load
from goalwright.models.local.serving.speed import Speed
from goalwright.models.local.serving.time_limits import LocalLimits
from goalwright.models.open import model_opener
from goalwright.models.roles import RoleModels
from goalwright.settings.settings import Settings
from goalwright_executor.results.memo import Memo
from goalwright_planner.errors import ServerFailed, TooSlow
from goalwright_planner.events import Warned
from goalwright_planner.model import Message, Request

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from goalwright_planner.events import Event

REQUEST = Request((Message("user", "hi"),))


class Loopback(BaseHTTPRequestHandler):
    """Counts tokens, and passes other requests to `answer`."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        counts = self.path.endswith("/input_tokens")
        status, document = (200, {"input_tokens": 3}) if counts else self.answer()
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def answer(self) -> tuple[int, Any]:
        return 500, {"error": {"message": "out of memory"}}

    def log_message(self, *_: Any) -> None:
        """Nothing is printed."""


class Busy(Loopback):
    """Answers after a while, and counts how many calls wait at once."""

    lock = threading.Lock()
    waiting = peak = 0

    def answer(self) -> tuple[int, Any]:
        with self.lock:
            Busy.waiting += 1
            Busy.peak = max(Busy.peak, Busy.waiting)
        time.sleep(0.05)
        with self.lock:
            Busy.waiting -= 1
        message = {"role": "assistant", "content": "ok"}
        return 200, {"id": "1", "model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}


Serve = Callable[[Load], Awaitable[Endpoint]]


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The default model, installed as far as the store can tell."""
    name = catalogue.read().default
    record = {"name": name, "bytes": 0, "sha256": "", "context": 0, "profile": "small", "origin": "a test"}
    (tmp_path / f"{name}.json").write_text(json.dumps(record), encoding="utf-8")
    (tmp_path / f"{name}.gguf").touch()
    monkeypatch.setenv("GOALWRIGHT_MODELS_DIR", str(tmp_path))


@pytest.mark.usefixtures("model")
async def test_slow_backend_is_warned_about() -> None:
    async def slow(_: Load) -> Endpoint:
        return Endpoint("http://127.0.0.1:9/v1", "key", "goalwright-local", 4096, slow="it is slow here; do this")

    events: list[Event] = []
    models = RoleModels(
        Settings(model="local"), Memo(events.append), Budget(), lambda name: LocalModel(name, serve=slow)
    )
    await models.ready("task")
    assert [event for event in events if isinstance(event, Warned)] == [Warned("it is slow here; do this")]


@contextmanager
def served(handler: type[Loopback], speed: Speed | None = None) -> Iterator[Serve]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    async def running(_: Load) -> Endpoint:
        return Endpoint(f"http://127.0.0.1:{server.server_port}/v1", "key", "goalwright-local", 4096, speed)

    try:
        yield running
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.usefixtures("model")
async def test_an_error_names_the_local_model_and_not_a_provider() -> None:
    with served(Loopback) as running, pytest.raises(ServerFailed) as caught:
        await LocalModel("local", serve=running).complete(REQUEST)
    assert caught.value.message.startswith("local failed (500): out of memory")


@pytest.mark.usefixtures("model")
async def test_calls_beyond_the_slots_wait_without_timing_out() -> None:
    with served(Busy) as running:
        models = [LocalModel("local", serve=running) for _ in range(8)]
        replies = await asyncio.gather(*(model.complete(REQUEST) for model in models))
    assert {reply.text for reply in replies} == {"ok"}
    assert Busy.peak == SLOTS


class Untouched(Loopback):
    """Counts many tokens; no call may reach it."""

    def answer(self) -> tuple[int, Any]:
        raise AssertionError


@pytest.mark.usefixtures("model")
async def test_too_slow_call_is_refused_before_it_is_sent() -> None:
    with served(Untouched, Speed(prompt=100.0, answer=1.0)) as running, pytest.raises(TooSlow) as caught:
        await LocalModel("local", LocalLimits(call_timeout=200), serve=running).complete(REQUEST)
    assert caught.value.message.startswith("local: a prompt of 3 tokens takes at least 301 s on this machine")


def test_the_call_timeout_applies_to_the_local_model() -> None:
    model = model_opener(Settings(call_timeout=7.5), Capabilities())("local")
    assert isinstance(model, LocalModel)
    assert model.limits.call_timeout == 7.5


def test_default_time_limit_follows_the_measured_speed() -> None:
    model = model_opener(Settings(), Capabilities())("local")
    assert isinstance(model, LocalModel)
    assert model.limits.call_timeout is None
