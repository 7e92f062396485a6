"""The built-in tools for resources and prompts: offered where a server has some."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft_skills.mcp.tool_list import ListedTool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft_skills.mcp.tool_list import ListedPrompt

LIST_RESOURCES = "ListResources"
READ_RESOURCE = "ReadResource"
GET_PROMPT = "GetPrompt"

_LIST = "List the resources (files, records, pages) that MCP servers have, with their uris; `server` names one server."
_PROMPT = "Instructions that an MCP server offers for a kind of work, with their arguments filled in. There are:"
_MOST_PROMPTS = 30
_LINE = 200
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


def prompt_name(prompt: ListedPrompt) -> str:
    """The name of a prompt among all servers."""
    return f"mcp:{prompt.server}:{prompt.name}"


def prompt_tools(prompts: Sequence[ListedPrompt]) -> tuple[ListedTool, ...]:
    """The tool that gets a prompt of a server; none if there are no prompts."""
    if not prompts:
        return ()
    shown = prompts[:_MOST_PROMPTS]
    name = {"type": "string", "enum": [prompt_name(prompt) for prompt in shown]}
    arguments = {"type": "object", "additionalProperties": {"type": "string"}}
    schema = {"type": "object", "properties": {"name": name, "arguments": arguments}, "required": ["name"]}
    text = "\n".join((_PROMPT, *(_line(prompt) for prompt in shown)))
    return (ListedTool(GET_PROMPT, "", GET_PROMPT, text, schema, read_only=True),)


def _line(prompt: ListedPrompt) -> str:
    needed, others = prompt.arguments[: prompt.required], prompt.arguments[prompt.required :]
    takes = ", ".join((*needed, *(f"{name} (optional)" for name in others)))
    said = " ".join(prompt.description.split())
    return f"- {prompt_name(prompt)}({takes}): {said}"[:_LINE]
