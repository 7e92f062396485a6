"""MCP servers over HTTP: listed with their trust and the command that grants it; nothing is started or revealed."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from tests.goalwright.interfaces.web.served import asking
from tests.mcp_workspace import configure, small, starts

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


async def test_servers_are_listed_with_their_trust_command_and_not_started(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ISSUES_TOKEN", "tok-0123456789abcdef")
    evil = "x'; touch gone #"
    configure(
        workspace,
        files=small(env={"KEY": "${ISSUES_TOKEN}"}),
        issues={"type": "http", "url": "https://me:pw-secret@mcp.example:8443/v1?key=in-the-address"},
        off=small(disabled=True),
        odd={"type": "http", "url": "https://mcp.example:port/"},
        wrong={"type": "sse"},
        **{evil: small()},
    )
    async with asking(workspace) as asked:
        reply = await asked.get("/mcp")
        found = {one["name"]: one for one in reply.json()["servers"]}
        states = {name: one["state"] for name, one in found.items()}
        assert (states.pop("off"), states.pop("wrong")) == ("disabled", "broken")
        assert set(states.values()) == {"untrusted"}
        assert found["files"]["command"] == "goalwright mcp check --trust -- files"
        assert found["files"]["variables"][0]["name"] == "ISSUES_TOKEN"
        assert shlex.split(found[evil]["command"])[-1] == evil
        assert found["off"]["command"] is None
        assert found["issues"]["starts"] == "https://mcp.example:8443/v1"
        assert not any(secret in reply.text for secret in ("tok-0123", "pw-secret", "in-the-address"))
        assert (await asked.post("/mcp", json={})).status_code == 404
    assert starts(workspace) == 0


async def test_a_workspace_without_servers_has_an_empty_list(workspace: Path) -> None:
    async with asking(workspace) as asked:
        assert (await asked.get("/mcp")).json() == {"servers": [], "warnings": []}
