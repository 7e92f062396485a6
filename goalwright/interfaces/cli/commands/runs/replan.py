"""`goalwright replan`: let a model change the plan of a run, and continue it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import execution, options, recorded_run, stdin
from goalwright.interfaces.cli.command_classes import SectionedCommand
from goalwright.interfaces.cli.view import result_target

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.interfaces.cli.view.output import OutputMode
    from goalwright.interfaces.cli.view.result_target import ResultTarget


@click.command(cls=SectionedCommand)
@click.argument("run")
@click.argument("request", metavar="WHAT")
@options.models
@options.replans
@options.powers
@result_target.output_option
@options.trust
@options.journal
@options.common
def replan(
    run: str,
    request: str,
    workspace: Path,
    target: ResultTarget | None,
    flags: SettingFlags,
    mode: OutputMode,
    *,
    trust: bool,
) -> int:
    """Change a run's plan as you ask, then continue the run.

    RUN is a run's id, a prefix of it, or `last`; it must not be running. WHAT describes the change (`-`: stdin). A
    model adds, drops and rewires tasks; started tasks stay as they are, and finished ones are not paid for again.

    \b
    Examples:
      goalwright replan last "Leave out the comparison with 2019"
      goalwright replan 20261115T0213 "Use the numbers in data/pay.csv instead of the web page"
      goalwright replan last - < request.txt

    To edit the plan yourself: `goalwright plan --of RUN -o plan.yaml`, then `goalwright resume RUN --plan plan.yaml`.

    Exit status: see `goalwright run --help`; also 1 if the plan could not be changed.
    """
    if target is not None:
        target.check()
    text = stdin.stdin_text("the change") if request == "-" else request
    goalwright, run_id = recorded_run.runtime_of(run, workspace, flags, mode, trust=trust)
    changed = execution.run_with_progress(goalwright, mode, partial(goalwright.replan, run_id, text), target=target)
    shown = execution.ResultOutput(mode, workspace, target, settings=goalwright.settings, changes_plan=True)
    return execution.run_to_exit(changed, shown)
