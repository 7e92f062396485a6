"""Logins at MCP servers: stored for the user alone, refreshed, and never sent to a hostile server."""

from __future__ import annotations

import asyncio
import json
import os
import stat
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from goalwright_skills.mcp.authorisation.addresses import LoginAddresses
from goalwright_skills.mcp.authorisation.callback import Callback
from goalwright_skills.mcp.connections import http_transport
from goalwright_skills.mcp.entry import McpFault
from goalwright_skills.mcp.servers import McpServers
from goalwright_skills.mcp.tools import McpTool
from goalwright_skills.programs.trust import Trust
from tests.oauth_server import ACCESS, REFRESH, REFRESHED, OAuthServer, browse

if TYPE_CHECKING:
    from pathlib import Path


def open_server(folder: Path, url: str, **entry: Any) -> McpServers:
    """Return the servers of a user with one HTTP server."""
    folder.mkdir(exist_ok=True, parents=True)
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": {"guarded": {"type": "http", "url": url, **entry}}}))
    trust = Trust(folder / "trust.json")
    logins = folder / "data" / "logins"
    return McpServers(folder, folder / "mcp.json", folder / "cache", trust, dict(os.environ), logins=logins)


async def open_page(url: str) -> None:
    """Follow the redirects of a login, as a browser does."""
    asyncio.get_running_loop().run_in_executor(None, browse, url)


def log_in(servers: McpServers, seconds: float = 60.0) -> bool:
    return servers.log_in(servers.states()[0][0].entry, open_page, seconds)


async def call_look(servers: McpServers) -> Any:
    return await McpTool("mcp__guarded__look", "", {}, servers).call({})


def test_login_lists_tools_and_only_the_user_can_read_its_tokens(tmp_path: Path) -> None:
    with OAuthServer() as server:
        servers = open_server(tmp_path, server.url)
        refused = servers.refresh(servers.states()[0][0].entry)
        assert refused.state == "login"
        assert "goalwright mcp login guarded" in (refused.reason or "")
        assert log_in(servers)
        with servers.held():
            state = servers.refresh(refused.entry)
            assert (state.state, state.login, [tool.tool for tool in state.tools]) == ("active", "active", ["look"])
            assert asyncio.run(call_look(servers)).text == "the answer"
        (file,) = (tmp_path / "data" / "logins").iterdir()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
        (register,) = server.asked("/register")
        assert register["redirect_uris"][0].startswith("http://127.0.0.1:")
        assert server.asked("/authorize")[0]["code_challenge_method"] == "S256"
        resources = [query["resource"] for path in ("/authorize", "/token") for query in server.asked(path)]
        assert resources == [server.url, server.url], "tokens are requested for this server alone"
        others = [path for path in tmp_path.rglob("*") if path.is_file() and path != file]
        assert others
        assert not [path for path in others if ACCESS.encode() in path.read_bytes()]


def test_expired_token_is_refreshed_and_a_stale_login_must_be_repeated(tmp_path: Path) -> None:
    with OAuthServer(expires_in=1) as server:
        servers = open_server(tmp_path, server.url)
        assert log_in(servers)
        file = servers.login_file(servers.states()[0][0].entry)
        assert file is not None
        file.save(expires=1.0)
        again = open_server(tmp_path, server.url)
        with again.held():
            assert again.refresh(again.states()[0][0].entry).state == "active"
        assert server.asked("/token")[-1]["grant_type"] == "refresh_token"
        tokens = file.load()["tokens"]
        assert (tokens["access_token"], tokens["refresh_token"]) == (REFRESHED, REFRESH)
        server.traps.add("stale")
        server.tokens.clear()
        later = open_server(tmp_path, server.url)
        with later.held():
            state = later.refresh(later.states()[0][0].entry)
        assert state.state == "login"
        assert open_server(tmp_path, server.url).states()[0][0].login == "needed"


def test_token_in_a_servers_answer_is_redacted(tmp_path: Path) -> None:
    with OAuthServer("repeating", tool=lambda sent: f"you sent {sent}") as server:
        servers = open_server(tmp_path, server.url)
        assert log_in(servers)
        with servers.held():
            (listed,) = servers.refresh(servers.states()[0][0].entry).tools
            assert listed.description == "Look it up with Bearer ***"
            assert asyncio.run(call_look(servers)).text == "you sent Bearer ***"


def test_token_is_not_sent_to_another_url(tmp_path: Path) -> None:
    with OAuthServer() as server, OAuthServer() as other:
        servers = open_server(tmp_path, server.url)
        assert log_in(servers)
        moved = open_server(tmp_path, other.url)
        assert moved.refresh(moved.states()[0][0].entry).state == "login"
        assert not [request for request in other.asked("/mcp") if request["authorization"]]


@pytest.mark.parametrize("trap", ["issuer", "resource", "redirect", "script", "plain", "refuse"])
def test_hostile_authorisation_server_gets_no_token_request(tmp_path: Path, trap: str) -> None:
    with OAuthServer(trap) as server:
        servers = open_server(tmp_path, server.url)
        with pytest.raises(McpFault, match="no login at the MCP server 'guarded'"):
            log_in(servers)
        assert not server.asked("/token")
        assert servers.states()[0][0].login == "none"


