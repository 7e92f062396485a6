"""`goalwright skills files`: the files of a skill."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import options
from goalwright.interfaces.cli.commands.skills.open_workspace import open_registry
from goalwright.interfaces.cli.view import output

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.interfaces.cli.view.output_mode import OutputMode


@click.command("files")
@click.argument("name")
@options.common
def files(name: str, workspace: Path, mode: OutputMode) -> int:
    """List the files of a skill with their sizes.

    \b
    Examples:
      goalwright skills files cataloging-apis
    """
    from goalwright_skills.manage import install

    registry = open_registry(workspace)
    skill = registry.get(name)
    if skill is None:
        registry.load_content(name)  # raises an error that names the known skills
        return 2
    listed = install.files(skill)
    rows = [{"path": path, "bytes": size} for path, size in listed]
    output.show(mode, rows, "\n".join(f"{size:>10,}  {path}" for path, size in listed))
    return 0
