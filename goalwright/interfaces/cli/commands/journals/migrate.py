"""`goalwright journal migrate`: upgrade the journal's tables to this version of goalwright."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import configuration, options
from goalwright.interfaces.cli.view import output

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.interfaces.cli.view.output_mode import OutputMode

# Seconds between two words about runs that are indexed, and up to how many are counted.
_PIECE = 5.0
_COUNTED = 10_000


@click.command()
@options.journal
@options.common
def migrate(workspace: Path, flags: SettingFlags, mode: OutputMode) -> int:
    """Upgrade the journal's tables to this version of goalwright.

    A journal in a file is migrated by whatever opens it. One in PostgreSQL is only changed by this command, as the role
    that owns its tables; the previous version of goalwright can keep using it. In an empty database, the tables are created.
    A journal from before 0.1.0 cannot be migrated. Runs that are not in the search index are put into it.

    \b
    Examples:
      goalwright journal migrate --journal postgresql://owner@db/goalwright

    Exit status: 0 done or nothing to do, 2 it was made before 0.1.0, 4 the journal cannot be used.
    """
    from goalwright.settings import journal_place
    from goalwright_executor.history.indexer import catch_up
    from goalwright_executor.journal.open_store import migrate_store, open_store
    from goalwright_executor.stores.urls import shown

    url = journal_place.url(*configuration.journal_settings(workspace, flags))
    before, after = migrate_store(url)
    with closing(open_store(url)) as store:
        while not catch_up(store, _PIECE):
            left = len(store.unindexed(_COUNTED))
            if not left or mode.quiet:
                break
            output.say(f"{'more than ' if left == _COUNTED else ''}{left:,} runs are still to be indexed")
    text = f" is up to date (schema {after})" if before == after else f": schema {before} → {after}"
    output.show(mode, {"journal": shown(url), "before": before, "after": after}, shown(url) + text)
    return 0
