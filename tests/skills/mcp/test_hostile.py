"""MCP servers that flood, hang, garble and disguise: each gets a clear envelope, and nothing leaks."""

from __future__ import annotations

import gzip
import os
import resource
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from goalwright_skills.mcp.connections import session
from goalwright_skills.mcp.tool_list import tool_list
from goalwright_skills.mcp.tools import McpTool
from tests.mcp_workspace import configure, open_servers, small

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_skills.mcp.servers import McpServers
    from goalwright_skills.tools.envelope import Envelope


def opened(folder: Path, mode: str, **rest: object) -> McpServers:
    """A trusted server that misbehaves in this way."""
    configure(folder, small=small("--mode", mode, **rest))
    servers = open_servers(folder)
    servers.trust_all()
    return servers


async def add(servers: McpServers, artifacts: Path | None = None) -> Envelope:
    return await McpTool("mcp__small__add", "", {}, servers, artifacts).call({"a": 1, "b": 2})


async def test_a_flood_ends_the_server_and_not_the_memory(tmp_path: Path) -> None:
    servers = opened(tmp_path, "flood")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with servers.held():
        flooded = await add(servers)
    assert flooded.error is not None
    assert flooded.error.code == "EXECUTION_ERROR"
    assert "sent a message of more than 16 MB, and was ended" in flooded.error.message
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert grown < 150, "a line of 24 MB is not kept"


async def test_a_server_says_nothing_about_the_files_of_a_run(tmp_path: Path) -> None:
    servers = opened(tmp_path, "artifacts")
    with servers.held():
        got = await add(servers, tmp_path / "kept")
    assert got.status == "partial"
    assert [row["path"] for row in got.data["artifacts"]] == [got.data["artifact"].rpartition("/")[2]]
    assert "changes" not in got.data
    assert [row.get("id") for row in got.data["output"]["artifacts"]] == [7, None]


async def test_a_server_that_asks_and_does_not_listen_is_ended(tmp_path: Path) -> None:
    servers = opened(tmp_path, "pushy")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with servers.held():
        asked = await add(servers)
    assert asked.error is not None
    assert "asked more than 1,000 things without waiting for an answer, and was ended" in asked.error.message
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024 < 250


async def test_an_error_with_the_code_of_a_closed_connection_ends_no_server(tmp_path: Path) -> None:
    servers = opened(tmp_path, "busy")
    with servers.held():
        refused = [await add(servers) for _ in range(2)]
    for one in refused:
        assert one.error is not None
        assert "refused it: too busy" in one.error.message
    starts = (tmp_path / "starts.txt").read_text(encoding="utf-8").split()
    assert len(starts) == 2, "for its tools, and for both calls"


