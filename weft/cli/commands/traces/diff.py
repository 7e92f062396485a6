"""`weft trace diff`: compare two runs."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from weft.cli import configuration, options, stdin
from weft.cli.view import output, width

if TYPE_CHECKING:
    from pathlib import Path

    from weft.cli.configuration import SettingFlags
    from weft.cli.view.output_mode import OutputMode


@click.command()
@click.argument("a", callback=stdin.or_stdin)
@click.argument("b", callback=stdin.or_stdin)
@options.journal
@options.common
def diff(a: str, b: str, workspace: Path, flags: SettingFlags, mode: OutputMode) -> int:
    """Compare two runs.

    A and B are run ids or exported files (`-`: stdin). Compares selection, plan, inputs, outputs, tokens, cost and
    time.

    \b
    Examples:
      weft trace diff 20261115T0213 last
      weft trace diff before.jsonl after.jsonl --json

    Exit status: 0 done, whether or not they differ, 2 no such run or file.
    """
    from weft.traces.diff import compare
    from weft.traces.read import find_traces
    from weft.traces.timeline import TYPES, timeline

    where, settings = configuration.journal_settings(workspace, flags)
    first, second = (next(find_traces([name], where, settings)) for name in (a, b))
    timelines = [timeline(trace.rows(TYPES), alive=trace.alive) for trace in (first, second)]
    differences = list(compare(*timelines))
    if mode.as_json:
        output.print_json([asdict(difference) for difference in differences])
        return 0
    for difference in differences:
        output.print_text(width.wrap(str(difference), width.of(sys.stdout)))
    if not differences:
        output.print_text("no differences")
    return 0
