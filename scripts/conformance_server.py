"""`goalwright mcp serve --http` for the MCP conformance suite, with the tools that the suite calls.

The suite sends no token, so it is added to requests without one. Prints the address and serves an empty workspace.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import conformance_tools

from goalwright.interfaces.mcp.serve import opened, over_http
from goalwright.interfaces.web.guard import Guard, Hosts
from goalwright.interfaces.web.serve import bind
from goalwright.runs.runtime import Goalwright
from goalwright.settings.settings import Settings

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

_TOKEN = "of-the-suite"  # noqa: S105 - it guards an empty folder


def main() -> int:
    """Serve until terminated."""
    listening = bind("127.0.0.1", 0, allow_remote=False)
    port = listening.getsockname()[1]

    def guard(app: Any) -> Any:
        inner = Guard(app, _TOKEN, Hosts("127.0.0.1", port), private="/")

        async def with_token(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] == "http" and not any(name == b"authorization" for name, _ in scope["headers"]):
                scope = {**scope, "headers": [*scope["headers"], (b"authorization", f"Bearer {_TOKEN}".encode())]}
            await inner(scope, receive, send)

        return with_token

    with tempfile.TemporaryDirectory() as name:
        print(f"http://127.0.0.1:{port}/mcp", flush=True)
        asyncio.run(serve(Goalwright(Path(name), Settings()), listening, guard))
    return 0


async def serve(goalwright: Goalwright, listening: socket.socket, guard: Callable[[Any], Any]) -> None:
    """Serve goalwright's tools and the suite's."""
    async with opened(goalwright) as (server, tools):
        conformance_tools.add_to(server)
        await over_http(server, tools.close, listening, guard)


if __name__ == "__main__":
    sys.exit(main())
