"""`weft journal status`: how large the journal is, and who uses it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from weft.cli import configuration, options
from weft.cli.view import output
from weft_skills.text.plural import counted

if TYPE_CHECKING:
    from pathlib import Path

    from weft.cli.configuration import SettingFlags
    from weft.cli.view.output_mode import OutputMode
    from weft_executor.stores.row import StoreStatus


@click.command()
@options.journal
@options.common
def status(workspace: Path, flags: SettingFlags, mode: OutputMode) -> int:
    """Show how large the journal is, and who uses it.

    \b
    Examples:
      weft journal status
      weft journal status --journal postgresql://weft@db/weft --json

    Exit status: 0 done, 2 no such journal, 4 it cannot be used.
    """
    from weft.settings import journal_place

    store = journal_place.recorded_runs(*configuration.journal_settings(workspace, flags))
    try:
        found = store.status()
    finally:
        store.close()
    if mode.as_json:
        output.print_json(asdict(found))
    else:
        output.print_text("\n".join(_lines(found)))
    return 0


def _lines(found: StoreStatus) -> list[str]:
    known = "" if found.schema == found.newest else f" (this weft uses {found.newest})"
    lines = [
        found.journal,
        f"schema {found.schema}{known}, {found.bytes / 1e6:,.1f} MB",
        f"{counted(found.runs, 'run')}, {found.running} running"
        + (f", the oldest from {found.oldest[:10]}" if found.oldest else ""),
    ]
    if found.workers is not None and found.partitions is not None:
        lines.append(f"{counted(found.workers, 'worker')} alive, {counted(found.partitions, 'partition')}")
    return lines
