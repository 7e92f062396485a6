"""`goalwright journal`: the size of the journal, and upgrading its tables."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import configuration, options
from goalwright.interfaces.cli.view import output
from goalwright_skills.text.formatting import counted

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.interfaces.cli.view.output import OutputMode
    from goalwright_executor.stores.row import StoreStatus

# Seconds between progress lines while runs are indexed, and the largest number of runs that is counted.
_INTERVAL = 5.0
_MOST_COUNTED = 10_000


@click.group()
def journal() -> None:
    """Show the size of the journal, or upgrade its tables.

    \b
    Examples:
      goalwright journal status
      goalwright journal migrate --journal postgresql://goalwright@db/goalwright
    """


@journal.command()
@options.journal
@options.common
def status(workspace: Path, flags: SettingFlags, mode: OutputMode) -> int:
    """Show the size of the journal and the workers that use it.

    \b
    Examples:
      goalwright journal status
      goalwright journal status --journal postgresql://goalwright@db/goalwright --json

    Exit status: 0 done, 2 no such journal, 4 it cannot be used.
    """
    from goalwright.settings import journal_place

    with closing(journal_place.recorded_runs(*configuration.journal_settings(workspace, flags))) as store:
        state = store.status()
    output.show(mode, asdict(state), "\n".join(_status_lines(state)))
    return 0


def _status_lines(state: StoreStatus) -> list[str]:
    newest = "" if state.schema == state.newest else f" (this goalwright uses {state.newest})"
    lines = [
        state.journal,
        f"schema {state.schema}{newest}, {state.bytes / 1e6:,.1f} MB",
        f"{counted(state.runs, 'run')}, {state.running} running"
        + (f", the oldest from {state.oldest[:10]}" if state.oldest else ""),
    ]
    if state.workers is not None and state.partitions is not None:
        lines.append(f"{counted(state.workers, 'worker')} alive, {counted(state.partitions, 'partition')}")
    return lines


@journal.command()
@options.journal
@options.common
def migrate(workspace: Path, flags: SettingFlags, mode: OutputMode) -> int:
    """Upgrade the journal's tables to this version of goalwright.

    A journal in a file is upgraded when it is opened. Tables in PostgreSQL are changed only by this command, run as the
    role that owns them; the previous version of goalwright can keep using them. An empty database gets new tables.
    Runs that are missing from the search index are added to it.

    \b
    Examples:
      goalwright journal migrate --journal postgresql://owner@db/goalwright

    Exit status: 0 done or nothing to do, 4 the journal cannot be used.
    """
    from goalwright.settings import journal_place
    from goalwright_executor.history.indexer import catch_up
    from goalwright_executor.journal.open_store import migrate_store, open_store
    from goalwright_executor.stores.urls import without_password

    url = journal_place.url(*configuration.journal_settings(workspace, flags))
    before, after = migrate_store(url)
    with closing(open_store(url)) as store:
        while not catch_up(store, _INTERVAL):
            remaining = len(store.unindexed(_MOST_COUNTED))
            if not remaining or mode.quiet:
                break
            prefix = "more than " if remaining == _MOST_COUNTED else ""
            output.say(f"indexing: {prefix}{remaining:,} runs left")
    text = f" is up to date (schema {after})" if before == after else f": schema {before} → {after}"
    output.show(
        mode, {"journal": without_password(url), "before": before, "after": after}, without_password(url) + text
    )
    return 0
