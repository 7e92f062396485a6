"""`weft trace`: look at recorded runs, compare them, take them elsewhere, and forget them."""

from __future__ import annotations

import math
import sys
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from skills.errors import InputError
from skills.text.plural import counted
from weft.cli import options
from weft.cli.view import output, width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from executor.stores.row import RunSummary
    from executor.stores.store import Store
    from weft.settings.paths import Paths
    from weft.settings.settings import Settings
    from weft.traces.read import Trace


@click.group(short_help="Look at recorded runs, compare, export, import and prune them.")
def trace() -> None:
    """Look at recorded runs, compare them, take them elsewhere, and forget them. No model is asked.

    \b
    Examples:
      weft trace list
      weft trace show last
      weft trace show last --task survey
      weft trace export last -o run.jsonl
    """


def _opened(workspace: Path, journal: str | None) -> tuple[Paths, Settings, Store]:
    from weft.runs import records

    where = options.paths(workspace)
    settings = options.settings(where, {"journal": journal}, quiet=True).settings
    return where, settings, records.kept(where, settings)


def _runs(workspace: Path, journal: str | None, limit: int | None) -> Sequence[RunSummary]:
    """The runs there are; none where no run was ever made here."""
    from weft.runs import records

    where = options.paths(workspace)
    settings = options.settings(where, {"journal": journal}, quiet=True).settings
    if not settings.journal and not (where.agents / "journal.sqlite").exists():
        return []
    return list(records.kept(where, settings).summaries(limit))


@trace.command("list", short_help="The runs there are, newest first.")
@click.option("--limit", type=click.IntRange(1), help="At most this many (default: 50 on a terminal, all with --json).")
@options.journal
@options.common
def list_runs(workspace: Path, journal: str | None, limit: int | None, *, as_json: bool, quiet: bool, **_: Any) -> int:
    """List the runs of this workspace, newest first.

    \b
    Examples:
      weft trace list --limit 10
      weft trace list --json
    """
    from weft.cli.view import run_list

    runs = _runs(workspace, journal, limit if limit or as_json else 50)
    if as_json:
        output.print_json([run.to_dict() for run in runs])
        return 0
    if not runs and not quiet:
        output.say("No run was made here yet.")
    for line in run_list.lines(runs, width.of(sys.stdout)):
        output.print_text(line)
    return 0


@trace.command("show", short_help="One run: its graph, its time, its critical path.")
@click.argument("run", default="last", metavar="[RUN|FILE]", callback=options.or_stdin)
@click.option("--task", metavar="ID", help="Show this task's prompts and replies in full; (plan) and (synthesis) too.")
@options.journal
@options.common
def show(run: str, workspace: Path, journal: str | None, task: str | None, *, as_json: bool, **_: Any) -> int:
    """Show RUN (an id, the beginning of one, or `last`) or the runs in an exported FILE.

    Who waited for whom, retries, tokens, cost, the skill behind each task and why it was selected.

    \b
    Examples:
      weft trace show
      weft trace show 20261115T0213 --task survey
      weft trace show last --task "(plan)"
      weft trace show exported.jsonl
    """
    from weft.cli.view.timeline import drawn
    from weft.traces import read as traces
    from weft.traces.timeline import TYPES, timeline

    where = options.paths(workspace)
    settings = options.settings(where, {"journal": journal}, quiet=True).settings
    found = list(traces.named([run], where, settings))
    if task is not None:
        return _show_task(found, task, as_json=as_json)
    views = [timeline(one.rows(TYPES), alive=one.alive) for one in found]
    if as_json:
        documents = [view.to_dict() for view in views]
        output.print_json(documents[0] if len(documents) == 1 else documents)
    else:
        room = width.of(sys.stdout)
        output.print_text("\n\n".join(drawn(view, room) for view in views))
    return 0


def _show_task(found: Sequence[Trace], task: str, *, as_json: bool) -> int:
    from weft.cli.view.timeline import in_full

    role = {"(plan)": "decomposer", "(synthesis)": "synthesis"}.get(task)
    rows = [
        row
        for one in found
        for row in one.rows(task=None if role else task)
        if role is None or row.body.get("role") == role
    ]
    if not rows:
        names = ", ".join(one.run_id for one in found)
        raise InputError(f"run {names} has no task {task!r}", hint="`weft trace show` lists its tasks")
    if as_json:
        output.print_json([row.to_dict() for row in rows])
    else:
        output.print_text("\n".join(in_full(rows)))
    return 0


@trace.command("diff", short_help="Two runs side by side.")
@click.argument("a")
@click.argument("b")
@options.journal
@options.common
def diff(a: str, b: str, workspace: Path, journal: str | None, *, as_json: bool, **_: Any) -> int:
    """Compare runs A and B (ids or exported files): selection, plan, inputs, outputs, tokens, time.

    \b
    Examples:
      weft trace diff 20261115T0213 last
      weft trace diff before.jsonl after.jsonl --json
    """
    from weft.traces import read as traces
    from weft.traces.diff import compare
    from weft.traces.timeline import TYPES, timeline

    where = options.paths(workspace)
    settings = options.settings(where, {"journal": journal}, quiet=True).settings
    views = [
        timeline(one.rows(TYPES), alive=one.alive)
        for name in (a, b)
        for one in list(traces.named([name], where, settings))[:1]
    ]
    found = list(compare(*views))
    room = width.of(sys.stdout)
    if as_json:
        output.print_json([one.to_dict() for one in found])
        return 0
    for one in found:
        output.print_text(width.wrapped(str(one), room))
    if not found:
        output.print_text("nothing differs")
    return 0


