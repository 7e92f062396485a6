"""The built-in tools for resources: offered where a server has some."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright_skills.mcp.tool_list import ListedTool

if TYPE_CHECKING:
    from collections.abc import Sequence

LIST_RESOURCES = "ListResources"
READ_RESOURCE = "ReadResource"

_LIST = "List the resources (files, records, pages) that MCP servers have, with their uris; `server` names one server."
_READ = "Read a resource of an MCP server by its uri, as ListResources or a tool of the server gave it."


def resource_tools(servers: Sequence[str]) -> tuple[ListedTool, ...]:
    """The tools that list and read the resources of these servers; none if there are no servers."""
    if not servers:
        return ()
    server = {"type": "string", "enum": list(servers), "description": "The server's name"}
    uri = {"type": "string", "description": "The uri of the resource"}
    listing = {"type": "object", "properties": {"server": server}}
    reading = {"type": "object", "properties": {"server": server, "uri": uri}, "required": ["server", "uri"]}
    return (
        ListedTool(LIST_RESOURCES, "", LIST_RESOURCES, _LIST, listing, read_only=True),
        ListedTool(READ_RESOURCE, "", READ_RESOURCE, _READ, reading, read_only=True),
    )
