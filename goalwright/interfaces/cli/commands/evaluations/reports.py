"""`goalwright eval show` and `goalwright eval score`: reports without running a case."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import configuration, options
from goalwright.interfaces.cli.commands.evaluations import eval_flags

if TYPE_CHECKING:
    from goalwright.interfaces.cli.commands.evaluations.eval_flags import CheckFlags
    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.interfaces.cli.view.output import OutputMode


@click.command("show")
@click.argument("evaluation", default="last")
@eval_flags.checks
@click.option("--html", type=click.Path(path_type=Path), metavar="FILE", help="Also write the report as a page.")
@options.common
def show(evaluation: str, workspace: Path, html: Path | None, check_flags: CheckFlags, mode: OutputMode) -> int:
    """Show the report of an evaluation again.

    \b
    Examples:
      goalwright eval show
      goalwright eval show last -v
      goalwright eval show last --html report.html
      goalwright eval show last --check --no-worse

    Exit status: 0; with --check, see `goalwright eval run --help`.
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


@click.command("score")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@click.option("--cases", multiple=True, required=True, metavar="FILE", help="File of cases (repeatable; `-`: stdin).")
@click.option("--judge", metavar="NAME", help="Have this model judge expectations (default: they are left out).")
@eval_flags.checks
@options.trust
@options.journal
@options.common
def score(
    runs: tuple[str, ...],
    cases: tuple[str, ...],
    judge: str | None,
    workspace: Path,
    check_flags: CheckFlags,
    flags: SettingFlags,
    mode: OutputMode,
    *,
    trust: bool,
) -> int:
    """Score recorded runs without running them again.

    RUN is the id of a run, a prefix of it, or `last`.

    \b
    Examples:
      goalwright eval score last --cases cases.jsonl
      goalwright eval score 20261115T02 20261115T03 --cases cases.jsonl --judge anthropic/claude-sonnet-5-5
    """
    from goalwright.batch.options import batch_settings
    from goalwright.evaluation.evaluate import EvaluationOptions
    from goalwright.evaluation.recorded import score_runs
    from goalwright.interfaces.cli.commands.evaluations import execution

    check_flags.check_variants(1)
    where = configuration.paths(workspace)
    resolved = configuration.settings(where, flags, quiet=mode.quiet)
    scoring = score_runs(
        cases,
        runs,
        workspace=where.workspace,
        settings=batch_settings(resolved),
        options=EvaluationOptions(judge=judge, trust=trust),
        judged=judge is not None,
    )
    document = asyncio.run(scoring).to_dict()
    execution.show(document, mode)
    return execution.verdict(document, check_flags)
