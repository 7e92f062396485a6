"""`weft trace import`: import exported runs into a journal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from weft.cli import options
from weft.cli.view import output
from weft_skills.text.plural import counted


@click.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), callback=options.or_stdin)
@options.journal
@options.common
def import_runs(files: tuple[Path, ...], workspace: Path, journal: str | None, *, as_json: bool, **_: Any) -> int:
    """Import exported runs into this journal.

    Imports every run in FILES (`-`: stdin) or, if one is incomplete or already in the journal, none.

    \b
    Examples:
      weft trace import run.jsonl
      ssh elsewhere weft trace export last | weft trace import -

    Exit status: 0 done, 2 a file or a run was refused, 4 the journal cannot be used.
    """
    from weft.runs.stored import records
    from weft.traces import transfer

    where, settings = options.journal_settings(workspace, journal)
    opened = records.open_journal(where, settings)
    try:
        imported = transfer.import_runs(files, opened.store, where)
    finally:
        opened.close()
    if as_json:
        output.print_json(imported)
    else:
        output.print_text(f"{counted(len(imported), 'run')} imported: {', '.join(imported)}")
    return 0
