"""`goalwright eval show`: the report of an evaluation again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import configuration, options
from goalwright.interfaces.cli.commands.evaluations import eval_flags

if TYPE_CHECKING:
    from goalwright.interfaces.cli.commands.evaluations.eval_flags import CheckFlags
    from goalwright.interfaces.cli.view.output_mode import OutputMode


@click.command("show")
@click.argument("evaluation", default="last")
@eval_flags.checks
@click.option("--html", type=click.Path(path_type=Path), metavar="FILE", help="Also write the report as a page.")
@options.common
def show(evaluation: str, workspace: Path, html: Path | None, check_flags: CheckFlags, mode: OutputMode) -> int:
    """Show the report of an evaluation again: by its id, a prefix of it, or `last`.

    \b
    Examples:
      goalwright eval show
      goalwright eval show last -v
      goalwright eval show last --html report.html
      goalwright eval show last --check --no-worse

    Exit status: as `goalwright eval` for --check, also if the evaluation was stopped; 0 without it.
    """
    from goalwright.evaluation import store
    from goalwright.interfaces.cli.commands.evaluations import execution
    from goalwright.interfaces.cli.view.reports import evaluation as evaluation_report

    document = store.find(configuration.paths(workspace).workspace, evaluation).report()
    check_flags.check_variants(len(document["variants"]))
    if html is not None:
        evaluation_report.write_page(document, html)
    execution.show(document, mode)
    return execution.verdict(document, check_flags)
