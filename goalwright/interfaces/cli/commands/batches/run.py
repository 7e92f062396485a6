"""Run a batch at a terminal: prompts, progress, Ctrl-C, the report and the exit status."""

from __future__ import annotations

import asyncio
import shlex
import signal
import sys
from typing import TYPE_CHECKING, Protocol

from goalwright.interfaces.cli import execution, model_download
from goalwright.interfaces.cli.dialogs import recipe_trust, trust_prompt
from goalwright.interfaces.cli.resume_command import given_arguments, with_values
from goalwright.interfaces.cli.view import output
from goalwright.interfaces.cli.view.batch_progress import watching
from goalwright.interfaces.cli.view.reports import batch as batch_report
from goalwright_skills.text.formatting import counted, dollars, plain, plural

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright.batch.options import BatchOptions, ClusterOptions
    from goalwright.batch.run_batch import Batch, BatchReport
    from goalwright.batch.summary import BatchSummary
    from goalwright.interfaces.cli.view.output import OutputMode
    from goalwright_planner.errors import BudgetSpent

EXIT_OF_STOP = {"interrupted": 130, "budget": 5, "failures": 1}


class Stoppable(Protocol):
    """A batch, evaluation or improvement that can be stopped."""

    def finish_running(self) -> None:
        """Start no further goals, and let the running ones finish."""

    def stop_now(self) -> None:
        """Stop the running goals too."""


def show_preview(batch: Batch, mode: OutputMode) -> int:
    """Print the goals that the batch would run; returns the exit status."""
    if mode.as_json:
        output.print_json(batch.preview().to_dict())
    else:
        shown = batch_report.PreviewedGoals(verbose=mode.verbose)
        batch_report.print_preview(batch.preview(shown.note).to_dict(), shown)
    return 0


def run_to_exit(batch: Batch, mode: OutputMode, *, trust: bool, yes: bool) -> int:
    """Run the batch and print its report; returns the exit status. An interrupted batch exits here."""
    if batch.models and not mode.quiet:  # litellm takes seconds to load
        output.say(f"Loading: checking that {', '.join(batch.models)} can be called")
    batch.check_models()
    with batch.locked():
        if batch.errors != batch.options.errors and not mode.quiet:
            output.say(f"Goals that are not done go to {batch.errors}, as before.")
        if trust:
            recipe_trust.trust_all(batch.goalwright.recipes)
        trust_prompt.trust_tools(batch.goalwright.workspace.tools, trust=trust, quiet=mode.quiet)
        trust_prompt.trust_mcp(batch.goalwright.workspace.tools, trust=trust, quiet=mode.quiet)
        model_download.offer(batch.models, yes=yes, quiet=mode.quiet)
        return asyncio.run(_run(batch, mode))


async def _run(batch: Batch, mode: OutputMode) -> int:
    stop_on_signals(batch, batch.options.cluster)
    with watching(mode, batch.summary, batch.engine.pace) as observer:
        report = await batch.run(observer)
    status = _show(report, mode, batch.options)
    _say_limit(batch)
    if report.stopped == "interrupted" or batch.engine.is_stuck:
        execution.exit_now(status)
    return status


def _show(report: BatchReport, mode: OutputMode, options: BatchOptions) -> int:
    if mode.as_json:
        output.print_json(report.to_dict())
    else:
        batch_report.print_summary(report.to_dict())
    unfinished = report.summary.skipped_not_done - report.summary.skipped_waiting
    if not report.summary.ended and unfinished:
        has = f"{counted(unfinished, 'goal')} from before {plural(unfinished, 'is', 'are')} not done"
        output.say(f"No goal was left to run, but {has}. Run them again with --retry-errors.")
    if report.stopped is not None:
        say_stopped(report.stopped, report.spent, options, _written_off(report))
    elif waiting := report.summary.statuses["waiting"] + report.summary.skipped_waiting:
        goals = counted(waiting, "goal")
        output.say(f"{goals} waiting for an answer; see `goalwright approvals`. Once answered, continue with:")
        output.say(f"  {resume_command()}")
    return EXIT_OF_STOP.get(report.stopped or "", _exit_status(report.summary))


def _say_limit(batch: Batch) -> None:
    """Report that no goal was run because --limit counts goals with a result."""
    limit = batch.options.limit
    if limit is not None and batch.summary.skipped == limit < batch.goals.count:
        output.say(
            f"No goal was run: --limit {limit} counts those with a result. Raise it, or leave it out, to run more."
        )


def say_stopped(stopped: str, spent: BudgetSpent | None, options: BatchOptions, more: str = "") -> None:
    """Print why a batch or an evaluation was stopped, `more` details, and the command that continues it."""
    reason = f"{spent.message[:1].upper()}{spent.message[1:]}" if spent is not None else f"Stopped ({stopped})"
    details = f"; {more}" if more else ""
    output.say(f"{reason}{details}. Continue with:\n  {resume_command(_raised_limits(spent, options))}")


def _raised_limits(spent: BudgetSpent | None, options: BatchOptions) -> dict[str, str]:
    """Double the limits that are too low for a single call."""
    raised: dict[str, str] = {}
    if spent is not None and options.max_cost is not None and spent.cost > options.max_cost:
        raised["--max-cost"] = plain(2 * spent.cost, 2)
    if spent is not None and options.max_tokens is not None and spent.tokens > options.max_tokens:
        raised["--max-tokens"] = str(2 * spent.tokens)
    return raised


def _written_off(report: BatchReport) -> str:
    """Describe the part of the budget that was written off for dead workers."""
    workers, cost, tokens = report.written_off
    if report.stopped != "budget" or not workers:
        return ""
    amounts = [dollars(cost)] * (cost > 0) + [counted(int(tokens), "token")] * (tokens > 0)
    died = f"{counted(workers, 'worker')} that died"
    return f"{' and '.join(amounts)} of it was written off for {died}, since their spending is unknown"


def _exit_status(summary: BatchSummary) -> int:
    if summary.only_waits:
        return execution.EXIT["waiting"]
    return 0 if summary.all_done else 1


def stop_on_signals(batch: Stoppable, cluster: ClusterOptions | None = None) -> None:
    """The first Ctrl-C lets running goals finish, the second stops them, the third ends the program.

    SIGTERM stops them; on a cluster, both signals leave them the time of --drain.
    """
    loop = asyncio.get_running_loop()

    def drain() -> None:
        batch.finish_running()
        if cluster is not None:
            loop.call_later(cluster.drain, batch.stop_now)

    def first() -> None:
        output.say("\nfinishing running goals … (Ctrl-C again to stop them)")
        loop.add_signal_handler(signal.SIGINT, second)
        drain()

    def second() -> None:
        output.say("\nstopping …")
        loop.remove_signal_handler(signal.SIGINT)  # the third Ctrl-C ends the program
        batch.stop_now()

    if sys.platform != "win32":
        loop.add_signal_handler(signal.SIGINT, first)
        loop.add_signal_handler(signal.SIGTERM, drain if cluster is not None else batch.stop_now)


def resume_command(values: Mapping[str, str] | None = None) -> str:
    """Return the current command with --resume and new values for some options."""
    arguments = with_values(given_arguments(["batch", "…"]), values or {})
    end = arguments.index("--") if "--" in arguments else len(arguments)
    resume = [] if "--resume" in arguments[:end] else ["--resume"]
    return shlex.join([output.program(), *arguments[:end], *resume, *arguments[end:]])
