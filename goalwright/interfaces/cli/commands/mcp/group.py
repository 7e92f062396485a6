"""`goalwright mcp`: the group of commands about MCP servers."""

from __future__ import annotations

import click

from goalwright.interfaces.cli.lazy_group import LazyGroup

_SUBCOMMANDS = {
    "list": (
        "goalwright.interfaces.cli.commands.mcp.list:list_servers",
        "List the configured MCP servers and whether their tools are used. Starts none.",
    ),
    "check": (
        "goalwright.interfaces.cli.commands.mcp.check:check",
        "Connect to the trusted MCP servers, or those named, and list their tools. Others are not started.",
    ),
    "login": (
        "goalwright.interfaces.cli.commands.mcp.login:login",
        "Log in at an MCP server that asks for it, in your browser.",
    ),
    "logout": ("goalwright.interfaces.cli.commands.mcp.login:logout", "Forget the login at an MCP server."),
    "import": (
        "goalwright.interfaces.cli.commands.mcp.import_servers:import_servers",
        "Copy MCP servers from Codex to your own, and from VS Code to the workspace's .mcp.json.",
    ),
    "serve": (
        "goalwright.interfaces.cli.commands.mcp.serve:serve",
        "Serve this workspace to other agents, as an MCP server on standard input and output.",
    ),
    "refresh": (
        "goalwright.interfaces.cli.commands.mcp.check:refresh",
        "Ask the trusted MCP servers, or those named, for their tools again. Others are not started.",
    ),
}


@click.group(cls=LazyGroup, subcommands=_SUBCOMMANDS)
def mcp() -> None:
    """Use the tools of MCP servers, or serve goalwright as one.

    Servers are named in .mcp.json in the workspace, and for every workspace in mcp.json beside your config.toml.

    \b
    Examples:
      goalwright mcp list
      goalwright mcp check --trust
      goalwright mcp login github
      goalwright mcp import
      goalwright mcp serve
    """
