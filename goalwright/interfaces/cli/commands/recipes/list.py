"""`goalwright recipes list`: the recipes of a workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import options
from goalwright.interfaces.cli.commands.recipes.open_recipes import open_recipes
from goalwright.interfaces.cli.view import output

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.interfaces.cli.view.output_mode import OutputMode


@click.command("list")
@options.common
def list_recipes(workspace: Path, mode: OutputMode) -> int:
    """List the recipes, and whether their plans can run.

    \b
    Examples:
      goalwright recipes list
      goalwright recipes list --json
    """
    rows = open_recipes(workspace, quiet=mode.quiet).rows()
    if mode.as_json:
        output.print_json([row.to_dict() for row in rows])
        return 0
    for row in rows:
        output.print_text(f"{row.file.name}  {row.file.goal}" + ("" if row.ok else f"  ({row.reason})"))
    if not rows and not mode.quiet:
        output.say("There are no recipes. Make one of a run: goalwright recipes save last --name NAME")
    return 0
