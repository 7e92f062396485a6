"""`weft journal status`: how large the journal is, and who uses it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from weft.cli import options
from weft.cli.view import output
from weft_skills.text.plural import counted

if TYPE_CHECKING:
    from pathlib import Path

    from weft_executor.stores.row import StoreStatus


@click.command()
@options.journal
@options.common
def status(workspace: Path, journal: str | None, *, as_json: bool, **_: Any) -> int:
    """Show how large the journal is, and who uses it.

    \b
    Examples:
      weft journal status
      weft journal status --journal postgresql://weft@db/weft --json

    Exit status: 0 done, 2 no such journal, 4 it cannot be used.
    """
    from weft.settings import journal_place

    store = journal_place.recorded_runs(*options.journal_settings(workspace, journal))
    try:
        found = store.status()
    finally:
        store.close()
    if as_json:
        output.print_json(asdict(found))
    else:
        output.print_text("\n".join(_lines(found)))
    return 0


def _lines(found: StoreStatus) -> list[str]:
    known = "" if found.schema == found.newest else f" (this weft knows {found.newest})"
    lines = [
        found.journal,
        f"schema {found.schema}{known}, {found.bytes / 1e6:,.1f} MB",
        f"{counted(found.runs, 'run')}, {found.running} running"
        + (f", the first of {found.oldest[:10]}" if found.oldest else ""),
    ]
    if found.workers is not None and found.partitions is not None:
        lines.append(f"{counted(found.workers, 'worker')} alive, {counted(found.partitions, 'partition')}")
    return lines
