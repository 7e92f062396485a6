"""`goalwright recipes show`: a recipe in full."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import options
from goalwright.interfaces.cli.commands.recipes.open_recipes import open_recipes, parameter_line
from goalwright.interfaces.cli.view import output

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.interfaces.cli.view.output_mode import OutputMode


@click.command()
@click.argument("name")
@options.common
def show(name: str, workspace: Path, mode: OutputMode) -> int:
    """Show a recipe: its goal, parameters and plan.

    \b
    Examples:
      goalwright recipes show weekly-report
      goalwright recipes show weekly-report --json

    Exit status: 0 done, 2 no such recipe.
    """
    from goalwright_skills.format import safe_yaml

    row = open_recipes(workspace, quiet=mode.quiet).row(name)
    recipe = row.file.recipe
    document = recipe.to_dict() if recipe else {}
    if mode.as_json:
        output.print_json({"name": name, **document, "ok": row.ok, "reason": row.reason or None})
        return 0
    output.print_text(f"{name}: {row.file.goal}")
    for parameter in recipe.parameters if recipe else ():
        output.print_text(f"  {parameter_line(parameter)}")
    output.print_text(f"\n{safe_yaml.dump({'plan': document.get('plan', {})})}".rstrip())
    if not row.ok:
        planned = row.check is not None and row.check.plan is None
        what = "its goal would be planned" if planned else "it cannot be used as it is"
        output.say_warning(f"{what}: {row.reason}")
    for warning in row.check.warnings if row.check else ():
        output.say_warning(warning)
    return 0
