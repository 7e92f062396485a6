"""`weft trace list`: list the runs of a workspace."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from weft.cli import configuration, options
from weft.cli.view import output, width

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from weft.cli.configuration import SettingFlags
    from weft.cli.view.output_mode import OutputMode
    from weft_executor.stores.row import RunSummary

_DEFAULT_LIMIT = 50


@click.command("list")
@click.option(
    "--limit", type=click.IntRange(1), metavar="N", help="List at most N runs (default: 50; with --json, all)."
)
@options.journal
@options.common
def list_runs(workspace: Path, limit: int | None, flags: SettingFlags, mode: OutputMode) -> int:
    """List the runs of this workspace, newest first.

    \b
    Examples:
      weft trace list --limit 10
      weft trace list --json

    Exit status: 0 done, 2 wrong usage, 4 the journal cannot be used.
    """
    from weft.cli.view import run_list

    runs = _find_runs(workspace, flags, limit if limit or mode.as_json else _DEFAULT_LIMIT)
    if mode.as_json:
        output.print_json([run.to_dict() for run in runs])
        return 0
    if not runs and not mode.quiet:
        output.say("No runs yet.")
    for line in run_list.lines(runs, width.of(sys.stdout)):
        output.print_text(line)
    return 0


def _find_runs(workspace: Path, flags: SettingFlags, limit: int | None) -> Sequence[RunSummary]:
    """Read the runs from the journal; a workspace without a journal has none."""
    from weft.settings import journal_place

    where, settings = configuration.journal_settings(workspace, flags)
    if not settings.journal and not (where.agents / "journal.sqlite").exists():
        return []
    return list(journal_place.recorded_runs(where, settings).summaries(limit))
