"""`goalwright trace tag`: tag a recorded run, or write a note about it."""

from __future__ import annotations

import asyncio
from contextlib import closing
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import configuration, options, stdin
from goalwright.interfaces.cli.view import output
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.interfaces.cli.view.output import OutputMode
    from goalwright_executor.stores.row import RunSummary


@click.command()
@click.argument("run", metavar="RUN")
@click.argument("tags", nargs=-1, metavar="[TEXT]...")
@click.option("--remove", "removed", multiple=True, metavar="TEXT", help="Remove this tag (repeatable).")
@click.option("--note", metavar="TEXT", help='Replace the note about the run (`-`: stdin; "": remove it).')
@options.journal
@options.common
def tag(
    run: str,
    tags: tuple[str, ...],
    removed: tuple[str, ...],
    note: str | None,
    workspace: Path,
    flags: SettingFlags,
    mode: OutputMode,
) -> int:
    """Tag a run, or write a note about it.

    RUN is a run's id, a prefix of it, or `last`. A tag is one line of up to 60 characters.

    \b
    Examples:
      goalwright trace tag last baseline
      goalwright trace tag 20261115T0213 "to review" redis --json
      goalwright trace tag last --remove baseline
      goalwright trace tag last --note "The report is made from this run."

    Exit status: 0 done, 2 no such run, not a tag or a note, or the run is in progress.
    """
    from goalwright.runs.stored import records
    from goalwright.traces import tagging

    if not tags and not removed and note is None:
        raise InputError("no tag and no note was given", hint=f"for example: goalwright trace tag {run} baseline")
    text = stdin.stdin_text("the note").rstrip("\r\n") if note == "-" else note
    where, settings = configuration.journal_settings(workspace, flags)
    with closing(records.recorded_runs(where, settings)) as store:  # creates no journal
        run_id = store.find(run).run_id
    with closing(records.open_journal(where, settings)) as journal:

        async def write() -> RunSummary:
            if tags or removed:
                await tagging.retag(journal, where, run_id, lambda old: [*(t for t in old if t not in removed), *tags])
            if text is not None:
                await tagging.write_note(journal, where, run_id, text)
            return journal.store.find(run_id)

        summary = asyncio.run(write())
    lines = [f"{run_id}: {', '.join(summary.tags) or 'no tags'}"] if tags or removed else []
    lines += [f"{run_id}: {summary.note or 'no note'}"] if note is not None else []
    output.show(mode, {"run_id": run_id, "tags": list(summary.tags), "note": summary.note}, "\n".join(lines))
    return 0
