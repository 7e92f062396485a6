"""`goalwright skills delete`: remove one of the workspace's own skills or tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import options
from goalwright.interfaces.cli.commands.skills.open_workspace import open_registry
from goalwright.interfaces.cli.dialogs import confirm
from goalwright.interfaces.cli.view import output
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.interfaces.cli.view.output_mode import OutputMode


@click.command("delete")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@options.common
def delete(name: str, workspace: Path, mode: OutputMode, *, yes: bool) -> int:
    """Delete a skill in .agents/skills/, or a tool that `goalwright skills new` created, with its folder.

    All other skills are read-only. NAME is the name of a skill, of a tool or of a tool's folder.

    \b
    Examples:
      goalwright skills delete release-notes --yes
      goalwright skills delete word-count
    """
    from goalwright_skills.manage import install

    registry = open_registry(workspace)
    skill = install.own(registry, name)
    if not confirm.confirmed(f"Delete {skill.base_dir} and all its files?", yes=yes):
        raise InputError("nothing was deleted", hint="confirm with --yes")
    folder = install.delete(registry, name)
    output.show(mode, {"name": name, "deleted": str(folder)}, f"Deleted {folder}")
    return 0
