"""`weft mcp check` and `weft mcp refresh`: ask the trusted servers for their tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from weft.cli import options
from weft.cli.commands.mcp.workspace import chosen, open_tools, show

if TYPE_CHECKING:
    from pathlib import Path

_OFF = ("disabled",)


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@options.trust
@options.common
def check(names: tuple[str, ...], workspace: Path, *, trust: bool, as_json: bool, quiet: bool, verbose: bool) -> int:
    """Connect to the trusted MCP servers, or those named, and list their tools. Others are not started.

    On a terminal you are asked about servers and tools that you have not trusted yet.

    \b
    Examples:
      weft mcp check
      weft mcp check github --trust

    Exit status: 0 all are in order, 1 a server is broken or not trusted, 2 there is no server of that name.
    """
    return _ask_servers(names, workspace, trust=trust, as_json=as_json, quiet=quiet)


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@options.trust
@options.common
def refresh(names: tuple[str, ...], workspace: Path, *, trust: bool, as_json: bool, quiet: bool, verbose: bool) -> int:
    """Ask the trusted MCP servers, or those named, for their tools again. Others are not started.

    Lists of tools are kept for a day. Tools that have changed are not offered before you trust them.

    \b
    Examples:
      weft mcp refresh
      weft mcp refresh github --trust

    Exit status: 0 all are in order, 1 a server is broken or not trusted, 2 there is no server of that name.
    """
    return _ask_servers(names, workspace, trust=trust, as_json=as_json, quiet=quiet)


def _ask_servers(names: tuple[str, ...], workspace: Path, *, trust: bool, as_json: bool, quiet: bool) -> int:
    from weft.cli import trust_prompt

    tools = open_tools(workspace)
    servers = tools.mcp
    try:
        found, warnings = servers.states()
        with servers.held():
            for state in chosen(found, names):
                servers.refresh(state.entry)
            trust_prompt.trust_mcp(tools, trust=trust, quiet=quiet or as_json)
            states = chosen(servers.checked()[0], names)
    finally:
        tools.close()
    show(states, warnings, as_json=as_json, quiet=quiet)
    return 0 if all(state.state in ("active", *_OFF) for state in states) else 1
