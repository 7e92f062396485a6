"""`goalwright journal status`: how large the journal is, and who uses it."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import configuration, options
from goalwright.interfaces.cli.view import output
from goalwright_skills.text.plural import counted

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.interfaces.cli.view.output_mode import OutputMode
    from goalwright_executor.stores.row import StoreStatus


@click.command()
@options.journal
@options.common
def status(workspace: Path, flags: SettingFlags, mode: OutputMode) -> int:
    """Show how large the journal is, and who uses it.

    \b
    Examples:
      goalwright journal status
      goalwright journal status --journal postgresql://goalwright@db/goalwright --json

    Exit status: 0 done, 2 no such journal, 4 it cannot be used.
    """
    from goalwright.settings import journal_place

    with closing(journal_place.recorded_runs(*configuration.journal_settings(workspace, flags))) as store:
        state = store.status()
    output.show(mode, asdict(state), "\n".join(_lines(state)))
    return 0


def _lines(state: StoreStatus) -> list[str]:
    known = "" if state.schema == state.newest else f" (this goalwright uses {state.newest})"
    lines = [
        state.journal,
        f"schema {state.schema}{known}, {state.bytes / 1e6:,.1f} MB",
        f"{counted(state.runs, 'run')}, {state.running} running"
        + (f", the oldest from {state.oldest[:10]}" if state.oldest else ""),
    ]
    if state.workers is not None and state.partitions is not None:
        lines.append(f"{counted(state.workers, 'worker')} alive, {counted(state.partitions, 'partition')}")
    return lines