async def test_garbage_and_chatter_do_not_reach_anyone(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    garbled = opened(tmp_path / "a", "garbage")
    with garbled.held():
        lost = await add(garbled)
    assert lost.error is not None
    assert "lines that are not protocol messages" in lost.error.message
    chatty = opened(tmp_path / "b", "chatter")
    with chatty.held():
        assert (await add(chatty)).text == "through"
    assert capfd.readouterr() == ("", "")


async def test_a_server_that_asks_for_the_model_or_the_person_is_declined(tmp_path: Path) -> None:
    curious = opened(tmp_path, "curious")
    with curious.held():
        assert (await add(curious)).text == "error {'action': 'decline'}"


async def test_control_characters_and_odd_shapes_become_plain_text(tmp_path: Path) -> None:
    servers = opened(tmp_path / "a", "controls")
    with servers.held():
        told = await add(servers)
    assert told.text == "\ufffd[2Jcleared\ufffd \ufffd31m and \ufffd"
    odd = opened(tmp_path / "b", "shapes")
    with odd.held():
        got = await add(odd, tmp_path / "b" / "kept")
    assert got.text.endswith("kept")
    assert "cannot be decoded" in got.text
    (kept,) = got.data["files"]
    assert kept["path"].startswith(str(tmp_path / "b" / "kept" / "mcp__small__add-"))
    assert kept["path"].endswith(".bin")
    assert [one.name for one in (tmp_path / "b" / "kept").iterdir()] == [kept["path"].rpartition("/")[2]]


def test_names_cannot_shadow_collide_or_steer(tmp_path: Path) -> None:
    offer = opened(tmp_path, "names").offer()
    names = [tool.name for tool in offer.tools]
    assert names[:2] == ["mcp__small__Skill", "mcp__small__a_b"]
    assert len(names) == len(set(names))
    assert all(len(name) <= 64 and name.isascii() and name.isprintable() for name in names)
    assert "mcp__small__evil__2J" in names
    evil = next(tool for tool in offer.tools if tool.name == "mcp__small__evil__2J")
    assert evil.description == "Clears [2J the screen."
    left_out = " ".join(offer.warnings)
    assert "'a b'" in left_out
    assert "mcp__small__big is dropped" in left_out


def test_a_list_that_the_protocol_does_not_allow_is_refused_whole(tmp_path: Path) -> None:
    servers = opened(tmp_path, "shape")
    (state,) = servers.checked()[0]
    assert "broke the protocol" in (state.reason or "")
    listed = tool_list("s", [{"name": "t", "inputSchema": {"type": [], "properties": {"a": True}, "required": "a"}}])
    assert listed.tools[0].parameters == {"type": "object", "properties": {"a": {}}}


async def test_a_server_that_says_nothing_or_will_not_end_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from goalwright_skills.mcp.connections import transport

    monkeypatch.setattr(transport, "_GRACE", 0.4)
    stubborn = opened(tmp_path / "b", "stubborn")
    with stubborn.held():
        assert (await add(stubborn)).text == "3"
    pid = int((tmp_path / "b" / "starts.txt").read_text(encoding="utf-8").split()[-1])
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    monkeypatch.setattr(session, "START_TIMEOUT", 5.0)
    began = time.monotonic()
    deaf = opened(tmp_path / "a", "deaf")
    (state,) = deaf.checked()[0]
    assert "did not answer within 5 s" in (state.reason or "")
    assert time.monotonic() - began < 30, "it sleeps for a minute"
    deaf.offer()
    assert len((tmp_path / "a" / "starts.txt").read_text(encoding="utf-8").split()) == 1, "it is not tried again"


def test_what_a_server_says_last_does_not_repeat_its_secrets(tmp_path: Path) -> None:
    script = "import os, sys; print('bad token', os.environ['TOKEN'], file=sys.stderr); sys.exit(1)"
    configure(tmp_path, small={"command": "python3", "args": ["-c", script], "env": {"TOKEN": "hunter2-hunter2"}})
    servers = open_servers(tmp_path)
    servers.trust_all()
    (state,) = servers.checked()[0]
    assert state.reason is not None
    assert "ended; its last output: bad token ***" in state.reason


@pytest.mark.parametrize("code", [-32603, -32000])
def test_a_server_that_refuses_to_start_says_why(tmp_path: Path, code: int) -> None:
    (state,) = opened(tmp_path, f"refusing{code}", env={"TOKEN": "hunter2-hunter2"}).checked()[0]
    reason = state.reason or ""
    assert reason.startswith("the MCP server 'small' refused to start: license  [2Jof *** expired again")
    assert len(reason) < 500


class Packing(BaseHTTPRequestHandler):
    """Answers every request with 64 KB that unpack to 64 MB."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked_for = self.headers["Accept-Encoding"]  # type: ignore[attr-defined]
        body = gzip.compress(b" " * (64 * 1024 * 1024))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with suppress(OSError):
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_an_answer_over_http_is_not_unpacked(tmp_path: Path) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Packing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        configure(tmp_path, far={"type": "http", "url": f"http://127.0.0.1:{server.server_port}/mcp"})
        servers = open_servers(tmp_path)
        servers.trust_all()
        server.shutdown()
    (state,) = servers.checked()[0]
    assert state.state == "broken"
    assert "an answer packed as 'gzip', which was not asked for" in (state.reason or "")
    assert server.asked_for == "identity"  # type: ignore[attr-defined]
