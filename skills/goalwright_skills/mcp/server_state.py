"""The state of a server, and the tools and prompts of all active servers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from goalwright_skills.errors import InputError
from goalwright_skills.mcp.tool_list import ListedTool
from goalwright_skills.text.formatting import nearest_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright_skills.mcp.authorisation.tokens import LoginState
    from goalwright_skills.mcp.entry import ServerEntry
    from goalwright_skills.mcp.tool_list import ListedPrompt

LIST_RESOURCES = "ListResources"
READ_RESOURCE = "ReadResource"
_LIST = "List the resources (files, records, pages) of MCP servers with their URIs; `server` limits it to one server."
_READ = "Read a resource of an MCP server by its URI, as returned by ListResources or a tool of the server."

Status = Literal["active", "untrusted", "changed", "disabled", "broken", "login"]


@dataclass(frozen=True, slots=True)
class ServerState:
    """The state of a server, and the reason if its tools are not offered; `key` is the hash of its entry."""

    entry: ServerEntry
    state: Status
    reason: str | None = None
    tools: tuple[ListedTool, ...] = ()
    key: str = ""
    warnings: tuple[str, ...] = ()
    login: LoginState = "none"
    prompts: tuple[ListedPrompt, ...] = ()
    resources: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the row that `mcp list --json` prints."""
        tools = [tool.name for tool in self.tools]
        row = {"name": self.entry.name, "source": self.entry.source, "state": self.state}
        return row | {"reason": self.reason, "tools": tools}


def select(states: Sequence[ServerState], names: Sequence[str]) -> list[ServerState]:
    """Return the servers of these names, or all without names; raises InputError for an unknown name."""
    servers = [state.entry.name for state in states]
    for name in names:
        if name not in servers:
            message = f"there is no MCP server {name!r}; servers are: {nearest_names(name, servers)}"
            raise InputError(message, hint="`goalwright mcp list` shows them")
    return [state for state in states if not names or state.entry.name in names]


@dataclass(frozen=True, slots=True)
class ToolOffer:
    """The tools and prompts of all servers, in the order of their files, and warnings."""

    tools: tuple[ListedTool, ...] = ()
    warnings: tuple[str, ...] = ()
    prompts: tuple[ListedPrompt, ...] = ()


def merge_offers(states: Sequence[ServerState], warnings: Sequence[str]) -> ToolOffer:
    """Return the tools and prompts of the active servers; the first tool of a name wins."""
    messages = list(warnings)
    tools: dict[str, ListedTool] = {}
    for state in states:
        if state.state in ("untrusted", "changed", "login") or (state.state == "broken" and not state.entry.fault):
            messages.append(f"the tools of the MCP server {state.entry.name!r} are not used: {state.reason}")
        messages += state.warnings
        for tool in state.tools if state.state == "active" else ():
            if tool.name in tools:
                problem = f"the tool {tool.tool!r} of the MCP server {tool.server!r} is not used"
                messages.append(f"{problem}: {tools[tool.name].server!r} also has one called {tool.name}")
            tools.setdefault(tool.name, tool)
    active = [state for state in states if state.state == "active"]
    for tool in _resource_tools([state.entry.name for state in active if state.resources]):
        tools.setdefault(tool.name, tool)
    prompts: dict[str, ListedPrompt] = {}
    for prompt in (prompt for state in active for prompt in state.prompts):
        prompts.setdefault(prompt.skill_name, prompt)
    return ToolOffer(tuple(tools.values()), tuple(messages), tuple(prompts.values()))


def _resource_tools(servers: Sequence[str]) -> tuple[ListedTool, ...]:
    """Return the tools that list and read the resources of these servers; none if there are no servers."""
    if not servers:
        return ()
    server = {"type": "string", "enum": list(servers), "description": "The server's name"}
    uri = {"type": "string", "description": "The URI of the resource"}
    listing = {"type": "object", "properties": {"server": server}}
    reading = {"type": "object", "properties": {"server": server, "uri": uri}, "required": ["server", "uri"]}
    return (
        ListedTool(LIST_RESOURCES, "", LIST_RESOURCES, _LIST, listing, read_only=True),
        ListedTool(READ_RESOURCE, "", READ_RESOURCE, _READ, reading, read_only=True),
    )
