"""The MCP servers that a client brings for a session, as a configuration has them; they are never written to disk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp.schema import HttpMcpServer, McpServerStdio, SseMcpServer

if TYPE_CHECKING:
    from collections.abc import Sequence


def document_of(servers: Sequence[Any]) -> dict[str, Any] | None:
    """The servers in the form of `.mcp.json`; None if there are none."""
    rows = {server.name: row for server in servers if (row := _row(server)) is not None}
    return {"mcpServers": rows} if rows else None


def _row(server: Any) -> dict[str, Any] | None:
    if isinstance(server, McpServerStdio):
        env = {variable.name: variable.value for variable in server.env}
        return {"command": server.command, "args": list(server.args), "env": env}
    if isinstance(server, HttpMcpServer | SseMcpServer):
        headers = {header.name: header.value for header in server.headers}
        return {"type": server.type, "url": server.url, "headers": headers}
    return None