@pytest.mark.parametrize("trap", ["endless", "slow", "huge"])
def test_endless_slow_and_huge_answers_end_a_login(tmp_path: Path, trap: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_transport, "_LOGIN_SECONDS", 5.0)
    with OAuthServer(trap) as server:
        servers = open_server(tmp_path, server.url)
        with pytest.raises(McpFault, match=r"did not answer within|answered with more than"):
            log_in(servers, 120)
        assert servers.states()[0][0].login == "none"


@pytest.mark.parametrize(
    ("url", "server", "reason"),
    [
        ("http://example.com/token", "https://mcp.example.com", "not encrypted"),
        ("http://127.0.0.1:8080/admin", "https://8.8.8.8/mcp", "private address"),
        ("file:///etc/passwd", "https://mcp.example.com", "cannot be used"),
        ("https://user:pass@example.com/", "https://mcp.example.com", "cannot be used"),
    ],
)
def test_login_refuses_unencrypted_private_and_invalid_addresses(url: str, server: str, reason: str) -> None:
    with pytest.raises(McpFault, match=reason):
        LoginAddresses(server, lambda _: ["93.184.215.14"]).check(url)


@pytest.mark.parametrize("answers", [["10.0.0.1"], ["93.184.215.14", "127.0.0.1"], ["::ffff:169.254.169.254"]])
def test_name_that_resolves_to_a_private_address_is_refused(answers: list[str]) -> None:
    names = {"mcp.example": ["93.184.215.14"], "login.example": answers}
    with pytest.raises(McpFault, match=r"https://login\.example, which is a private address"):
        LoginAddresses("https://mcp.example/mcp", names.__getitem__).check("https://login.example/token")


async def test_connections_use_the_address_that_was_checked() -> None:
    answers = {"mcp.example": ["93.184.215.14", "127.0.0.1"], "login.example": ["93.184.215.15", "127.0.0.1"]}
    connected: list[tuple[str, str, str]] = []

    class Connections(httpx2.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            connected.append((request.url.host, request.headers["host"], request.extensions["sni_hostname"]))
            return httpx2.Response(200, content=b"{}")

    addresses = LoginAddresses("https://mcp.example/mcp", lambda name: [answers[name].pop(0)])
    transport = http_transport.BoundedTransport(addresses, Connections)
    for url in ("https://mcp.example/mcp", "https://login.example/token", "https://mcp.example/mcp"):
        await transport.handle_async_request(httpx2.Request("GET", url))
    assert connected == [
        ("93.184.215.14", "mcp.example", "mcp.example"),
        ("93.184.215.15", "login.example", "login.example"),
        ("93.184.215.14", "mcp.example", "mcp.example"),
    ]
    with pytest.raises(McpFault, match="private address"):  # the name now resolves to another address
        await transport.handle_async_request(httpx2.Request("POST", "https://login.example/token"))


def test_redirecting_token_endpoint_does_not_forward_the_code(tmp_path: Path) -> None:
    with OAuthServer() as other, OAuthServer("moved-token") as server:
        server.elsewhere = other.origin
        servers = open_server(tmp_path, server.url)
        with pytest.raises(McpFault, match="no login at the MCP server 'guarded'"):
            log_in(servers)
        assert server.asked("/token")
        assert other.seen == []
        assert servers.states()[0][0].login == "none"


async def test_callback_without_the_state_cannot_end_a_login() -> None:
    async with Callback() as callback:
        callback.state = "ours"
        assert await asyncio.to_thread(browse, f"{callback.address}?code=theirs&state=other") == 400
        assert await asyncio.to_thread(browse, f"{callback.address}?code=theirs") == 400
        assert await asyncio.to_thread(browse, f"{callback.address}?code=good&state=ours") == 200
        assert (await callback.answer())["code"] == "good"
        assert await asyncio.to_thread(browse, f"{callback.address}?code=late&state=ours") == 400


def test_entry_with_its_own_authorization_header_never_logs_in(tmp_path: Path) -> None:
    with OAuthServer() as server:
        server.tokens.add("given-by-hand-0123")
        servers = open_server(tmp_path, server.url, headers={"Authorization": "Bearer given-by-hand-0123"})
        with servers.held():
            assert servers.refresh(servers.states()[0][0].entry).state == "active"
        assert not server.asked("/register")


def test_login_file_that_is_a_link_or_readable_by_others_is_ignored(tmp_path: Path) -> None:
    with OAuthServer() as server:
        servers = open_server(tmp_path, server.url)
        assert log_in(servers)
        file = servers.login_file(servers.states()[0][0].entry)
        assert file is not None
        file.path.chmod(0o644)
        assert servers.states()[0][0].login == "none"
        file.path.chmod(0o600)
        file.path.rename(tmp_path / "elsewhere")
        file.path.symlink_to(tmp_path / "elsewhere")
        assert servers.states()[0][0].login == "none"
