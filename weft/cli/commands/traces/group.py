"""`weft trace`: find, show, count, tag, compare, export, import and delete recorded runs."""

from __future__ import annotations

import click

from weft.cli.lazy_group import LazyGroup

_SUBCOMMANDS = {
    "list": ("weft.cli.commands.traces.list:list_runs", "List the runs of this workspace, newest first."),
    "show": ("weft.cli.commands.traces.show:show", "Show a run: its graph, timing and critical path."),
    "stats": ("weft.cli.commands.traces.stats:stats", "Count runs, costs, failures and skills, day by day."),
    "tag": ("weft.cli.commands.traces.tagging:tag", "Tag a run, to find it by `weft trace list --tag`."),
    "untag": ("weft.cli.commands.traces.tagging:untag", "Take tags from a run."),
    "note": ("weft.cli.commands.traces.tagging:note", "Write a note about a run, in place of an earlier one."),
    "diff": ("weft.cli.commands.traces.diff:diff", "Compare two runs."),
    "export": (
        "weft.cli.commands.traces.export:export",
        "Export runs as JSON lines, as an HTML page or to OpenTelemetry.",
    ),
    "import": ("weft.cli.commands.traces.import_runs:import_runs", "Import exported runs into this journal."),
    "prune": ("weft.cli.commands.traces.prune:prune", "Delete runs and their artifacts."),
}


@click.group(cls=LazyGroup, subcommands=_SUBCOMMANDS)
def trace() -> None:
    """Find, show, count, tag, compare, export, import and delete recorded runs.

    No model is called.

    \b
    Examples:
      weft trace list redis latency
      weft trace show last
      weft trace show last --task survey
      weft trace export last -o run.jsonl
    """
