"""`goalwright mcp check` and `goalwright mcp refresh`: ask the trusted servers for their tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import options
from goalwright.interfaces.cli.commands.mcp.server_table import open_tools, show

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.interfaces.cli.view.output_mode import OutputMode

_OFF = ("disabled",)


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@options.trust
@options.common
def check(names: tuple[str, ...], workspace: Path, mode: OutputMode, *, trust: bool) -> int:
    """Connect to the trusted MCP servers, or those named, and list their tools. Others are not started.

    On a terminal you are asked about servers and tools that you have not trusted yet.

    \b
    Examples:
      goalwright mcp check
      goalwright mcp check github --trust

    Exit status: 0 all are in order, 1 a server is broken or not trusted, 2 there is no server of that name.
    """
    return _ask_servers(names, workspace, mode, trust=trust)


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@options.trust
@options.common
def refresh(names: tuple[str, ...], workspace: Path, mode: OutputMode, *, trust: bool) -> int:
    """Ask the trusted MCP servers, or those named, for their tools again. Others are not started.

    Lists of tools are kept for a day. Tools that have changed are not offered before you trust them.

    \b
    Examples:
      goalwright mcp refresh
      goalwright mcp refresh github --trust

    Exit status: 0 all are in order, 1 a server is broken or not trusted, 2 there is no server of that name.
    """
    return _ask_servers(names, workspace, mode, trust=trust)


def _ask_servers(names: tuple[str, ...], workspace: Path, mode: OutputMode, *, trust: bool) -> int:
    from goalwright.interfaces.cli.dialogs import trust_prompt
    from goalwright_skills.mcp.server_state import named

    tools = open_tools(workspace)
    servers = tools.mcp
    try:
        found, warnings = servers.states()
        with servers.held():
            for state in named(found, names):
                servers.refresh(state.entry)
            trust_prompt.trust_mcp(tools, trust=trust, quiet=mode.quiet or mode.as_json)
            states = named(servers.checked()[0], names)
    finally:
        tools.close()
    show(states, warnings, mode)
    return 0 if all(state.state in ("active", *_OFF) for state in states) else 1
