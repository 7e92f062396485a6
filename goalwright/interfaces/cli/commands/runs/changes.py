"""`goalwright changes`: what a run changed in the workspace."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import configuration, options
from goalwright.interfaces.cli.view import output
from goalwright_skills.text.formatting import counted

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.interfaces.cli.view.output import OutputMode
    from goalwright.traces.run_changes import ChangedFile


@click.command()
@click.argument("run", default="last")
@click.option("--undo", is_flag=True, help="Restore the files that have not changed since the run.")
@options.journal
@options.common
def changes(run: str, workspace: Path, flags: SettingFlags, mode: OutputMode, *, undo: bool) -> int:
    """Show what a run changed in the workspace, or undo it.

    RUN is a run's id, a prefix of it, or `last` (the default). Apply the patch with `git apply`.
    --undo leaves files alone that have changed since.

    \b
    Examples:
      goalwright changes
      goalwright changes last > run.patch
      goalwright changes 20261115T0213 --undo

    Exit status: 0 done, 1 some files could not be restored, 2 no such run.
    """
    from goalwright.runs.stored import records
    from goalwright.traces import run_changes

    where, settings = configuration.journal_settings(workspace, flags)
    with closing(records.recorded_runs(where, settings)) as store:
        run_id = store.find(run).run_id
        skipped = run_changes.changes_of(where, run_id).undo() if undo else []
        changed = run_changes.read(store, run_id, where)
    if mode.as_json:
        output.print_json(changed.to_dict())
    elif changed.patch and not undo:
        output.print_result(changed.patch)
    if not mode.quiet:
        for file in changed.files:
            output.say(f"{file.state:9} {_described(file)}")
        if not changed.files:
            output.say(f"Run {run_id} changed nothing in the workspace.")
    if skipped:
        output.say_warning(f"{counted(len(skipped), 'file')} changed since then and left alone: {', '.join(skipped)}")
    return 1 if skipped else 0


def _described(file: ChangedFile) -> str:
    match file.action:
        case "move":
            return f"{file.path} → {file.to}"
        case "delete":
            return f"{file.path} (deleted)"
        case _:
            return file.path
