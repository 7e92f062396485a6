"""`goalwright trace prune`: delete runs and their artifacts."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from goalwright.interfaces.cli import configuration, options
from goalwright.interfaces.cli.view import output
from goalwright_skills.errors import InputError
from goalwright_skills.text.formatting import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.interfaces.cli.view.output import OutputMode
    from goalwright_executor.stores.store import Store


class _Days(click.FloatRange):
    """A number of days, such as 30 or 30d."""

    def __init__(self) -> None:
        super().__init__(0, 36_500)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            days = float(value.removesuffix("d") if isinstance(value, str) else value)
        except ValueError:
            days = math.nan
        if math.isnan(days):  # NaN passes every range check
            self.fail(f"{value!r} is not a number of days; for example: 30 or 30d", param, ctx)
        return super().convert(days, param, ctx)


@click.command()
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option(
    "--older-than",
    type=_Days(),
    metavar="DAYS",
    help="Delete runs that started more than this many days ago: 30 or 30d.",
)
@click.option(
    "--keep",
    type=click.IntRange(0),
    metavar="N",
    help="Keep the newest N runs.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be deleted.")
@options.journal
@options.common
def prune(
    runs: tuple[str, ...],
    workspace: Path,
    older_than: float | None,
    keep: int | None,
    flags: SettingFlags,
    mode: OutputMode,
    *,
    dry_run: bool,
) -> int:
    """Delete runs and their artifacts.

    Deletes the RUNs named, old runs, or all but the newest. With --older-than and --keep, a run must be old and not
    among the newest. A run in progress is not deleted. Artifacts belong to the workspace: copies of a run in other
    journals lose them too.

    \b
    Examples:
      goalwright trace prune 20261115T0213
      goalwright trace prune --older-than 30d --dry-run
      goalwright trace prune --keep 100
      goalwright trace prune --older-than 30d --keep 100

    Exit status: 0 done, 2 wrong usage or no such run.
    """
    from goalwright.settings import journal_place
    from goalwright.traces import transfer

    where, settings = configuration.journal_settings(workspace, flags)
    store = journal_place.recorded_runs(where, settings)
    named = {store.find(run).run_id for run in runs}
    if not runs and older_than is None and keep is None:
        raise InputError("no runs to delete were named", hint="name runs, or pass --older-than DAYS or --keep N")
    chosen = _choose(store, named, older_than, keep)
    kept_folders: Sequence[Path] = ()
    if not dry_run:
        deleted = transfer.delete_runs(chosen, store, where)
        chosen, kept_folders = list(deleted.runs), deleted.left
    for run_id in sorted(named - set(chosen)):
        output.say_warning(f"run {run_id} is in use by another process and was not deleted")
    for folder in kept_folders:
        output.say_warning(
            f"{folder} could not be deleted with its run: look at its permissions and delete it yourself"
        )
    count = f"{counted(len(chosen), 'run')} {'would be ' if dry_run else ''}deleted"
    output.show(mode, chosen, "\n".join([*chosen, count] if dry_run else [count]))
    return 0


def _choose(store: Store, named: Collection[str], older_than: float | None, keep: int | None) -> list[str]:
    """Return the ids of the runs to delete, newest first, without those in progress."""
    cutoff = datetime.now(UTC) - timedelta(days=older_than or 0)
    chosen = []
    for position, run in enumerate(store.summaries()):
        old = older_than is not None and datetime.fromisoformat(run.started) < cutoff
        surplus = keep is not None and position >= keep
        due = (old and surplus) if None not in (older_than, keep) else (old or surplus)
        if run.status != "running" and (run.run_id in named or due):
            chosen.append(run.run_id)
    return chosen
