"""`goalwright eval score`: score recorded runs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import configuration, options
from goalwright.interfaces.cli.commands.evaluations import eval_flags

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.interfaces.cli.commands.evaluations.eval_flags import CheckFlags
    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.interfaces.cli.view.output_mode import OutputMode


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
    """Score recorded runs, each by the case that has its goal; no call is made unless a judge is named.

    RUN is the id of a run, a prefix of it, or `last`.

    \b
    Examples:
      goalwright eval score last --cases cases.jsonl
      goalwright eval score 20261115T02 20261115T03 --cases cases.jsonl --judge openai/o3
    """
    from goalwright.batch.batch_settings import batch_settings
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
