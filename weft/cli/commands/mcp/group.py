"""`weft mcp`: the group of commands about MCP servers."""

from __future__ import annotations

import click

from weft.cli.lazy_group import LazyGroup

_SUBCOMMANDS = {
    "list": (
        "weft.cli.commands.mcp.list:list_servers",
        "List the configured MCP servers and whether their tools are used. Starts none.",
    ),
    "check": (
        "weft.cli.commands.mcp.check:check",
        "Connect to the trusted MCP servers, or those named, and list their tools. Others are not started.",
    ),
    "login": ("weft.cli.commands.mcp.login:login", "Log in at an MCP server that asks for it, in your browser."),
    "logout": ("weft.cli.commands.mcp.login:logout", "Forget the login at an MCP server."),
    "import": (
        "weft.cli.commands.mcp.import_servers:import_servers",
        "Copy MCP servers from Codex to your own, and from VS Code to the workspace's .mcp.json.",
    ),
    "serve": (
        "weft.cli.commands.mcp.serve:serve",
        "Serve this workspace to other agents, as an MCP server on standard input and output.",
    ),
    "refresh": (
        "weft.cli.commands.mcp.check:refresh",
        "Ask the trusted MCP servers, or those named, for their tools again. Others are not started.",
    ),
}


@click.group(cls=LazyGroup, subcommands=_SUBCOMMANDS)
def mcp() -> None:
    """Use the tools of MCP servers, or serve weft as one.

    Servers are named in .mcp.json in the workspace, and for every workspace in mcp.json beside your config.toml.

    \b
    Examples:
      weft mcp list
      weft mcp check --trust
      weft mcp login github
      weft mcp import
      weft mcp serve
    """
