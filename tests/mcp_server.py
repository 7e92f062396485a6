"""An MCP server made with the package `mcp`: `python mcp_server.py [PORT]`; with a port it serves HTTP."""

from __future__ import annotations

import base64
import os
import sys
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, ImageContent, TextContent, ToolAnnotations

READ_ONLY = ToolAnnotations(read_only_hint=True)
PIXEL = base64.b64encode(b"\x89PNG pixels").decode()


def make() -> MCPServer[Any]:
    """Create the server with its tools."""
    server: MCPServer[Any] = MCPServer("packaged", log_level="ERROR")

    @server.tool(description="Adds two numbers.", annotations=READ_ONLY)
    def add(a: int, b: int) -> int:
        return a + b

    @server.tool(description="Tells a variable of its environment.", annotations=READ_ONLY)
    def tell(variable: str) -> str:
        return os.environ.get(variable, "not set")

    @server.tool(description="Draws a picture.", annotations=READ_ONLY)
    def draw() -> CallToolResult:
        picture = ImageContent(type="image", data=PIXEL, mime_type="image/png")
        return CallToolResult(content=[TextContent(type="text", text="a picture"), picture])

    @server.tool(description="Answers at length.", annotations=READ_ONLY)
    def ramble(characters: int) -> str:
        return "x" * characters

    @server.tool(description="Fails.")
    def fail() -> str:
        raise ToolError("no such customer")

    return server


if __name__ == "__main__":
    if len(sys.argv) > 1:
        make().run("streamable-http", port=int(sys.argv[1]))
    else:
        make().run("stdio")
