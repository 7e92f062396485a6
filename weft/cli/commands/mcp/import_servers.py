"""`weft mcp import`: copy MCP servers that other programs have configured."""

from __future__ import annotations

from pathlib import Path

import click

from weft.cli import options
from weft.cli.view import output
from weft_skills.errors import InputError


@click.command("import")
@options.common
def import_servers(workspace: Path, *, as_json: bool, quiet: bool, verbose: bool) -> int:
    """Copy MCP servers from Codex to your own, and from VS Code to the workspace's .mcp.json.

    They are read from ~/.codex/config.toml and .vscode/mcp.json.

    Nothing is overwritten or started. Servers of the workspace are used once you trust them.

    \b
    Examples:
      weft mcp import
      weft mcp list

    Exit status: 0 done, 2 there is nothing to import, or a file cannot be read.
    """
    from weft_skills.mcp import importing

    where = options.paths(workspace)
    pairs = (
        (Path.home() / ".codex" / "config.toml", where.user_mcp),
        (where.workspace / ".vscode" / "mcp.json", where.workspace / ".mcp.json"),
    )
    found = [(origin, target) for origin, target in pairs if origin.is_file()]
    if not found:
        looked = " nor ".join(str(origin) for origin, _ in pairs)
        raise InputError(f"there is neither {looked}", hint="write the servers into .mcp.json")
    rows = [row for origin, target in found for row in importing.import_servers(origin, target)]
    if as_json:
        output.print_json([row.to_dict() for row in rows])
        return 0
    for row in rows:
        reason = f": {row.reason}" if row.reason else ""
        output.print_text(f"{row.state.ljust(8)}  {row.name}  {row.origin} → {row.target}{reason}")
    if not quiet:
        output.say("`weft mcp check` tries them.")
    return 0
