"""`goalwright trace show` and `goalwright trace diff`."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import configuration, options, stdin
from goalwright.interfaces.cli.view import output, width
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.interfaces.cli.view.output import OutputMode
    from goalwright.settings.paths import Paths
    from goalwright.traces.read import Trace
    from goalwright_executor.history.result import Result


@click.command()
@click.argument("run", default="last", metavar="[RUN|FILE]", callback=stdin.or_stdin)
@click.option(
    "--task",
    metavar="ID",
    help="Show the prompts and replies of this task, or of (plan), (replan) or (synthesis).",
)
@click.option("--mermaid", is_flag=True, help="Print the plan as a Mermaid flowchart, for Markdown.")
@options.journal
@options.common
def show(run: str, workspace: Path, task: str | None, flags: SettingFlags, mode: OutputMode, *, mermaid: bool) -> int:
    """Show a run: its graph, timing and critical path.

    RUN is a run's id, a prefix of it, or `last` (the default); FILE is an exported trace (`-`: stdin). For each task:
    its skill and why it was selected, the task that it waited for, retries, tokens and cost.

    \b
    Examples:
      goalwright trace show
      goalwright trace show 20261115T0213 --task survey
      goalwright trace show last --task "(plan)"
      goalwright trace show exported.jsonl
      goalwright trace show last --mermaid >> notes.md

    Exit status: 0 done, 2 no such run, file or task.
    """
    from goalwright.interfaces.cli.view.timeline import draw
    from goalwright.runs.stored import records
    from goalwright.traces.read import find_traces
    from goalwright.traces.timeline import TYPES, timeline

    where, settings = configuration.journal_settings(workspace, flags)
    traces = list(find_traces([run], where, settings))
    if task is not None:
        return _show_task(traces, task, where, mode)
    timelines = [timeline(records.local_rows(trace.rows(TYPES), where), alive=trace.alive) for trace in traces]
    if mermaid:
        return _show_mermaid([shown.result for shown in timelines])
    if mode.as_json:
        documents = [shown.to_dict() for shown in timelines]
        output.print_json(documents[0] if len(documents) == 1 else documents)
    else:
        output.print_text("\n\n".join(draw(shown, width.of(sys.stdout)) for shown in timelines))
        if output.is_terminal() and not mode.quiet:
            output.say("--task ID shows the prompts and replies of a task; `goalwright serve` shows runs in a browser")
    return 0


def _show_mermaid(results: Sequence[Result]) -> int:
    from goalwright.traces.drawing.flowchart import mermaid

    for result in results:
        if result.plan is None or not result.plan.tasks:
            raise InputError(f"run {result.run_id} has no plan", hint="show another run, or resume this one")
        output.print_text(f"```mermaid\n{mermaid(result.plan)}```")
    return 0


def _show_task(traces: Sequence[Trace], task: str, where: Paths, mode: OutputMode) -> int:
    from goalwright.interfaces.cli.view.timeline import event_lines
    from goalwright.runs.stored import records

    rows = [row for trace in traces for row in records.local_rows(trace.step_rows(task), where)]
    if not rows:
        names = ", ".join(trace.run_id for trace in traces)
        raise InputError(f"run {names} has no task {task!r}", hint="`goalwright trace show` lists its tasks")
    output.show(mode, [row.to_dict() for row in rows], "\n".join(event_lines(rows)))
    return 0


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
