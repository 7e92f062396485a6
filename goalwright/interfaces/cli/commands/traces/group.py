"""`goalwright trace`: find, show, count, tag, compare, export, import and delete recorded runs."""

from __future__ import annotations

import click

from goalwright.interfaces.cli.lazy_group import LazyGroup

_SUBCOMMANDS = {
    "list": (
        "goalwright.interfaces.cli.commands.traces.list:list_runs",
        "List the runs of this workspace, newest first.",
    ),
    "show": ("goalwright.interfaces.cli.commands.traces.show:show", "Show a run: its graph, timing and critical path."),
    "stats": (
        "goalwright.interfaces.cli.commands.traces.stats:stats",
        "Count runs, costs, failures and skills, day by day.",
    ),
    "tag": (
        "goalwright.interfaces.cli.commands.traces.tagging:tag",
        "Tag a run, to find it by `goalwright trace list --tag`.",
    ),
    "untag": ("goalwright.interfaces.cli.commands.traces.tagging:untag", "Take tags from a run."),
    "note": (
        "goalwright.interfaces.cli.commands.traces.tagging:note",
        "Write a note about a run, in place of an earlier one.",
    ),
    "diff": ("goalwright.interfaces.cli.commands.traces.diff:diff", "Compare two runs."),
    "export": (
        "goalwright.interfaces.cli.commands.traces.export:export",
        "Export runs as JSON lines, as an HTML page or to OpenTelemetry.",
    ),
    "import": (
        "goalwright.interfaces.cli.commands.traces.import_runs:import_runs",
        "Import exported runs into this journal.",
    ),
    "prune": ("goalwright.interfaces.cli.commands.traces.prune:prune", "Delete runs and their artifacts."),
}


@click.group(cls=LazyGroup, subcommands=_SUBCOMMANDS)
def trace() -> None:
    """Find, show, count, tag, compare, export, import and delete recorded runs.

    No model is called.

    \b
    Examples:
      goalwright trace list redis latency
      goalwright trace show last
      goalwright trace show last --task survey
      goalwright trace export last -o run.jsonl
    """
