"""`goalwright trace stats`: the runs of a journal in figures."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from goalwright.interfaces.cli import configuration, options
from goalwright.interfaces.cli.view import output, width
from goalwright_skills.text.money import dollars

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.interfaces.cli.view.output_mode import OutputMode

_MOST_DAYS = 366
_CATCH_UP = 5.0
_SHOWN = 10


@click.command()
@click.option(
    "--days",
    type=click.IntRange(1, _MOST_DAYS),
    default=30,
    show_default=True,
    metavar="N",
    help="Count the last N days.",
)
@options.journal
@options.common
def stats(workspace: Path, days: int, flags: SettingFlags, mode: OutputMode) -> int:
    """Count runs, costs, failures and skills, day by day.

    Days are those of UTC. A skill is ignored where it was selected and no finished task used it.

    \b
    Examples:
      goalwright trace stats
      goalwright trace stats --days 7 --json

    Exit status: 0 done, 2 wrong usage, 4 the journal cannot be used.
    """
    from goalwright.settings import journal_place
    from goalwright.traces.statistics import statistics
    from goalwright_executor.history.indexer import catch_up

    where, settings = configuration.journal_settings(workspace, flags)
    found = settings.journal or (where.agents / "journal.sqlite").exists()
    store = journal_place.recorded_runs(where, settings) if found else None
    if store is not None and not catch_up(store, _CATCH_UP):
        output.say("Not all runs are in the index yet; `goalwright journal migrate` completes it.")
    figures = statistics(store, days)
    if mode.as_json:
        output.print_json(figures)
        return 0
    for line in _lines(figures):
        output.print_text(width.cut(line, width.of(sys.stdout)))
    return 0


def _lines(figures: dict[str, Any]) -> Iterator[str]:
    yield f"{'day':<12}{'runs':>8}{'failed':>8}{'cost':>12}{'tokens':>14}{'median':>10}{'95 %':>10}"
    rows = [one for one in figures["days"] if one["runs"]]
    for one in [*rows, figures["total"] | {"day": "all"}]:
        yield (
            f"{one['day']:<12}{one['runs']:>8,}{one['failures']:>8,}{_cost(one):>12}{one['tokens']:>14,}"
            f"{_seconds(one['median_seconds']):>10}{_seconds(one['p95_seconds']):>10}"
        )
    if figures["failures"]:
        yield ""
        yield f"{'runs':>8}  cause"
        for one in figures["failures"][:_SHOWN]:
            yield f"{one['runs']:>8,}  {one['status']}{': ' + one['code'] if one['code'] else ''}"
    if figures["skills"]:
        yield ""
        yield f"{'selected':>8}{'used':>8}{'ignored':>9}  skill"
        for one in figures["skills"][:_SHOWN]:
            yield f"{one['selected']:>8,}{one['used']:>8,}{one['ignored']:>9,}  {one['name']}"


def _cost(one: dict[str, Any]) -> str:
    return f"{dollars(one['cost_usd'])}{'?' if one['unpriced'] else ''}"


def _seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f} s"
