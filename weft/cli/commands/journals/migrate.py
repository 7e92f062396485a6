"""`weft journal migrate`: upgrade the journal's tables to this version of weft."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from weft.cli import configuration, options
from weft.cli.view import output

if TYPE_CHECKING:
    from pathlib import Path

    from weft.cli.configuration import SettingFlags
    from weft.cli.view.output_mode import OutputMode


@click.command()
@options.journal
@options.common
def migrate(workspace: Path, flags: SettingFlags, mode: OutputMode) -> int:
    """Upgrade the journal's tables to this version of weft.

    A journal in a file is migrated by whatever opens it. One in PostgreSQL is only changed by this command, as the role
    that owns its tables; the previous version of weft can keep using it. In an empty database, the tables are created.
    A journal from before 0.1.0 cannot be migrated.

    \b
    Examples:
      weft journal migrate --journal postgresql://owner@db/weft

    Exit status: 0 done or nothing to do, 2 it is of before 0.1.0, 4 the journal cannot be used.
    """
    from weft.settings import journal_place
    from weft_executor.journal.open_store import migrate_store
    from weft_executor.stores.urls import shown

    url = journal_place.url(*configuration.journal_settings(workspace, flags))
    before, after = migrate_store(url)
    text = f" is up to date (schema {after})" if before == after else f": schema {before} → {after}"
    output.show(mode, {"journal": shown(url), "before": before, "after": after}, shown(url) + text)
    return 0
