"""Calls to the servers of a workspace: tools, resources and prompts; a login that one wants is asked for."""

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
    from goalwright_skills.mcp.connections.callbacks import CallUnderWay
    from goalwright_skills.mcp.connections.connection import ServerConnection
    from goalwright_skills.mcp.connections.pool import ServerAccess
    from goalwright_skills.mcp.servers import McpServers

_LOGINS = 3


async def call(servers: McpServers, name: str, arguments: Mapping[str, Any]) -> CallAnswer:
    """Call a tool, starting its server if need be; raises McpFault."""
    tool = servers.find(name)
    if tool is None:
        what = f"no MCP server that is configured and trusted here has the tool {name}"
        raise McpFault(what, hint="go on without it; `goalwright mcp list` shows the servers")
    if name == LIST_RESOURCES:
        return await _list_resources(servers, str(arguments.get("server") or ""))
    if name == READ_RESOURCE:
        return await read_resource(servers, str(arguments.get("server") or ""), str(arguments.get("uri") or ""))

    async def call(connection: ServerConnection, under_way: CallUnderWay) -> CallAnswer:
        return await connection.call(tool.tool, arguments, check, under_way)

    access, check = servers.access(tool.server)
    return await _asked(servers, tool.server, access, call)


async def read_resource(servers: McpServers, server: str, uri: str) -> CallAnswer:
    """A resource of a trusted server; raises McpFault, or LoginNeeded if nobody can log in now."""
    access, check = servers.access(server)

    async def read(connection: ServerConnection, under_way: CallUnderWay) -> CallAnswer:
        return await connection.read(uri, check, under_way)

    return await _asked(servers, server, access, read)


async def get_prompt(servers: McpServers, name: str, arguments: Mapping[str, str]) -> CallAnswer:
    """A prompt, by its name among skills, with its arguments filled in; raises McpFault."""
    known = {prompt.skill_name: prompt for prompt in servers.offer(start=False).prompts}
    prompt = known.get(name)
    if prompt is None:
        what = f"no MCP server that is configured and trusted here has the prompt {name!r:.120}"
        raise McpFault(what, hint=f"go on without it; prompts are: {nearest_names(name, list(known))}")
    access, check = servers.access(prompt.server)

    async def got(connection: ServerConnection, under_way: CallUnderWay) -> CallAnswer:
        return await connection.prompt(prompt.name, arguments, check, under_way)

    return await _asked(servers, prompt.server, access, got)


async def _list_resources(servers: McpServers, server: str) -> CallAnswer:
    names = [state.entry.name for state in servers.states()[0] if state.state == "active" and state.resources]
    if server and server not in names:
        what = f"no MCP server {server!r} with resources is configured and trusted here"
        raise McpFault(what, hint=f"servers with resources are: {', '.join(names) or 'none'}")
    found: dict[str, Any] = {}
    for name in [server] if server else names:
        access, check = servers.access(name)

        async def listed(connection: ServerConnection, call: CallUnderWay, check: CheckTools = check) -> CallAnswer:
            return await connection.resources(check, call)

        found[name] = (await _asked(servers, name, access, listed)).structured["resources"]
    return CallAnswer(structured={"servers": found})


async def _asked(
    servers: McpServers,
    server: str,
    access: ServerAccess,
    work: Callable[[ServerConnection, CallUnderWay], Coroutine[Any, Any, CallAnswer]],
) -> CallAnswer:
    """What a server answers; where it wants a login, the person is asked for it, and it is asked again."""
    person = current_person()
    for _ in range(_LOGINS):
        try:
            answer = await servers.pool.ask(access, work)
        except LoginNeeded as needed:
            if person is None or not await person.log_in(server, needed.message, needed.hint or ""):
                raise
            await asyncio.to_thread(servers.pool.forget, access.key)
            continue
        if person is not None and access.login is not None and access.login.state == "active":
            await person.logged_in(server)
        return answer
    raise McpFault(f"the MCP server {server!r} wants one login after another", hint="go on without it")
