"""Run an evaluation at a terminal: prompts, progress, Ctrl-C, the report and the exit status."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from goalwright.interfaces.cli import execution, model_download
from goalwright.interfaces.cli.commands.batches.run import EXIT_OF_STOP, say_stopped, stop_on_signals
from goalwright.interfaces.cli.dialogs import trust_prompt
from goalwright.interfaces.cli.view import output
from goalwright.interfaces.cli.view.batch_progress import watching
from goalwright.interfaces.cli.view.reports import evaluation as evaluation_report

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from goalwright.evaluation.evaluate import OpenEvaluation
    from goalwright.evaluation.report import EvaluationReport
    from goalwright.interfaces.cli.commands.evaluations.eval_flags import CheckFlags
    from goalwright.interfaces.cli.view.output import OutputMode


def run_to_exit(
    evaluation: OpenEvaluation,
    mode: OutputMode,
    check: CheckFlags | None = None,
    html: Path | None = None,
    *,
    trust: bool,
    yes: bool,
    extra: Mapping[str, Any] | None = None,
) -> int:
    """Run the evaluation and print its report; returns the exit status. An interrupted one exits here.

    `extra` is added to the JSON document.
    """
    batch = evaluation.batch
    evaluation.check_models()

    async def run_and_show() -> int:
        printed = tuple(evaluation.warnings)
        report = await _run(evaluation, mode)
        _warn([text for text in report.warnings if text not in printed], mode)
        status = _show_all(evaluation, report.to_dict() | dict(extra or {}), mode, check, html)
        if report.stopped == "interrupted" or batch.engine.is_stuck:
            execution.exit_now(status)
        return status

    with batch.locked():
        _warn(evaluation.warnings, mode)
        trust_prompt.trust_tools(batch.goalwright.workspace.tools, trust=trust, quiet=mode.quiet)
        trust_prompt.trust_mcp(batch.goalwright.workspace.tools, trust=trust, quiet=mode.quiet)
        model_download.offer(evaluation.models, yes=yes, quiet=mode.quiet)
        return asyncio.run(run_and_show())


def _warn(warnings: Iterable[str], mode: OutputMode) -> None:
    for warning in warnings if not mode.quiet else ():
        output.say_warning(warning)


async def _run(evaluation: OpenEvaluation, mode: OutputMode) -> EvaluationReport:
    """Run the evaluation with progress on stderr."""
    batch = evaluation.batch
    stop_on_signals(batch, batch.options.cluster)
    with watching(mode, batch.summary, batch.engine.pace) as observer:
        return await evaluation.run(observer)


def _show_all(
    evaluation: OpenEvaluation,
    document: Mapping[str, Any],
    mode: OutputMode,
    check: CheckFlags | None,
    html: Path | None,
) -> int:
    """Print a report and write it as a page; returns the exit status."""
    if html is not None:
        evaluation_report.write_page(document, html)
    _print(document, mode)
    if document["stopped"] is None:
        return verdict(document, check)
    say_stopped(document["stopped"], evaluation.spent, evaluation.options.batch)
    return _exit_of_stop(document)


def show(document: Mapping[str, Any], mode: OutputMode) -> None:
    """Print a stored report with its warnings, and whether it is complete."""
    _warn(document.get("warnings", ()), mode)
    _print(document, mode)
    if document["stopped"] is not None:
        output.say(f"This evaluation was stopped ({document['stopped']}): its command with --resume continues it.")


def _print(document: Mapping[str, Any], mode: OutputMode) -> None:
    if mode.as_json:
        output.print_json(document)
    else:
        evaluation_report.print_report(document, verbose=mode.verbose)


def verdict(document: Mapping[str, Any], check: CheckFlags | None) -> int:
    """Return the exit status of a report: 1 if it misses a bound, or that of a stopped evaluation."""
    if check is None or not check.check:
        return 0
    if document["stopped"] is not None:
        output.say("check failed: the evaluation is not complete")
        return _exit_of_stop(document)
    missed = list(check.missed(document))
    for text in missed:
        output.say(f"check failed: {text}")
    return 1 if missed else 0


def _exit_of_stop(document: Mapping[str, Any]) -> int:
    return EXIT_OF_STOP.get(document["stopped"], 1)  # a report on disk may hold any value
