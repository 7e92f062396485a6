"""A site for tests: the routes in process, or a real server on a free port."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx

from goalwright.interfaces.web.app import make_app
from goalwright.interfaces.web.guard import Hosts
from goalwright.interfaces.web.serve import WebServer, bind
from goalwright.interfaces.web.site import Site

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.fakes import ScriptedModel

TOKEN = "a-token-for-tests"
PORT = 8420


def client(site: Site, token: str = TOKEN) -> httpx.AsyncClient:
    """A client of the routes in this process."""
    app = make_app(site, TOKEN, Hosts("127.0.0.1", PORT))
    headers = {"authorization": f"Bearer {token}"}
    transport = httpx.ASGITransport(app)
    return httpx.AsyncClient(transport=transport, base_url=f"http://127.0.0.1:{PORT}/api", headers=headers)


@asynccontextmanager
async def asking(workspace: Path, model: ScriptedModel | None = None, **flags: Any) -> AsyncIterator[httpx.AsyncClient]:
    """The routes of a workspace, with one model under every name."""
    site = make_site(workspace, model, **flags)
    try:
        async with client(site) as asked:
            yield asked
    finally:
        await site.close()


def make_site(workspace: Path, model: ScriptedModel | None = None, *, read_only: bool = False) -> Site:
    if model is None:
        return Site(workspace, read_only=read_only)
    return Site(
        workspace, {"model": "scripted", "allow_unknown_cost": True}, read_only=read_only, open_model=lambda _: model
    )


@dataclass(frozen=True)
class Event:
    """One event of a stream."""

    id: str
    type: str
    data: Any


async def events(response: httpx.Response) -> AsyncIterator[Event]:
    """The events of a stream, without comments."""
    fields: dict[str, str] = {}
    async for line in response.aiter_lines():
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
            continue
        if "data" in fields:
            yield Event(fields.get("id", ""), fields.get("event", ""), json.loads(fields["data"]))
        fields = {}


@asynccontextmanager
async def serving(site: Site) -> AsyncIterator[tuple[WebServer, httpx.AsyncClient]]:
    """A real server on a free port, and a client with its token."""
    server = WebServer(site, bind("127.0.0.1", 0, allow_remote=False), lambda: None)
    address, _, token = server.address.partition("/#token=")
    task = asyncio.ensure_future(server.run_to_end())
    headers = {"authorization": f"Bearer {token}"}
    try:
        async with httpx.AsyncClient(base_url=f"{address}/api", headers=headers, timeout=120) as asked:
            yield server, asked
    finally:
        server.end()
        await task
