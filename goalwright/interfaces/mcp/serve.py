"""Serves MCP on stdin and stdout, where nothing else may write, or as streamable HTTP on loopback."""

from __future__ import annotations

from contextlib import asynccontextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from goalwright.interfaces.mcp.goal_tools import GoalTools
from goalwright.interfaces.serving import until_left
from goalwright.models.litellm import lifecycle
from goalwright_skills.errors import SetupError

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncIterator, Awaitable, Callable

    from goalwright.runs.runtime import Goalwright

_GRACE = 2  # seconds for open requests at the end


@asynccontextmanager
async def opened(goalwright: Goalwright, *, allow_approvals: bool = False) -> AsyncIterator[tuple[Any, GoalTools]]:
    """Yield the server of the `mcp` package and its tools."""
    try:
        from goalwright.interfaces.mcp import protocol
    except ImportError as error:
        raise SetupError(
            "`goalwright mcp serve` needs the package mcp", hint="pip install 'goalwright[mcp]'"
        ) from error
    tools = GoalTools(goalwright, allow_approvals)
    server = protocol.build(tools)
    lifecycle.preload()
    yield server, tools


async def serve(goalwright: Goalwright, *, allow_approvals: bool = False) -> list[str]:
    """Serve until the client disconnects or a signal arrives; returns the ids of the interrupted runs."""
    async with opened(goalwright, allow_approvals=allow_approvals) as (server, tools):
        return await until_left(server.run_stdio_async(), tools.close)


async def serve_http(
    goalwright: Goalwright, listening: socket.socket, guard: Callable[[Any], Any], *, allow_approvals: bool = False
) -> list[str]:
    """Serve streamable HTTP at `/mcp` until a signal arrives; `guard` wraps the application with authentication."""
    async with opened(goalwright, allow_approvals=allow_approvals) as (server, tools):
        return await over_http(server, tools.close, listening, guard)


async def over_http(
    server: Any, close: Callable[[], Awaitable[list[str]]], listening: socket.socket, guard: Callable[[Any], Any]
) -> list[str]:
    """Serve a server of the `mcp` package over HTTP; returns the result of `close`."""
    import uvicorn
    from mcp.server.transport_security import TransportSecuritySettings

    # The guard checks Host and Origin, by the rules of `goalwright serve`.
    unguarded = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    app = server.streamable_http_app(transport_security=unguarded)
    config = uvicorn.Config(
        guard(app), log_level="warning", access_log=False, ws="none", lifespan="off", server_header=False,
        proxy_headers=False, timeout_graceful_shutdown=_GRACE,
    )  # fmt: skip
    web = uvicorn.Server(config)
    web.capture_signals = nullcontext  # type: ignore[method-assign, assignment]
    async with app.router.lifespan_context(app):
        try:
            return await until_left(web.serve(sockets=[listening]), close)
        finally:
            web.should_exit = True
