"""`weft skills delete`: remove one of the workspace's own skills or tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from weft.cli import options
from weft.cli.commands.skills.open_workspace import open_registry
from weft.cli.dialogs import confirm
from weft.cli.view import output
from weft_skills.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from weft.cli.view.output_mode import OutputMode


@click.command("delete")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@options.common
def delete(name: str, workspace: Path, mode: OutputMode, *, yes: bool) -> int:
    """Delete a skill in .agents/skills/, or a tool that `weft skills new` created, with its folder.

    All other skills are read-only. NAME is the name of a skill, of a tool or of a tool's folder.

    \b
    Examples:
      weft skills delete release-notes --yes
      weft skills delete word-count
    """
    from weft_skills.manage import install

    registry = open_registry(workspace)
    skill = install.own(registry, name)
    if not confirm.confirmed(f"Delete {skill.base_dir} and all its files?", yes=yes):
        raise InputError("nothing was deleted", hint="confirm with --yes")
    folder = install.delete(registry, name)
    output.show(mode, {"name": name, "deleted": str(folder)}, f"Deleted {folder}")
    return 0
