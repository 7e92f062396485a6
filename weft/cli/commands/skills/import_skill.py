"""`weft skills import`: a skill from a folder or an archive."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from skills.errors import InputError
from skills.text.plural import counted
from weft.cli import confirm, options
from weft.cli.view import output

if TYPE_CHECKING:
    from skills.manage.install import Staged


@click.command("import")
@click.argument("source", type=click.Path(path_type=Path))
@click.option("--id", "name", metavar="ID", help="Import it under this name (default: its own).")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@options.common
def import_skill(
    source: Path, name: str | None, workspace: Path, *, yes: bool, as_json: bool, quiet: bool, verbose: bool
) -> int:
    """Import a skill from a folder, a .zip, a .tar.gz or a .skill file into .agents/skills/.

    All or nothing: an archive that would write anywhere else is refused. Before the import, weft lists what to
    distrust in the skill.

    \b
    Examples:
      weft skills import ~/Downloads/some-skill.zip
      weft skills import ../other/skills/code-review --id our-review --yes
    """
    from skills.manage import install

    with install.stage(source, options.paths(workspace).workspace, id=name) as staged:
        if not quiet:
            _warn(staged)
        replaces = staged.exists
        must_ask = replaces or (staged.distrust and confirm.can_ask())
        if must_ask and not confirm.confirmed(_question(staged), yes=yes):
            why = f"{staged.target} already exists" if replaces else "not confirmed"
            raise InputError(f"{why}: nothing was imported", hint="confirm with --yes, or give another --id")
        path = staged.commit(replace=replaces)
    document = {
        "name": staged.name,
        "id": staged.id,
        "path": str(path),
        "files": list(staged.files),
        "replaced": replaces,
        "distrust": [
            {"path": one.path, "line": one.line, "rule": one.rule, "what": one.what} for one in staged.distrust
        ],
    }
    if as_json:
        output.print_json(document)
    else:
        output.print_text(f"Imported {staged.name} ({counted(len(staged.files), 'file')}) into {path}")
    return 0


def _question(staged: Staged) -> str:
    if staged.exists:
        return f"{staged.target} already exists. Replace it?"
    return "Import it anyway?"


def _warn(staged: Staged) -> None:
    for problem in staged.problems:
        output.say_warning(str(problem))
    for finding in staged.distrust:
        output.say_warning(f"distrust {finding.path}:{finding.line}: {finding.what}")
