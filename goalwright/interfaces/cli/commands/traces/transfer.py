"""`goalwright trace export` and `goalwright trace import`."""

from __future__ import annotations

from contextlib import closing, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from goalwright.interfaces.cli import configuration, options, stdin
from goalwright.interfaces.cli.view import output, whole_file
from goalwright_skills.text.formatting import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.interfaces.cli.view.output import OutputMode
    from goalwright_executor.stores.row import RunSummary
    from goalwright_executor.stores.store import Store


# The suffixes of files that a browser would render.
_PAGES = (".html", ".htm", ".xhtml", ".shtml")


@click.command()
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option("--all", "everything", is_flag=True, help="Export all runs.")
@options.output_file("Write to this file instead of stdout.")
@click.option("--html", is_flag=True, help="Write one self-contained HTML page instead of JSON lines.")
@click.option(
    "--otlp", is_flag=True, help="Send spans to OTEL_EXPORTER_OTLP_ENDPOINT (default: http://localhost:4318)."
)
@click.option("--content", is_flag=True, help="With --otlp: include prompts and replies.")
@options.journal
@options.common
def export(
    runs: tuple[str, ...],
    workspace: Path,
    target: Path | None,
    flags: SettingFlags,
    mode: OutputMode,
    *,
    everything: bool,
    html: bool,
    otlp: bool,
    content: bool,
) -> int:
    """Export runs as JSON lines, as an HTML page or to OpenTelemetry.

    RUN is a run's id, a prefix of it, or `last` (the default). JSON lines have one event each and can be imported,
    shown and replayed on another machine. A file name with .html selects --html.

    \b
    Examples:
      goalwright trace export last -o run.jsonl
      goalwright trace export last -o run.html
      goalwright trace export --otlp last

    Exit status: 0 done, 1 the collector did not accept the spans, 2 no such run.
    """
    from goalwright.runs.stored import records

    html = html or (target is not None and target.suffix.lower() in _PAGES)
    store = records.recorded_runs(*configuration.journal_settings(workspace, flags))
    chosen = list(store.summaries()) if everything else []
    chosen = chosen or [store.find(run) for run in runs or ("last",)]
    ids = [run.run_id for run in chosen]
    if otlp:
        return _send(store, ids, mode, content=content)
    with whole_file.opened(target) if target is not None else nullcontext(output.stdout()) as file:
        _write(file, store, chosen, html=html)
    if target is not None and mode.as_json:
        output.print_json({"output": str(target.absolute()), "runs": ids})
    elif target is not None and not mode.quiet:
        output.say(f"{counted(len(ids), 'run')} written to {target}")
    return 0


def _send(store: Store, ids: Sequence[str], mode: OutputMode, *, content: bool) -> int:
    from goalwright.telemetry import otlp

    total = 0
    for run_id in ids:
        spans = otlp.send(store.rows(run_id), content=content)
        total += spans
        if not mode.quiet:
            output.say(f"{run_id}: {counted(spans, 'span')} sent")
    if mode.as_json:
        output.print_json({"runs": ids, "spans": total})
    return 0


def _write(file: TextIO, store: Store, runs: Sequence[RunSummary], *, html: bool) -> None:
    if html:
        from goalwright.interfaces.web import trace_page as html_page

        alive = {run.run_id for run in runs if run.status == "running"}
        file.write(html_page.render([list(store.rows(run.run_id)) for run in runs], alive))
        return
    from goalwright_executor.journal import trace_file

    for run in runs:
        for line in trace_file.lines(store.rows(run.run_id)):
            file.write(line + "\n")


@click.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), callback=stdin.or_stdin)
@options.journal
@options.common
def import_runs(files: tuple[Path, ...], workspace: Path, flags: SettingFlags, mode: OutputMode) -> int:
    """Import exported runs into this journal.

    Imports all runs in FILES (`-`: stdin), or none if one is incomplete or already in the journal.

    \b
    Examples:
      goalwright trace import run.jsonl
      ssh elsewhere goalwright trace export last | goalwright trace import -

    Exit status: 0 done, 2 a file or run was refused, 4 the journal cannot be used.
    """
    from goalwright.runs.stored import records
    from goalwright.traces import transfer

    where, settings = configuration.journal_settings(workspace, flags)
    with closing(records.open_journal(where, settings)) as opened:
        imported = transfer.import_runs(files, opened.store, where)
    output.show(mode, imported, f"{counted(len(imported), 'run')} imported: {', '.join(imported)}")
    return 0
