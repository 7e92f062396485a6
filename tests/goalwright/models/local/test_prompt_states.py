"""The state after a prompt's fixed part is saved in a file and restored by other processes."""

from __future__ import annotations

import asyncio
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from goalwright.models.local.serving import prompt_states
from goalwright.models.local.serving.endpoint import Endpoint
from goalwright.models.local.serving.prompt_states import PromptStates
from goalwright.models.local.store import made_states_of, states_of
from goalwright_planner.model import Message

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pytest

SKILL = Message("system", "Follow each of these rules. " * 30)


class LlamaServer(ThreadingHTTPServer):
    """A server with llama.cpp's calls that save and restore slots; calls in `refuses` fail."""

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), Calls)
        self.folder = folder
        self.calls: list[str] = []
        self.refuses = ""

    def answer(self, path: str, body: dict[str, Any]) -> dict[str, Any] | None:
        if path == "/apply-template":
            return {"prompt": "".join(f"<{one['role']}>{one['content']}" for one in body["messages"])}
        self.calls.append(path)
        if self.refuses and self.refuses in path:
            return None
        if path.endswith("action=save"):
            (self.folder / body["filename"]).write_bytes(b"s" * 100)
        if path == "/completion":
            assert body["n_predict"] == 0
            assert body["prompt"] == f"<system>{SKILL.content}<user>", "nothing of the goal is in it"
        return {}


class Calls(BaseHTTPRequestHandler):
    server: LlamaServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        document = self.server.answer(self.path, body)
        text = json.dumps(document or {"error": "no"}).encode()
        self.send_response(200 if document is not None else 400)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: Any) -> None:
        """Nothing is printed."""


@contextmanager
def llama_server(folder: Path) -> Iterator[LlamaServer]:
    server = LlamaServer(folder)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def states(server: LlamaServer, about: str = "model and build") -> PromptStates:
    endpoint = Endpoint(f"http://127.0.0.1:{server.server_address[1]}/v1", "key", "goalwright-local", 4096)
    return PromptStates(endpoint, server.folder, about, timeout=20)


def take_up(server: LlamaServer, *messages: Message, about: str = "model and build", slot: int = 0) -> list[str]:
    """The calls that it takes."""
    server.calls.clear()
    asyncio.run(states(server, about).take_up(slot, messages))
    return list(server.calls)


def test_the_fixed_part_is_read_once_and_restored_from_then_on(tmp_path: Path) -> None:
    with llama_server(tmp_path) as server:
        assert take_up(server, SKILL) == ["/completion", "/slots/0?action=save"]
        (kept,) = tmp_path.iterdir()
        assert kept.suffix == ".state"
        assert take_up(server, SKILL, slot=1) == ["/slots/1?action=restore"]
        again = take_up(server, SKILL, about="another build")
        assert again == ["/completion", "/slots/0?action=save"], "a state is bound to the model and its server"


def test_short_fixed_part_is_not_saved(tmp_path: Path) -> None:
    with llama_server(tmp_path) as server:
        assert take_up(server, Message("system", "Answer in Markdown.")) == []
        assert take_up(server) == []


def test_invalid_state_is_saved_again(tmp_path: Path) -> None:
    with llama_server(tmp_path) as server:
        take_up(server, SKILL)
        server.refuses = "restore"
        assert take_up(server, SKILL) == ["/slots/0?action=restore", "/completion", "/slots/0?action=save"]
        assert len(list(tmp_path.iterdir())) == 1


def test_unwritable_states_folder_is_ignored(tmp_path: Path) -> None:
    with llama_server(tmp_path) as server:
        server.refuses = "save"
        take_up(server, SKILL)
        assert list(tmp_path.iterdir()) == []
    asyncio.run(states(server).take_up(0, (SKILL,)))  # nobody answers any more


def test_least_recently_used_states_are_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prompt_states, "MOST_BYTES", 250)
    with llama_server(tmp_path) as server:
        for number in range(4):
            take_up(server, SKILL, about=str(number))
            take_up(server, SKILL, about="0")
        assert len(list(tmp_path.iterdir())) == 2
        assert take_up(server, SKILL, about="0") == ["/slots/0?action=restore"]


def test_states_folder_is_private_and_beside_the_model(tmp_path: Path) -> None:
    model = tmp_path / "small.gguf"
    assert made_states_of(model) == states_of(model) == tmp_path / "states" / "small"
    assert states_of(model).stat().st_mode & 0o077 == 0
    (tmp_path / "file").touch()
    assert made_states_of(tmp_path / "file" / "small.gguf") is None
