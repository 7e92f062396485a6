"""`goalwright trace diff`: compare two runs."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import configuration, options, stdin
from goalwright.interfaces.cli.view import output, width

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.interfaces.cli.view.output_mode import OutputMode


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
      goalwright trace diff 20261115T0213 last
      goalwright trace diff before.jsonl after.jsonl --json

    Exit status: 0 done, whether or not they differ, 2 no such run or file.
    """
    from goalwright.traces.diff import compare
    from goalwright.traces.read import find_traces
    from goalwright.traces.timeline import TYPES, timeline

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
