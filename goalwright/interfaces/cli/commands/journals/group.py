"""`goalwright journal`: how large the journal is, its tables brought up to date, and old runs deleted."""

from __future__ import annotations

import click

from goalwright.interfaces.cli.lazy_group import LazyGroup

_SUBCOMMANDS = {
    "status": (
        "goalwright.interfaces.cli.commands.journals.status:status",
        "Show how large the journal is, and who uses it.",
    ),
    "migrate": (
        "goalwright.interfaces.cli.commands.journals.migrate:migrate",
        "Upgrade the journal's tables to this version of goalwright.",
    ),
    "prune": ("goalwright.interfaces.cli.commands.traces.prune:prune", "Delete runs and their artifacts."),
}


@click.group(cls=LazyGroup, subcommands=_SUBCOMMANDS)
def journal() -> None:
    """Manage the journal: show its size, upgrade its tables, delete old runs.

    \b
    Examples:
      goalwright journal status
      goalwright journal migrate --journal postgresql://goalwright@db/goalwright
      goalwright journal prune --older-than 30d
    """
