"""A resource of an MCP server, read by its server's name and its uri: what `@server:uri` stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright_skills.mcp.resources import READ_RESOURCE

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.workspace.tools import WorkspaceTools
    from goalwright_skills.tools.envelope import Envelope


async def read_resource(tools: WorkspaceTools, server: str, uri: str, artifacts: Path | None = None) -> Envelope:
    """What a trusted server has under a uri: text as `text`, other files among the artifacts; a failure is an envelope.

    The server is started if need be, and ends with what holds `tools`.
    """
    from goalwright_skills.mcp.tool import McpTool

    return await McpTool(READ_RESOURCE, "", {}, tools.mcp, artifacts, tools.disk).read(server, uri)
