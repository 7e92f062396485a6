"""Ask the user whether to trust a workspace's tools and MCP servers."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli.view import output

if TYPE_CHECKING:
    from goalwright.settings.paths import Paths
    from goalwright.workspace.tools import WorkspaceTools
    from goalwright_skills.mcp.server_state import ServerState
    from goalwright_skills.mcp.servers import McpServers


def trust_settings(where: Paths) -> None:
    """Trust a workspace's settings in their current form; call this before reading them."""
    from goalwright_skills.programs.trust import Trust

    Trust(where.trust).trust_workspace(where.workspace)


def trust_tools(tools: WorkspaceTools, *, trust: bool, quiet: bool) -> None:
    """Trust the workspace's tools if `trust` is set or the user agrees; otherwise warn that they will not run."""
    if trust:
        tools.trust_all()
        return
    untrusted = tools.untrusted()
    if not untrusted:
        return
    names = ", ".join(sorted({row.name for row in untrusted}))
    folders = "\n  ".join(sorted({str(row.base_dir) for row in untrusted}))
    if sys.stdin.isatty() and output.is_terminal() and not quiet:
        output.say(f"This workspace has tools that you have not trusted yet ({names}):\n  {folders}")
        if click.confirm("Have you reviewed them, and may they run?", default=False, err=True):
            tools.trust_all()
        return
    if not quiet:
        output.say_warning(f"tools that are not trusted yet will not run: {names}; review them, then pass --trust")


def trust_mcp(tools: WorkspaceTools, *, trust: bool, quiet: bool, start: bool = True, warn: bool = False) -> None:
    """Trust the MCP servers and their tools if `trust` is set or the user agrees.

    With `start`, trusted servers without a current list of tools are started to get it. With `warn`, servers that are
    not used are reported here, because there may be no run that does.
    """
    if not tools.has_mcp:
        return
    servers = tools.mcp
    if trust:
        servers.trust_all()
    elif sys.stdin.isatty() and output.is_terminal() and not quiet:
        for state in servers.untrusted(start=start):
            _ask(servers, state)
    for warning in servers.offer(start=start).warnings if warn and not quiet else ():
        output.say_warning(warning)


def _ask(servers: McpServers, state: ServerState) -> None:
    """Ask whether to start a server, then whether to use its tools."""
    listed = state
    if not state.tools:
        output.say(_entry_text(state))
        if not click.confirm("May it be started?", default=False, err=True):
            return
        listed = servers.trust_entry(state)
    if listed.state == "broken":
        output.say_warning(f"the MCP server {state.entry.name!r}: {listed.reason}")
    elif listed.state != "active":
        output.say(_tools_text(listed))
        if click.confirm("May models call them?", default=False, err=True):
            servers.trust_tools(listed)


def _entry_text(state: ServerState) -> str:
    """Describe a server before it is started or connected to."""
    entry = state.entry
    verb = "connects to" if entry.raw.get("url") else "starts, confined," if entry.confined else "starts, unconfined,"
    lines = [f"{entry.file} has an MCP server that you have not trusted yet. {entry.name!r} {verb}:"]
    lines += [f"  {entry.command_line}"]
    lines += [f"  {name} from your environment goes to {where}" for name, where in entry.variables()]
    if not entry.raw.get("url") and not entry.confined:
        lines.append(
            'It can do everything that you can; with "confined": true in its entry, it runs in the sandbox of tools.'
        )
    return "\n".join(lines)


def _tools_text(state: ServerState) -> str:
    """Describe the tools and prompts of a server."""
    new = "has tools that differ from those you trusted" if state.state == "changed" else "has these tools"
    lines = [f"The MCP server {state.entry.name!r} {new}:"]
    for tool in state.tools:
        description = " ".join(tool.description.split())
        lines.append(f"  {tool.tool}{'' if tool.read_only else ' (may change data)'}: {description}")
    lines += [f"  the prompt {prompt.name}: {' '.join(prompt.description.split())}" for prompt in state.prompts]
    return "\n".join(lines)
