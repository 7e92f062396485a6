"""`weft journal`: how large the journal is, its tables brought up to date, and old runs deleted."""

from __future__ import annotations

import click

from weft.cli.lazy_group import LazyGroup

_SUBCOMMANDS = {
    "status": ("weft.cli.commands.journals.status:status", "Show how large the journal is, and who uses it."),
    "migrate": ("weft.cli.commands.journals.migrate:migrate", "Upgrade the journal's tables to this version of weft."),
    "prune": ("weft.cli.commands.traces.prune:prune", "Delete runs and their artifacts."),
}


@click.group(cls=LazyGroup, subcommands=_SUBCOMMANDS)
def journal() -> None:
    """Manage the journal: show its size, upgrade its tables, delete old runs.

    \b
    Examples:
      weft journal status
      weft journal migrate --journal postgresql://weft@db/weft
      weft journal prune --older-than 30d
    """
