"""`weft mcp`: the group of commands about MCP servers."""

from __future__ import annotations

import click

from weft.cli.lazy_group import LazyGroup

_SUBCOMMANDS = {
    "list": ("weft.cli.commands.mcp.list:list_servers", "List the MCP servers; starts none."),
    "check": ("weft.cli.commands.mcp.check:check", "Connect to the trusted servers and list their tools."),
    "import": ("weft.cli.commands.mcp.import_servers:import_servers", "Copy servers from Codex and VS Code."),
    "serve": ("weft.cli.commands.mcp.serve:serve", "Serve this workspace to other agents."),
    "refresh": ("weft.cli.commands.mcp.check:refresh", "Ask the trusted servers for their tools again."),
}


@click.group(cls=LazyGroup, subcommands=_SUBCOMMANDS)
def mcp() -> None:
    """Use the tools of MCP servers, and be one.

    Servers are named in .mcp.json in the workspace, and for every workspace in mcp.json beside your config.toml.

    \b
    Examples:
      weft mcp list
      weft mcp check --trust
      weft mcp import
      weft mcp serve
    """
