"""`goalwright trace import`: import exported runs into a journal."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import configuration, options, stdin
from goalwright.interfaces.cli.view import output
from goalwright_skills.text.plural import counted

if TYPE_CHECKING:
    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.interfaces.cli.view.output_mode import OutputMode


@click.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), callback=stdin.or_stdin)
@options.journal
@options.common
def import_runs(files: tuple[Path, ...], workspace: Path, flags: SettingFlags, mode: OutputMode) -> int:
    """Import exported runs into this journal.

    Imports every run in FILES (`-`: stdin) or, if one is incomplete or already in the journal, none.

    \b
    Examples:
      goalwright trace import run.jsonl
      ssh elsewhere goalwright trace export last | goalwright trace import -

    Exit status: 0 done, 2 a file or a run was refused, 4 the journal cannot be used.
    """
    from goalwright.runs.stored import records
    from goalwright.traces import transfer

    where, settings = configuration.journal_settings(workspace, flags)
    with closing(records.open_journal(where, settings)) as opened:
        imported = transfer.import_runs(files, opened.store, where)
    output.show(mode, imported, f"{counted(len(imported), 'run')} imported: {', '.join(imported)}")
    return 0