@trace.command("export", short_help="Write runs as JSON lines, as a page, or to OpenTelemetry.")
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option("--all", "everything", is_flag=True, help="All runs.")
@options.written("Write to this file, not to stdout.")
@click.option("--html", is_flag=True, help="One self-contained page instead of JSON lines.")
@click.option("--otlp", is_flag=True, help="Send spans to OTEL_EXPORTER_OTLP_ENDPOINT (http://localhost:4318).")
@click.option("--content", is_flag=True, help="With --otlp: send prompts and replies too.")
@options.journal
@options.common
def export(runs: tuple[str, ...], workspace: Path, target: Path | None, journal: str | None, **rest: Any) -> int:
    """Write RUNs (default: the last) as portable JSON lines, one event a line, to stdout or a file.

    \b
    Examples:
      weft trace export last -o run.jsonl
      weft trace export --html last -o run.html
      weft trace export --otlp last
    """
    _where, _, store = _opened(workspace, journal)
    chosen = list(store.summaries()) if rest["everything"] else []
    chosen = chosen or [store.find(run) for run in runs or ("last",)]
    ids = [run.run_id for run in chosen]
    if rest["otlp"]:
        from weft.traces import otlp

        spans: dict[str, int] = {}
        for run_id in ids:
            spans[run_id] = otlp.send(store.rows(run_id), content=rest["content"])
            if not rest["quiet"]:
                output.say(f"{run_id}: {counted(spans[run_id], 'span')} sent")
        if rest["as_json"]:
            output.print_json({"runs": ids, "spans": sum(spans.values())})
        return 0
    with ExitStack() as stack:
        file = stack.enter_context(target.open("w", encoding="utf-8")) if target is not None else sys.stdout
        _write(file, store, chosen, html=rest["html"])
    if target is not None and rest["as_json"]:
        output.print_json({"output": str(target.absolute()), "runs": ids})
    elif target is not None and not rest["quiet"]:
        output.say(f"{counted(len(ids), 'run')} written to {target}")
    return 0


def _write(file: TextIO, store: Store, runs: Sequence[RunSummary], *, html: bool) -> None:
    if html:
        from weft.traces import html_page

        alive = {run.run_id for run in runs if run.status == "running"}
        file.write(html_page.render([list(store.rows(run.run_id)) for run in runs], alive))
        return
    from executor.journal import trace_file

    for run in runs:
        for line in trace_file.lines(store.rows(run.run_id)):
            file.write(line + "\n")


@trace.command("import", short_help="Take exported runs into this journal.")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), callback=options.or_stdin)
@options.journal
@options.common
def import_runs(files: tuple[Path, ...], workspace: Path, journal: str | None, *, as_json: bool, **_: Any) -> int:
    """Take runs from exported FILES into this workspace's journal; a run that is there already is refused.

    \b
    Examples:
      weft trace import run.jsonl
      ssh elsewhere weft trace export last | weft trace import -
    """
    from weft.runs import records
    from weft.traces import transfer

    where = options.paths(workspace)
    settings = options.settings(where, {"journal": journal}, quiet=True).settings
    journal_of_runs = records.opened(where, settings)
    try:
        taken = transfer.take(files, journal_of_runs.store, where)
    finally:
        journal_of_runs.close()
    if as_json:
        output.print_json(taken)
    else:
        output.print_text(f"{counted(len(taken), 'run')} imported: {', '.join(taken)}")
    return 0


@trace.command("prune", short_help="Forget runs.")
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option(
    "--older-than",
    type=click.FloatRange(0, 36_500),
    metavar="DAYS",
    help="Runs that began more than this many days ago.",
)
@click.option("--keep", type=click.IntRange(0), metavar="N", help="All but the newest N.")
@click.option("--dry-run", is_flag=True, help="Only say which.")
@options.journal
@options.common
def prune(runs: tuple[str, ...], workspace: Path, journal: str | None, *, as_json: bool, **rest: Any) -> int:
    """Forget RUNs, old ones, or all but the newest, with their artifacts; one that is running is left alone.

    \b
    Examples:
      weft trace prune 20261115T0213
      weft trace prune --older-than 30 --dry-run
      weft trace prune --keep 100
    """
    from weft.traces import transfer

    where, _, store = _opened(workspace, journal)
    ids = {store.find(run).run_id for run in runs}
    if not runs and rest["older_than"] is None and rest["keep"] is None:
        raise InputError("nothing says which runs to forget", hint="name runs, or give --older-than DAYS or --keep N")
    if rest["older_than"] is not None and math.isnan(rest["older_than"]):  # which is in no range, and out of none
        raise InputError("--older-than nan is no number of days", hint="such as --older-than 30")
    day = datetime.now(UTC) - timedelta(days=rest["older_than"] or 0)
    chosen = []
    for place, run in enumerate(store.summaries()):
        old = rest["older_than"] is not None and datetime.fromisoformat(run.started) < day
        surplus = rest["keep"] is not None and place >= rest["keep"]
        if run.status != "running" and (run.run_id in ids or old or surplus):
            chosen.append(run.run_id)
    if not rest["dry_run"]:
        chosen = list(transfer.forget(chosen, store, where))
    for run_id in sorted(ids - set(chosen)):
        output.say_warning(f"a process is at run {run_id}; it is left alone")
    if as_json:
        output.print_json(chosen)
    else:
        output.print_text(f"{counted(len(chosen), 'run')} {'would be ' if rest['dry_run'] else ''}forgotten")
    return 0
