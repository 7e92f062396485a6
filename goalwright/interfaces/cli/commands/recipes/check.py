"""`goalwright recipes check`: recipes against the skills of today."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import options
from goalwright.interfaces.cli.commands.recipes.open_recipes import open_recipes
from goalwright.interfaces.cli.view import output

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.interfaces.cli.view.output_mode import OutputMode


@click.command()
@click.argument("names", nargs=-1)
@options.common
def check(names: tuple[str, ...], workspace: Path, mode: OutputMode) -> int:
    """Check recipes against the skills of today.

    Without NAMES, all of them. A recipe that names a skill that is gone, or whose plan can no longer run, is an error:
    its goal would be planned. So is one that cannot be read, or that names a file by default that it may not name. A
    skill that has changed, or a default file that is missing, is a warning.

    \b
    Examples:
      goalwright recipes check
      goalwright recipes check weekly-report --json

    Exit status: 0 all can run, 1 one cannot, 2 no such recipe.
    """
    rows = open_recipes(workspace, quiet=mode.quiet).checked(names)
    if mode.as_json:
        warnings = [list(row.check.warnings) if row.check else [] for row in rows]
        output.print_json([row.to_dict() | {"warnings": said} for row, said in zip(rows, warnings, strict=True)])
    else:
        for row in rows:
            said = row.check.warnings if row.check else ()
            output.print_text(f"{row.file.name}: {row.reason or '; '.join(said) or 'ok'}")
    return 0 if all(row.ok for row in rows) else 1
