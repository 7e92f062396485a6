"""Hostile and broken MCP servers: every failure is a clear envelope, and nothing leaks."""

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


def open_server(folder: Path, mode: str, **fields: object) -> McpServers:
    """Open a trusted server in a hostile mode."""
    configure(folder, small=small("--mode", mode, **fields))
    servers = open_servers(folder)
    servers.trust_all()
    return servers


async def add(servers: McpServers, artifacts: Path | None = None) -> Envelope:
    return await McpTool("mcp__small__add", "", {}, servers, artifacts).call({"a": 1, "b": 2})


async def test_oversized_message_ends_the_server(tmp_path: Path) -> None:
    servers = open_server(tmp_path, "flood")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with servers.held():
        flooded = await add(servers)
    assert flooded.error is not None
    assert flooded.error.code == "EXECUTION_ERROR"
    assert "sent a message of more than 16 MB, and was ended" in flooded.error.message
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert grown < 150, "a line of 24 MB is not stored"


async def test_server_cannot_set_reserved_keys_of_the_data(tmp_path: Path) -> None:
    servers = open_server(tmp_path, "artifacts")
    with servers.held():
        got = await add(servers, tmp_path / "kept")
    assert got.status == "partial"
    assert [row["path"] for row in got.data["artifacts"]] == [got.data["artifact"].rpartition("/")[2]]
    assert "changes" not in got.data
    assert [row.get("id") for row in got.data["output"]["artifacts"]] == [7, None]


async def test_server_that_reads_no_answers_is_ended(tmp_path: Path) -> None:
    servers = open_server(tmp_path, "pushy")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with servers.held():
        asked = await add(servers)
    assert asked.error is not None
    assert "sent more than 1,000 requests without waiting for an answer, and was ended" in asked.error.message
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024 < 250


async def test_error_with_the_code_of_a_closed_connection_does_not_end_the_server(tmp_path: Path) -> None:
    servers = open_server(tmp_path, "busy")
    with servers.held():
        refused = [await add(servers) for _ in range(2)]
    for envelope in refused:
        assert envelope.error is not None
        assert "refused the request: too busy" in envelope.error.message
    starts = (tmp_path / "starts.txt").read_text(encoding="utf-8").split()
    assert len(starts) == 2, "one start to list tools, one for both calls"


async def test_garbage_and_chatter_are_not_printed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    garbled = open_server(tmp_path / "a", "garbage")
    with garbled.held():
        lost = await add(garbled)
    assert lost.error is not None
    assert "lines that are not protocol messages" in lost.error.message
    chatty = open_server(tmp_path / "b", "chatter")
    with chatty.held():
        assert (await add(chatty)).text == "through"
    assert capfd.readouterr() == ("", "")


async def test_sampling_and_elicitation_without_a_person_are_declined(tmp_path: Path) -> None:
    curious = open_server(tmp_path, "curious")
    with curious.held():
        assert (await add(curious)).text == "error {'action': 'decline'}"


async def test_control_characters_and_invalid_parts_become_plain_text(tmp_path: Path) -> None:
    servers = open_server(tmp_path / "a", "controls")
    with servers.held():
        cleaned = await add(servers)
    assert cleaned.text == "\ufffd[2Jcleared\ufffd \ufffd31m and \ufffd"
    odd = open_server(tmp_path / "b", "shapes")
    with odd.held():
        got = await add(odd, tmp_path / "b" / "kept")
    assert got.text.endswith("kept")
    assert "cannot be decoded" in got.text
    (kept,) = got.data["files"]
    assert kept["path"].startswith(str(tmp_path / "b" / "kept" / "mcp__small__add-"))
    assert kept["path"].endswith(".bin")
    assert [file.name for file in (tmp_path / "b" / "kept").iterdir()] == [kept["path"].rpartition("/")[2]]


def test_hostile_tool_names_are_made_safe_and_unique(tmp_path: Path) -> None:
    offer = open_server(tmp_path, "names").offer()
    names = [tool.name for tool in offer.tools]
    assert names[:2] == ["mcp__small__Skill", "mcp__small__a_b"]
    assert len(names) == len(set(names))
    assert all(len(name) <= 64 and name.isascii() and name.isprintable() for name in names)
    assert "mcp__small__evil__2J" in names
    evil = next(tool for tool in offer.tools if tool.name == "mcp__small__evil__2J")
    assert evil.description == "Clears [2J the screen."
    warnings = " ".join(offer.warnings)
    assert "'a b'" in warnings
    assert "mcp__small__big is dropped" in warnings


def test_invalid_tool_list_is_refused_completely(tmp_path: Path) -> None:
    servers = open_server(tmp_path, "shape")
    (state,) = servers.checked()[0]
    assert "broke the protocol" in (state.reason or "")
    listed = tool_list("s", [{"name": "t", "inputSchema": {"type": [], "properties": {"a": True}, "required": "a"}}])
    assert listed.tools[0].parameters == {"type": "object", "properties": {"a": {}}}


async def test_silent_and_stubborn_servers_are_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from goalwright_skills.mcp.connections import transport

    monkeypatch.setattr(transport, "_GRACE", 0.4)
    stubborn = open_server(tmp_path / "b", "stubborn")
    with stubborn.held():
        assert (await add(stubborn)).text == "3"
    pid = int((tmp_path / "b" / "starts.txt").read_text(encoding="utf-8").split()[-1])
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    monkeypatch.setattr(session, "START_TIMEOUT", 5.0)
    began = time.monotonic()
    deaf = open_server(tmp_path / "a", "deaf")
    (state,) = deaf.checked()[0]
    assert "did not answer within 5 s" in (state.reason or "")
    assert time.monotonic() - began < 30, "it sleeps for a minute"
    deaf.offer()
    assert len((tmp_path / "a" / "starts.txt").read_text(encoding="utf-8").split()) == 1, "it is not started again"


def test_last_output_of_a_server_is_redacted(tmp_path: Path) -> None:
    script = "import os, sys; print('bad token', os.environ['TOKEN'], file=sys.stderr); sys.exit(1)"
    configure(tmp_path, small={"command": "python3", "args": ["-c", script], "env": {"TOKEN": "hunter2-hunter2"}})
    servers = open_servers(tmp_path)
    servers.trust_all()
    (state,) = servers.checked()[0]
    assert state.reason is not None
    assert "ended; its last output: bad token ***" in state.reason


@pytest.mark.parametrize("code", [-32603, -32000])
def test_refusal_to_start_has_a_reason(tmp_path: Path, code: int) -> None:
    (state,) = open_server(tmp_path, f"refusing{code}", env={"TOKEN": "hunter2-hunter2"}).checked()[0]
    reason = state.reason or ""
    assert reason.startswith("the MCP server 'small' refused to start: license  [2Jof *** expired again")
    assert len(reason) < 500


class Compressing(BaseHTTPRequestHandler):
    """Answers every request with 64 KB that decompress to 64 MB."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.accepted = self.headers["Accept-Encoding"]  # type: ignore[attr-defined]
        body = gzip.compress(b" " * (64 * 1024 * 1024))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with suppress(OSError):
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Do not log."""


def test_compressed_http_answer_is_refused(tmp_path: Path) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Compressing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        configure(tmp_path, far={"type": "http", "url": f"http://127.0.0.1:{server.server_port}/mcp"})
        servers = open_servers(tmp_path)
        servers.trust_all()
        server.shutdown()
    (state,) = servers.checked()[0]
    assert state.state == "broken"
    assert "the answer has the content encoding 'gzip', which was not requested" in (state.reason or "")
    assert server.accepted == "identity"  # type: ignore[attr-defined]
