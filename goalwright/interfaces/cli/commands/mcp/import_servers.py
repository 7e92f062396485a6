"""`goalwright mcp import`: copy MCP servers that other programs have configured."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import configuration, options
from goalwright.interfaces.cli.view import output

if TYPE_CHECKING:
    from goalwright.interfaces.cli.view.output_mode import OutputMode


@click.command("import")
@options.common
def import_servers(workspace: Path, mode: OutputMode) -> int:
    """Copy MCP servers from Codex to your own, and from VS Code to the workspace's .mcp.json.

    They are read from ~/.codex/config.toml and .vscode/mcp.json.

    Nothing is overwritten or started. Servers of the workspace are used once you trust them.

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
