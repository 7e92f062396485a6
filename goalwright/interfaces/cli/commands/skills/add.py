"""`goalwright skills add`: a minimal new skill."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import configuration, options
from goalwright.interfaces.cli.commands.skills import shadowing
from goalwright.interfaces.cli.view import output

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.interfaces.cli.view.output_mode import OutputMode


@click.command("add")
@click.argument("name", metavar="ID")
@click.option("--description", required=True, metavar="TEXT", help="What the skill does and when to use it.")
@options.common
def add(name: str, description: str, workspace: Path, mode: OutputMode) -> int:
    """Create a minimal skill in .agents/skills/.

    \b
    Examples:
      goalwright skills add release-notes --description "Write release notes from a list of changes."
    """
    from goalwright_skills.manage import install

    path = install.add(configuration.paths(workspace).workspace, name, description)
    output.show(mode, {"name": name, "path": str(path)}, str(path))
    if not mode.quiet:
        shadowing.warn(workspace, [name])
    if not mode.as_json and not mode.quiet:
        output.say("Next: write down the steps in it.")
    return 0
