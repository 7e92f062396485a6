"""The proxy of a sandbox: forwarded requests, address checks, and hostile requests."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from typing import TYPE_CHECKING

import pytest
from aiohttp import web

from goalwright_skills.builtin.web import hosts
from goalwright_skills.builtin.web.box_proxy import BoxProxy
from goalwright_skills.builtin.web.hosts import AllowedHost

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
async def site() -> AsyncIterator[tuple[int, list[tuple[str, dict[str, str], str]]]]:
    """A site on loopback: its port, and the requests it received."""
    asked: list[tuple[str, dict[str, str], str]] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append((request.raw_path, dict(request.headers), await request.text()))
        return web.Response(text="served")

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield runner.addresses[0][1], asked
    await runner.cleanup()


async def _nowhere(host: str, _port: int) -> list[str]:
    raise OSError(f"{host} is unknown")


@contextlib.asynccontextmanager
async def opened(*allowed: str, find: hosts.Resolve = _nowhere) -> AsyncIterator[tuple[BoxProxy, int]]:
    """A proxy with a listening socket, as if a sandbox had passed it; and its port."""
    async with BoxProxy([AllowedHost.of(one) for one in allowed], find) as proxy:
        with socket.socket() as listening:
            listening.bind(("127.0.0.1", 0))
            listening.listen()
            socket.send_fds(proxy.inner, [b"l"], [listening.fileno()])
            yield proxy, listening.getsockname()[1]


async def ask(port: int, request: bytes, then: bytes = b"") -> str:
    """Return the response to a request, and to the data sent after it is accepted."""
    async with asyncio.timeout(60):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request)
        first = b""
        if then:
            first = await reader.readuntil(b"\r\n\r\n")
            writer.write(then)
        try:
            return (first + await reader.read()).decode()
        finally:
            writer.close()


def resolves(*found: str) -> tuple[hosts.Resolve, list[str]]:
    """A resolver with these answers in order, and the names that it was asked for."""
    asked: list[str] = []
    rest = list(found)

    async def find(host: str, _port: int) -> list[str]:
        asked.append(host)
        return [rest.pop(0)]

    return find, asked


async def test_proxy_headers_are_removed(
    site: tuple[int, list[tuple[str, dict[str, str], str]]],
) -> None:
    port, asked = site
    async with opened(f"127.0.0.1:{port}") as (proxy, at):
        head = f"POST http://127.0.0.1:{port}/a/b?c=d%20e HTTP/1.1\r\nHost: evil.example\r\nX-Mine: 1\r\n"
        more = "Proxy-Authorization: Basic c2VjcmV0\r\nConnection: keep-alive\r\nContent-Length: 4\r\n\r\nbody"
        answer = await ask(at, (head + more).encode())
        assert answer.startswith("HTTP/1.1 200 OK")
        assert answer.endswith("served")
        tunnel = await ask(
            at,
            f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n".encode(),
            b"GET /inside HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        )
        assert tunnel.startswith("HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 200 OK")
    path, headers, body = asked[0]
    assert (path, body, headers["Host"], headers["X-Mine"]) == ("/a/b?c=d%20e", "body", f"127.0.0.1:{port}", "1")
    assert "Proxy-Authorization" not in headers
    assert asked[1][0] == "/inside"
    assert (list(proxy.reached), list(proxy.refused)) == ([f"127.0.0.1:{port}"], [])


async def test_name_is_resolved_once_and_private_addresses_are_refused(
    site: tuple[int, list[tuple[str, dict[str, str], str]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    port, asked = site
    find, names = resolves("127.0.0.1", "10.0.0.1", "::1")
    async with opened(f"*.example.org:{port}", find=find) as (proxy, at):
        for name in ("a.example.org", "b.example.org", "c.example.org"):
            answer = await ask(at, f"CONNECT {name}:{port} HTTP/1.1\r\n\r\n".encode())
            assert answer.startswith("HTTP/1.1 403 Forbidden")
            assert f"{name} leads to a private address" in answer
        assert asked == []
        assert list(proxy.refused) == [f"{name}:{port}" for name in names]
    monkeypatch.setattr(hosts, "is_public", lambda _: True)  # so that the test can connect
    find, names = resolves("127.0.0.1", "10.0.0.1")
    async with opened(f"a.example.org:{port}", find=find) as (_, at):
        answer = await ask(at, f"GET http://a.example.org:{port}/x HTTP/1.1\r\nHost: a\r\n\r\n".encode())
        assert answer.startswith("HTTP/1.1 200 OK")
    assert names == ["a.example.org"], "the connection goes to the address that was checked"
    assert asked[0][1]["Host"] == f"a.example.org:{port}"


@pytest.mark.parametrize(
    ("request_of", "answer"),
    [
        (lambda _: "CONNECT example.org:443 HTTP/1.1", "403"),
        (lambda _: "CONNECT a.example.org.evil.test:443 HTTP/1.1", "403"),
        (lambda port: f"CONNECT localhost:{port} HTTP/1.1", "403"),
        (lambda port: f"CONNECT [::ffff:127.0.0.1]:{port} HTTP/1.1", "403"),
        (lambda port: f"CONNECT 2130706433:{port} HTTP/1.1", "403"),
        (lambda _: "CONNECT 169.254.169.254:80 HTTP/1.1", "403"),
        (lambda _: "GET http://evil.example/ HTTP/1.1", "403"),
        (lambda port: f"GET http://a.example.org@127.0.0.1:{port}/ HTTP/1.1", "400"),
        (lambda _: "GET /plain HTTP/1.1", "400"),
        (lambda _: "GET https://a.example.org/ HTTP/1.1", "400"),
        (lambda _: "GET ftp://a.example.org/ HTTP/1.1", "400"),
        (lambda _: "CONNECT a.example.org HTTP/1.1", "400"),
        (lambda _: "CONNECT a.example.org:99999 HTTP/1.1", "400"),
        (lambda _: "nonsense", "400"),
        (lambda _: "GET http://a.example.org/ HTTP/1.1\r\nX: 1\nHost: evil.example", "400"),
        (lambda _: "GET http://a.example.org/ HTTP/1.1\r\nX: 1\r\n folded", "400"),
        (lambda _: "CONNECT a.example.org:22 HTTP/1.1", "403"),
        (lambda _: "GET http://a.example.org:25/ HTTP/1.1", "403"),
        (lambda _: "CONNECT a.example.org:443 HTTP/1.1", "502"),
        (lambda _: f"GET http://a.example.org/{'x' * 100_000} HTTP/1.1", "502"),
    ],
)
async def test_forbidden_and_invalid_requests_are_refused(
    request_of: Callable[[int], str], answer: str, site: tuple[int, list[tuple[str, dict[str, str], str]]]
) -> None:
    port, asked = site
    async with opened("*.example.org") as (proxy, at):
        with contextlib.suppress(ConnectionResetError):  # a request that is too long is not read to its end
            got = await ask(at, f"{request_of(port)}\r\n\r\n".encode())
            assert got.startswith(f"HTTP/1.1 {answer} "), got
        assert list(proxy.reached) == []
    assert asked == []


async def test_connections_are_refused_behind_a_system_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    async with opened("*.example.org") as (_, at):
        answer = await ask(at, b"CONNECT a.example.org:443 HTTP/1.1\r\n\r\n")
    assert "403 Forbidden" in answer
    assert "through a proxy here" in answer


async def test_connections_end_with_the_block(site: tuple[int, list[tuple[str, dict[str, str], str]]]) -> None:
    port, _ = site
    async with opened(f"127.0.0.1:{port}") as (_, at):
        reader, writer = await asyncio.open_connection("127.0.0.1", at)
        writer.write(f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n".encode())
        await reader.readuntil(b"\r\n\r\n")
        silent, other = await asyncio.open_connection("127.0.0.1", at)
    async with asyncio.timeout(60):
        with contextlib.suppress(ConnectionResetError):
            assert await reader.read() == b""
        with contextlib.suppress(ConnectionResetError):
            assert await silent.read() == b""
    writer.close()
    other.close()


async def test_unused_proxy_closes_its_sockets() -> None:
    async with BoxProxy([]) as proxy:
        proxy.inner.send(b"x")
        await asyncio.sleep(0)
    async with BoxProxy([]) as proxy:
        proxy.inner.shutdown(socket.SHUT_RDWR)
        await asyncio.sleep(0)
    assert (proxy.reached, proxy.refused) == ({}, {})
