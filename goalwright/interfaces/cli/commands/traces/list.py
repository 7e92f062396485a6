"""`goalwright trace list` and `goalwright trace stats`: the runs of a journal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from goalwright.interfaces.cli import configuration, options
from goalwright.interfaces.cli.view import output, width
from goalwright_skills.text.formatting import counted, dollars

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.interfaces.cli.view.output import OutputMode
    from goalwright_executor.stores.row import RunSummary
    from goalwright_executor.stores.run_lists import RunFilter


_DEFAULT_LIMIT = 50
# Seconds that a search waits for runs to be indexed.
_CATCH_UP = 5.0
_MIN_GOAL_WIDTH = 24  # the columns that it takes to recognise a goal


@click.command("list")
@click.argument("words", nargs=-1, metavar="[WORD]...")
@click.option(
    "--limit", type=click.IntRange(1), metavar="N", help="List at most N runs (default: 50; with --json, all)."
)
@click.option("--status", metavar="STATUS", help="Only runs with these statuses, separated by commas: failed,partial.")
@click.option("--skill", metavar="NAME", help="Only runs that selected this skill.")
@click.option("--model", "model_name", metavar="NAME", help="Only runs with this model, with or without its provider.")
@click.option("--tag", metavar="TEXT", help="Only runs with this tag.")
@click.option("--code", metavar="CODE", help="Only runs that this error ended.")
@click.option("--since", metavar="TIME", help="Only runs that started since this time: 2026-11-01, 7d, 12h.")
@click.option("--until", metavar="TIME", help="Only runs that started before this time.")
@click.option("--min-cost", type=float, metavar="USD", help="Only runs that cost at least this.")
@click.option("--max-cost", type=float, metavar="USD", help="Only runs that cost at most this.")
@click.option("--min-seconds", type=float, metavar="N", help="Only runs that took at least N seconds.")
@click.option("--max-seconds", type=float, metavar="N", help="Only runs that took at most N seconds.")
@options.journal
@options.common
def list_runs(
    words: tuple[str, ...],
    workspace: Path,
    limit: int | None,
    model_name: str | None,
    flags: SettingFlags,
    mode: OutputMode,
    status: str | None,
    skill: str | None,
    tag: str | None,
    code: str | None,
    since: str | None,
    until: str | None,
    min_cost: float | None,
    max_cost: float | None,
    min_seconds: float | None,
    max_seconds: float | None,
) -> int:
    """List the runs of this workspace, newest first.

    With WORDs, only the runs that contain all of them: in the goal, the answer, task titles and values, errors, skills,
    tags or the note. A word matches the beginning of a word; "words in quotes" must be adjacent.

    \b
    Examples:
      goalwright trace list --limit 10
      goalwright trace list redis latency --status failed,partial --since 7d
      goalwright trace list --tag baseline --min-cost 0.1 --json

    Exit status: 0 done, 2 wrong usage, 4 the journal cannot be used.
    """
    from goalwright.traces import run_search

    named = {"text": " ".join(words), "status": status, "skill": skill, "model": model_name, "tag": tag, "code": code}
    bounds = {"since": since, "until": until, "min_cost": min_cost, "max_cost": max_cost}
    criteria = run_search.run_filter({**named, **bounds, "min_seconds": min_seconds, "max_seconds": max_seconds})
    runs = _find_runs(workspace, flags, limit if limit or mode.as_json else _DEFAULT_LIMIT, criteria)
    if mode.as_json:
        output.print_json([run.to_dict() for run in runs])
        return 0
    if not runs and not mode.quiet:
        output.say("No run matches." if criteria else "No runs yet.")
    for line in run_lines(runs, width.of(sys.stdout)):
        output.print_text(line)
    return 0


def _find_runs(workspace: Path, flags: SettingFlags, limit: int | None, criteria: RunFilter) -> Sequence[RunSummary]:
    """Return the matching runs of the journal; a workspace without a journal has none."""
    from goalwright.settings import journal_place
    from goalwright_executor.capture.named_roots import is_marked

    where, settings = configuration.journal_settings(workspace, flags)
    if not settings.journal and not (where.agents / "journal.sqlite").exists():
        return []
    store = journal_place.recorded_runs(where, settings)
    if criteria.keys() & {"text", "model", "code"}:
        from goalwright_executor.history.indexer import catch_up

        if not catch_up(store, _CATCH_UP):
            output.say("Not all runs are in the index yet; `goalwright journal migrate` completes it.")
    runs = list(store.summaries(limit, **criteria))
    if not any(is_marked(text) for run in runs for text in (run.goal, run.note, *run.tags)):
        return runs
    from goalwright.runs.stored.records import local_summary  # slow to import

    return [local_summary(run, where) for run in runs]


def run_lines(runs: Sequence[RunSummary], max_width: int | None) -> Iterator[str]:
    """List runs with status, tasks, time, cost and goal; on a narrow terminal the goal has its own line."""
    rows = [(run.run_id, *_figures(run)) for run in runs]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for run, (run_id, status, *figures) in zip(runs, rows, strict=True):
        aligned = " ".join(f"{text:>{size}}" for text, size in zip(figures, widths[2:], strict=True))
        line = f"{run_id:<{widths[0]}}  {status:<{widths[1]}} {aligned}"
        goal = " ".join(run.goal.split())
        if max_width is None or max_width - len(line) - 2 >= _MIN_GOAL_WIDTH:
            yield f"{line}  {width.cut(goal, max_width and max_width - len(line) - 2)}"
            continue
        if len(line) <= max_width:
            yield line
        else:
            yield from width.flow(f"{run_id}  {status}", filter(None, figures), max_width)
        yield f"    {width.cut(goal, max_width - 4)}"


def _figures(run: RunSummary) -> tuple[str, str, str, str]:
    cost = "?" if run.cost_usd is None else dollars(run.cost_usd)
    seconds = "" if run.seconds is None else f"{run.seconds:.1f} s"
    return run.status, counted(run.tasks, "task"), seconds, cost


_MOST_DAYS = 366
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

    Days are in UTC. A skill is counted as ignored if it was selected and no finished task used it.

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
    exists = settings.journal or (where.agents / "journal.sqlite").exists()
    store = journal_place.recorded_runs(where, settings) if exists else None
    if store is not None and not catch_up(store, _CATCH_UP):
        output.say("Not all runs are in the index yet; `goalwright journal migrate` completes it.")
    figures = statistics(store, days)
    if mode.as_json:
        output.print_json(figures)
        return 0
    for line in _figure_lines(figures):
        output.print_text(width.cut(line, width.of(sys.stdout)))
    return 0


def _figure_lines(figures: dict[str, Any]) -> Iterator[str]:
    yield f"{'day':<12}{'runs':>8}{'failed':>8}{'cost':>12}{'tokens':>14}{'median':>10}{'95 %':>10}"
    rows = [day for day in figures["days"] if day["runs"]]
    for row in [*rows, figures["total"] | {"day": "all"}]:
        yield (
            f"{row['day']:<12}{row['runs']:>8,}{row['failures']:>8,}{_cost(row):>12}{row['tokens']:>14,}"
            f"{_seconds(row['median_seconds']):>10}{_seconds(row['p95_seconds']):>10}"
        )
    if figures["failures"]:
        yield ""
        yield f"{'runs':>8}  cause"
        for row in figures["failures"][:_SHOWN]:
            yield f"{row['runs']:>8,}  {row['status']}{': ' + row['code'] if row['code'] else ''}"
    if figures["skills"]:
        yield ""
        yield f"{'selected':>8}{'used':>8}{'ignored':>9}  skill"
        for row in figures["skills"][:_SHOWN]:
            yield f"{row['selected']:>8,}{row['used']:>8,}{row['ignored']:>9,}  {row['name']}"


def _cost(row: dict[str, Any]) -> str:
    return f"{dollars(row['cost_usd'])}{'?' if row['unpriced'] else ''}"


def _seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f} s"
