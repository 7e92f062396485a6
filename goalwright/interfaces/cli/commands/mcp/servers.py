"""`goalwright mcp list`, `check`, `refresh` and `import`: the MCP servers of a workspace."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import configuration, options
from goalwright.interfaces.cli.view import output
from goalwright_skills.text.formatting import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright.interfaces.cli.view.output import OutputMode
    from goalwright.workspace.tools import WorkspaceTools
    from goalwright_skills.mcp.server_state import ServerState


@click.command("list")
@options.common
def list_servers(workspace: Path, mode: OutputMode) -> int:
    """List the MCP servers and their states, without starting them.

    The states: active, untrusted, changed (the tools differ from the trusted ones), disabled, broken, and login (the
    server needs one).

    \b
    Examples:
      goalwright mcp list
      goalwright mcp list --json
    """
    states, warnings = open_tools(workspace).mcp.states()
    show(states, warnings, mode)
    return 0


_OFF = ("disabled",)


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@options.trust
@options.common
def check(names: tuple[str, ...], workspace: Path, mode: OutputMode, *, trust: bool) -> int:
    """Connect to trusted servers and list their tools.

    Names limit this to some servers. At a terminal, you are asked whether to trust new servers and tools; untrusted
    servers are not started.

    \b
    Examples:
      goalwright mcp check
      goalwright mcp check github --trust

    Exit status: 0 all servers work, 1 a server is broken or not trusted, 2 there is no server of that name.
    """
    return _ask_servers(names, workspace, mode, trust=trust)


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@options.trust
@options.common
def refresh(names: tuple[str, ...], workspace: Path, mode: OutputMode, *, trust: bool) -> int:
    """Ask trusted servers for their tools again.

    The lists are cached for a day. Names limit this to some servers. Changed tools are not used until you trust them.

    \b
    Examples:
      goalwright mcp refresh
      goalwright mcp refresh github --trust

    Exit status: 0 all servers work, 1 a server is broken or not trusted, 2 there is no server of that name.
    """
    return _ask_servers(names, workspace, mode, trust=trust)


def _ask_servers(names: tuple[str, ...], workspace: Path, mode: OutputMode, *, trust: bool) -> int:
    from goalwright.interfaces.cli.dialogs import trust_prompt
    from goalwright_skills.mcp.server_state import select

    tools = open_tools(workspace)
    servers = tools.mcp
    try:
        configured, warnings = servers.states()
        with servers.held():
            for state in select(configured, names):
                servers.refresh(state.entry)
            trust_prompt.trust_mcp(tools, trust=trust, quiet=mode.quiet or mode.as_json)
            states = select(servers.checked()[0], names)
    finally:
        tools.close()
    show(states, warnings, mode)
    return 0 if all(state.state in ("active", *_OFF) for state in states) else 1


@click.command("import")
@options.common
def import_servers(workspace: Path, mode: OutputMode) -> int:
    """Copy the servers configured in Codex and VS Code.

    Servers in ~/.codex/config.toml are copied to your own mcp.json, servers in .vscode/mcp.json to the workspace's
    .mcp.json. Nothing is overwritten or started. Servers of the workspace are used once you trust them.

    \b
    Examples:
      goalwright mcp import
      goalwright mcp list

    Exit status: 0 done, 2 there is nothing to import, or a file cannot be read.
    """
    from goalwright_skills.mcp import importing

    where = configuration.paths(workspace)
    rows = importing.import_all(where.workspace, where.user_mcp, Path.home())
    if mode.as_json:
        output.print_json([row.to_dict() for row in rows])
        return 0
    for row in rows:
        reason = f": {row.reason}" if row.reason else ""
        output.print_text(f"{row.state.ljust(8)}  {row.name}  {row.origin} → {row.target}{reason}")
    if not mode.quiet:
        output.say("Try them with `goalwright mcp check`.")
    return 0


_LOGINS = {
    "active": "logged in",
    "expired": "the login has expired: log in again",
    "needed": "another login is needed",
}


def open_tools(workspace: Path) -> WorkspaceTools:
    """Return the tools of a workspace; these commands use only its MCP servers."""
    from goalwright.settings.settings import Settings
    from goalwright.workspace.skills import WorkspaceSkills
    from goalwright.workspace.tools import WorkspaceTools

    where = configuration.paths(workspace)
    return WorkspaceTools(where, WorkspaceSkills(where, Settings()).registry)


def server_states(workspace: Path) -> list[ServerState]:
    """Return the states of the configured servers, without starting them."""
    return open_tools(workspace).mcp.states()[0] if configuration.paths(workspace).has_mcp else []


def show(states: Sequence[ServerState], warnings: Sequence[str], mode: OutputMode) -> None:
    """Print the servers, and warnings about their configuration files."""
    for warning in warnings if not mode.quiet else ():
        output.say_warning(warning)
    if mode.as_json:
        output.print_json([state.to_dict() for state in states])
        return
    if not states:
        output.say("No MCP servers. Configure them in .mcp.json, or copy them with `goalwright mcp import`.")
    names = max((len(state.entry.name) for state in states), default=0)
    for state in states:
        tools = counted(len(state.tools), "tool") if state.tools else ""
        login = _LOGINS.get(state.login, "") if state.state != "login" else ""
        notes = "; ".join(filter(None, (tools, login, state.reason)))
        line = f"{state.entry.name.ljust(names)}  {state.entry.source.ljust(9)}  {state.state.ljust(9)}  {notes}"
        output.print_text(line.rstrip())
