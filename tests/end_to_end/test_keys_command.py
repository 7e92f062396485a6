"""`goalwright keys`, and the first run of someone who has neither a key nor a model."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from tests.nursery import Nursery, Ran
from tests.openai_server import OpenAIServer, Script, scripted
from tests.terminal import start_at_terminal, until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Serve = Callable[[Script], OpenAIServer]
Goalwright = Callable[..., Ran]
KEY = "sk-kept-0123456789abcdef"
GOAL = "Write the API documentation of the to-do service"
PLAN = {"tasks": [{"id": "survey", "action_type": "skill", "name": "cataloging-apis", "instruction": "List them"}]}
NO_OLLAMA = {"OLLAMA_API_BASE": "http://127.0.0.1:9"}


@pytest.fixture
def keyless(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> OpenAIServer:
    """A server that answers, without a key in the environment, a keyring or an Ollama."""
    server = serve(scripted(PLAN, synthesis="# Endpoints"))
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("OLLAMA_API_BASE", NO_OLLAMA["OLLAMA_API_BASE"])
    return server


def test_a_key_is_set_from_stdin_listed_without_its_value_and_removed(goalwright: Goalwright, own_home: Path) -> None:
    made = goalwright("keys", "set", "OpenAI", stdin=f"{KEY}\n", env={"PATH": "/nowhere"})
    assert made.status == 0, made.err
    assert "which only you can read" in made.err
    listed = goalwright("keys", "list", "--json", env={"MISTRAL_API_KEY": "theirs-0123456789"})
    assert json.loads(listed.out) == [
        {"provider": "mistral", "variable": "MISTRAL_API_KEY", "place": None, "in_environment": True},
        {"provider": "openai", "variable": "OPENAI_API_KEY", "place": "file", "in_environment": False},
    ]
    both = goalwright("keys", "list", env={"OPENAI_API_KEY": "theirs-0123456789"})
    assert "openai         in the environment; stored in the file, which is not used" in both.out
    assert KEY not in made.out + made.err + listed.out + both.out
    assert goalwright("keys", "remove", "openai").status == 0
    gone = goalwright("keys", "remove", "openai")
    assert (gone.status, "no key of openai is stored" in gone.err) == (2, True)
    assert "No key is stored" in goalwright("keys", "list").err


def test_a_key_on_the_command_line_is_refused_and_not_repeated(goalwright: Goalwright, own_home: Path) -> None:
    ran = goalwright("keys", "set", "openai", KEY)
    assert ran.status == 2
    assert KEY not in ran.out + ran.err
    assert "shell's history" in ran.err
    assert not (own_home / ".config" / "goalwright" / "providers.key").exists()


def test_at_a_terminal_the_key_is_typed_unseen(nursery: Nursery, workspace: Path, goalwright: Goalwright) -> None:
    process, terminal = start_at_terminal(nursery, ["keys", "set", "openai"], workspace, {"PATH": "/nowhere"})
    shown = until(terminal, b"not shown")
    os.write(terminal, f"{KEY}\n".encode())
    shown += until(terminal, None)
    assert process.wait(60) == 0
    assert KEY not in shown
    assert json.loads(goalwright("keys", "list", "--json").out)[0]["provider"] == "openai"


def test_a_run_uses_a_kept_key_and_leaves_it_out_of_its_record(
    keyless: OpenAIServer, workspace: Path, goalwright: Goalwright
) -> None:
    before = goalwright("run", "--model", "openai/test-model", GOAL, cwd=workspace)
    assert (before.status, "there is no key for openai/test-model" in before.err) == (4, True)
    assert goalwright("keys", "set", "openai", stdin=KEY).status == 0
    ran = goalwright("run", "--model", "openai/test-model", f"{GOAL}, with the key {KEY}", cwd=workspace)
    assert ran.status == 0, ran.err
    exported = goalwright("trace", "export", "last", cwd=workspace).out
    assert "[redacted]" in exported
    assert KEY not in exported + ran.out + ran.err
    assert all(KEY not in json.dumps(call.body) for call in keyless.calls)
    doctor = goalwright("doctor", cwd=workspace)
    assert "OPENAI_API_KEY (file of `goalwright keys`)" in doctor.out


def test_a_file_that_others_can_read_stops_a_run_and_doctor_says_why(
    keyless: OpenAIServer, workspace: Path, goalwright: Goalwright, own_home: Path
) -> None:
    goalwright("keys", "set", "openai", stdin=KEY)
    (own_home / ".config" / "goalwright" / "providers.key").chmod(0o644)
    ran = goalwright("run", GOAL, cwd=workspace)
    assert (ran.status, "can be read by other users" in ran.err) == (4, True)
    assert "can be read by other users" in goalwright("doctor", cwd=workspace).out


def test_without_a_terminal_the_error_says_the_choices(
    keyless: OpenAIServer, workspace: Path, goalwright: Goalwright
) -> None:
    for command in (["run", "--json", GOAL], ["plan", "--json", GOAL]):
        ran = goalwright(*command, cwd=workspace)
        assert ran.status == 4
        error = json.loads(ran.out)["error"]
        assert error["message"] == "no model is configured, and none was found"
        for way in (" MB, Apache-2.0) once", "goalwright keys set openai", "ollama pull", "--model NAME"):
            assert way in error["hint"]


def test_a_first_run_at_a_terminal_offers_the_choices_and_goes_on_with_a_key(
    keyless: OpenAIServer, nursery: Nursery, workspace: Path, goalwright: Goalwright
) -> None:
    process, terminal = start_at_terminal(nursery, ["run", GOAL], workspace, {"COLUMNS": "200"})
    shown = until(terminal, b"Number")
    assert "There is no model yet" in shown
    assert "a local model, no account needed" in shown
    assert " MB, Apache-2.0)" in shown
    assert "an API key of OpenAI, Anthropic" in shown
    assert "Ollama" not in shown
    os.write(terminal, b"2\n")
    until(terminal, b"Provider")
    os.write(terminal, b"\n")
    until(terminal, b"not shown")
    os.write(terminal, f"{KEY}\n".encode())
    rest = until(terminal, None)
    assert process.wait(60) == 0, rest
    assert KEY not in rest
    assert {call.body["model"] for call in keyless.calls} == {"gpt-6.1-sol"}
    assert json.loads(goalwright("run", "--json", GOAL, cwd=workspace).out)["model"] == "gpt-6.1-sol"


def test_an_ollama_that_answers_without_a_model_is_one_of_the_choices(
    keyless: OpenAIServer, nursery: Nursery, workspace: Path
) -> None:
    with _ollama() as address:
        env = {"OLLAMA_API_BASE": address, "COLUMNS": "200"}
        process, terminal = start_at_terminal(nursery, ["run", GOAL], workspace, env)
        shown = until(terminal, b"Number")
        assert f"2  Ollama, which runs at {address} and has no model yet" in shown
        os.write(terminal, b"2\n")
        assert "ollama pull" in until(terminal, b"Is it downloaded?")
        os.write(terminal, b"n\n")
        assert "Ollama has no model" in until(terminal, None)
        assert process.wait(60) == 4


def test_without_the_local_extra_the_command_that_installs_it_is_said(
    keyless: OpenAIServer, nursery: Nursery, workspace: Path
) -> None:
    code = "import sys; sys.modules['xllamacpp'] = None; from goalwright.interfaces.cli.main import main"
    code += "; main(['run', 'Say hello'])"
    ours, theirs = os.openpty()
    env = {**os.environ, "TERM": "xterm", "GOALWRIGHT_HELPER_MINUTES": "0", "COLUMNS": "200"}
    process = nursery.start(["-c", code], cwd=workspace, env=env, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    assert "pip install 'goalwright[local]', then download" in until(ours, b"Number")
    os.write(ours, b"1\n")
    rest = until(ours, None)
    assert "run: pip install 'goalwright[local]'" in rest
    assert process.wait(60) == 4


@contextmanager
def _ollama() -> Iterator[str]:
    """An Ollama without models."""

    class Tags(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"models": []}')

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Tags)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
