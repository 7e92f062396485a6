"""Every route refuses a wrong host, another site, and a missing or wrong token, over real HTTP."""

from __future__ import annotations

import http.client
import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx
import pytest

from goalwright.interfaces.web.app import ROUTES, make_app
from goalwright.interfaces.web.guard import POLICY, Hosts
from tests.goalwright.interfaces.web.served import PORT, TOKEN, client, make_site, serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

PATHS = [(one.method, "/api" + re.sub(r"\{[^}]*\}", "x", one.path)) for one in ROUTES]


def changing() -> list[tuple[str, str]]:
    return [(one.method, "/api" + re.sub(r"\{[^}]*\}", "x", one.path)) for one in ROUTES if one.changes]


@asynccontextmanager
async def stranger(workspace: Path) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a workspace's routes that sends only the given headers."""
    site = make_site(workspace)
    transport = httpx.ASGITransport(make_app(site, TOKEN, Hosts("127.0.0.1", PORT)))
    async with httpx.AsyncClient(transport=transport, base_url=f"http://127.0.0.1:{PORT}") as asked:
        yield asked
    await site.close()


@pytest.mark.parametrize(("method", "path"), [*PATHS, ("GET", "/"), ("GET", "/runs/x")])
async def test_every_route_refuses_a_rebound_host_and_another_site(workspace: Path, method: str, path: str) -> None:
    right = {"authorization": f"Bearer {TOKEN}"}
    async with stranger(workspace) as asked:
        for wrong, status in [
            ({"host": "evil.example"}, 421), ({"host": f"evil.example:{PORT}"}, 421), ({"host": "127.0.0.1:1"}, 421),
            ({"host": "127.0.0.1"}, 421), ({"origin": "http://evil.example"}, 403), ({"origin": "null"}, 403),
            ({"origin": f"https://127.0.0.1:{PORT}"}, 403), ({"origin": "http://127.0.0.1:8421"}, 403),
            ({"sec-fetch-site": "cross-site"}, 403), ({"sec-fetch-site": "same-site"}, 403),
        ]:  # fmt: skip
            response = await asked.request(method, path, headers=right | wrong)
            assert (response.status_code, wrong) == (status, wrong)
            assert response.headers["content-security-policy"] == POLICY


@pytest.mark.parametrize(("method", "path"), PATHS)
async def test_every_route_needs_the_token(workspace: Path, method: str, path: str) -> None:
    async with stranger(workspace) as asked:
        for given in ({}, {"authorization": ""}, {"authorization": "Bearer wrong"}, {"authorization": TOKEN},
                      {"authorization": f"Basic {TOKEN}"}, {"cookie": f"token={TOKEN}"}):  # fmt: skip
            response = await asked.request(method, path, headers=given)
            assert (response.status_code, response.json()["error"]["code"]) == (401, "NO_TOKEN")
        assert (await asked.request(method, f"{path}?token={TOKEN}")).status_code == 401


@pytest.mark.parametrize(("method", "path"), changing())
async def test_read_only_removes_every_changing_route(workspace: Path, method: str, path: str) -> None:
    site = make_site(workspace, read_only=True)
    async with client(site) as asked:
        response = await asked.request(method, path.removeprefix("/api"), json={"goal": "x"})
    assert response.status_code in (404, 405)
    assert "error" in response.json()
    await site.close()


async def test_every_response_has_the_content_policy_and_no_cors_header(workspace: Path) -> None:
    right = {"authorization": f"Bearer {TOKEN}"}
    async with stranger(workspace) as asked:
        for path, headers in [
            ("/", {}),
            ("/nothing.js", {}),
            ("/api/runs", {}),
            ("/api/runs", right),
            ("/api/x", right),
        ]:
            response = await asked.get(path, headers=headers | {"origin": f"http://127.0.0.1:{PORT}"})
            assert response.headers["content-security-policy"] == POLICY
            assert response.headers["x-content-type-options"] == "nosniff"
            assert response.headers["referrer-policy"] == "no-referrer"
            assert response.headers["cross-origin-opener-policy"] == "same-origin"
            assert response.headers["cross-origin-resource-policy"] == "same-origin"
            assert not [name for name in response.headers if name.startswith("access-control")]
            assert "set-cookie" not in response.headers
            assert "server" not in response.headers
            assert (response.headers.get("cache-control") == "no-store") is path.startswith("/api")


async def test_a_preflight_of_another_site_is_refused(workspace: Path) -> None:
    headers = {"origin": "http://evil.example", "access-control-request-method": "DELETE"}
    async with stranger(workspace) as asked:
        assert (await asked.options("/api/runs/x", headers=headers)).status_code == 403


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
async def test_content_types_of_html_forms_are_refused(workspace: Path, kind: str) -> None:
    site = make_site(workspace)
    async with client(site) as asked:
        response = await asked.post("/runs", content=b'{"goal": "x"}', headers={"content-type": kind})
    assert (response.status_code, response.json()["error"]["code"]) == (415, "WRONG_TYPE")
    await site.close()


@pytest.mark.parametrize(
    ("host", "port", "served", "refused"),
    [
        ("127.0.0.1", 8420, ["127.0.0.1:8420", "LOCALHOST:8420", "[::1]:8420"], ["", "localhost", "127.0.0.2:8420"]),
        ("192.168.1.5", 8420, ["192.168.1.5:8420", "localhost:8420"], ["192.168.1.6:8420", "a.example:8420"]),
        ("0.0.0.0", 8420, ["10.0.0.7:8420", "[fe80::1]:8420"], ["10.0.0.7:80", "10.0.0.7", "10.0.0.7.example:8420"]),  # noqa: S104
        ("127.0.0.1", 80, ["localhost", "localhost:80"], ["localhost:8420"]),
    ],
)
def test_only_hosts_that_cannot_be_rebound_are_served(
    host: str, port: int, served: list[str], refused: list[str]
) -> None:
    hosts = Hosts(host, port)
    assert [name for name in served if name not in hosts] == []
    assert [name for name in refused if name in hosts] == []


async def test_the_real_server_refuses_two_hosts_and_hides_its_name(workspace: Path) -> None:
    async with serving(make_site(workspace)) as (server, asked):
        place = urlsplit(server.address)

        def raw(*headers: str) -> tuple[int, str]:
            connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=120)
            connection.putrequest("GET", "/api/runs", skip_host=True)
            for header in headers:
                connection.putheader(*header.split(": "))
            connection.endheaders()
            reply = connection.getresponse()
            text = str(reply.headers) + reply.read().decode()
            connection.close()
            return reply.status, text

        import asyncio

        token = place.fragment.removeprefix("token=")
        bearer = f"Authorization: Bearer {token}"
        assert len(token) >= 43
        status, text = await asyncio.to_thread(raw, f"Host: {place.netloc}", bearer)
        assert (status, "uvicorn" in text.lower()) == (200, False)
        assert (await asyncio.to_thread(raw, f"Host: {place.netloc}", "Host: evil.example", bearer))[0] in (400, 421)
        assert (await asyncio.to_thread(raw, bearer))[0] in (400, 421)
        assert (await asked.get("/runs")).status_code == 200
