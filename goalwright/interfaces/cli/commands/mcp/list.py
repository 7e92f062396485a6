"""`goalwright mcp list`: the MCP servers, and how they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import options
from goalwright.interfaces.cli.commands.mcp.server_table import open_tools, show

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.interfaces.cli.view.output_mode import OutputMode


@click.command("list")
@options.common
def list_servers(workspace: Path, mode: OutputMode) -> int:
    """List the configured MCP servers and whether their tools are used. Starts none.

    A server is active, untrusted, changed (its tools differ from those you trusted), disabled, broken or waits for a
    login.

    \b
    Examples:
      goalwright mcp list
      goalwright mcp list --json
    """
    states, warnings = open_tools(workspace).mcp.states()
    show(states, warnings, mode)
    return 0
