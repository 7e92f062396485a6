"""Calls of tools, resources and prompts; asks the person to log in where a server requires it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from goalwright_skills.mcp.authorisation.tokens import LoginNeeded
from goalwright_skills.mcp.connections.answers import CallAnswer
from goalwright_skills.mcp.entry import McpFault
from goalwright_skills.mcp.server_state import LIST_RESOURCES, READ_RESOURCE
from goalwright_skills.text.formatting import nearest_names
from goalwright_skills.tools.current_call import current_person

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

    from goalwright_skills.mcp.connections.answers import CheckTools
    from goalwright_skills.mcp.connections.callbacks import PendingCall
    from goalwright_skills.mcp.connections.connection import ServerConnection
    from goalwright_skills.mcp.connections.pool import ServerAccess
    from goalwright_skills.mcp.servers import McpServers

_MAX_LOGINS = 3


async def call(servers: McpServers, name: str, arguments: Mapping[str, Any]) -> CallAnswer:
    """Call a tool, starting its server if needed; raises McpFault."""
    tool = servers.find(name)
    if tool is None:
        message = f"no MCP server that is configured and trusted here has the tool {name}"
        raise McpFault(message, hint="go on without it; `goalwright mcp list` shows the servers")
    if name == LIST_RESOURCES:
        return await _list_resources(servers, str(arguments.get("server") or ""))
    if name == READ_RESOURCE:
        return await read_resource(servers, str(arguments.get("server") or ""), str(arguments.get("uri") or ""))

    access, check = servers.access(tool.server)

    async def request(connection: ServerConnection, pending: PendingCall) -> CallAnswer:
        return await connection.call(tool.tool, arguments, check, pending)

    return await _ask(servers, tool.server, access, request)


async def read_resource(servers: McpServers, server: str, uri: str) -> CallAnswer:
    """Read a resource of a trusted server; raises McpFault, or LoginNeeded if nobody can log in now."""
    access, check = servers.access(server)

    async def request(connection: ServerConnection, pending: PendingCall) -> CallAnswer:
        return await connection.read(uri, check, pending)

    return await _ask(servers, server, access, request)


async def get_prompt(servers: McpServers, name: str, arguments: Mapping[str, str]) -> CallAnswer:
    """Load a prompt by its name among skills, with its arguments filled in; raises McpFault."""
    prompts = {prompt.skill_name: prompt for prompt in servers.offer(start=False).prompts}
    prompt = prompts.get(name)
    if prompt is None:
        message = f"no MCP server that is configured and trusted here has the prompt {name!r:.120}"
        raise McpFault(message, hint=f"go on without it; prompts are: {nearest_names(name, list(prompts))}")
    access, check = servers.access(prompt.server)

    async def request(connection: ServerConnection, pending: PendingCall) -> CallAnswer:
        return await connection.prompt(prompt.name, arguments, check, pending)

    return await _ask(servers, prompt.server, access, request)


async def _list_resources(servers: McpServers, server: str) -> CallAnswer:
    names = [state.entry.name for state in servers.states()[0] if state.state == "active" and state.resources]
    if server and server not in names:
        message = f"no MCP server {server!r} with resources is configured and trusted here"
        raise McpFault(message, hint=f"servers with resources are: {', '.join(names) or 'none'}")
    resources: dict[str, Any] = {}
    for name in [server] if server else names:
        access, check = servers.access(name)

        async def request(connection: ServerConnection, pending: PendingCall, check: CheckTools = check) -> CallAnswer:
            return await connection.resources(check, pending)

        resources[name] = (await _ask(servers, name, access, request)).structured["resources"]
    return CallAnswer(structured={"servers": resources})


async def _ask(
    servers: McpServers,
    server: str,
    access: ServerAccess,
    request: Callable[[ServerConnection, PendingCall], Coroutine[Any, Any, CallAnswer]],
) -> CallAnswer:
    """Send a request; if the server requires a login, ask the person to log in and retry."""
    person = current_person()
    for _ in range(_MAX_LOGINS):
        try:
            answer = await servers.pool.ask(access, request)
        except LoginNeeded as needed:
            if person is None or not await person.log_in(server, needed.message, needed.hint or ""):
                raise
            await asyncio.to_thread(servers.pool.forget, access.key)
            continue
        if person is not None and access.login is not None and access.login.state == "active":
            await person.logged_in(server)
        return answer
    raise McpFault(f"the MCP server {server!r} requires one login after another", hint="go on without it")
