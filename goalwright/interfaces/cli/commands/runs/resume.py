"""`goalwright resume`: resume a run where it stopped."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import execution, options, recorded_run
from goalwright.interfaces.cli.answer_options import answering, answers_in
from goalwright.interfaces.cli.command_classes import SectionedCommand
from goalwright.interfaces.cli.goal_source import read_plan
from goalwright.interfaces.cli.view import output, result_target

if TYPE_CHECKING:
    from goalwright.interfaces.cli.answer_options import AnswerFlags
    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.interfaces.cli.execution import RunFunction
    from goalwright.interfaces.cli.view.output import OutputMode
    from goalwright.interfaces.cli.view.result_target import ResultTarget
    from goalwright.runs.stop import Stop
    from goalwright_executor.history.result import Result
    from goalwright_planner.approvals import Approve
    from goalwright_planner.events import Record


@click.command(cls=SectionedCommand)
@click.argument("run", default="last")
@answering
@options.approve_all
@click.option(
    "--plan",
    "plan_file",
    type=click.Path(path_type=Path),
    help="Continue with this plan: the one from `goalwright plan --of RUN -o FILE`, edited (`-`: stdin).",
)
@options.models
@options.replans
@options.powers
@result_target.output_option
@options.trust
@options.journal
@options.common
def resume(
    run: str,
    workspace: Path,
    target: ResultTarget | None,
    plan_file: Path | None,
    answer_flags: AnswerFlags,
    flags: SettingFlags,
    mode: OutputMode,
    *,
    trust: bool,
    approve_all: bool,
) -> int:
    """Resume a run, or answer what it waits for.

    An interrupted, stopped or failed run continues where it ended, a waiting run with your answers. RUN is a run's id,
    a prefix of it, or `last` (the default). Finished tasks do not run again, and finished calls are not paid for again.
    The run keeps its settings, except those given here. Failed tasks are retried; then a model may change the plan.

    `goalwright approvals` lists the requests that the run waits for; ID is the id of one, or a unique prefix of it.
    `--answer TEXT` is enough if only one question waits.

    \b
    Examples:
      goalwright resume
      goalwright resume 20261115T0213 --max-cost 2
      goalwright resume last --approve 3fa8c1d2 --deny "77b0e4aa=not on a Friday"
      goalwright resume last --answer "the to-do service"
      goalwright plan --of last -o plan.yaml && $EDITOR plan.yaml && goalwright resume last --plan plan.yaml

    Exit status: see `goalwright run --help`.
    """
    from goalwright.runs.stored import records
    from goalwright.runs.stored.requests import open_requests

    if target is not None:
        target.check()
    goalwright, run_id = recorded_run.runtime_of(run, workspace, flags, mode, trust=trust)
    waiting = open_requests(goalwright.journal.store, goalwright.paths, run_id)
    answers = answers_in(answer_flags, [opened.request for opened in waiting])
    plan = None
    if plan_file is not None:
        plan = read_plan(
            goalwright, plan_file, records.first_event(goalwright.journal.store, run_id, goalwright.paths).conversation
        )
    running = partial(_resume, partial(goalwright.resume, run_id, answers=answers, plan=plan), run_id, mode)
    resumed = execution.run_with_progress(goalwright, mode, running, approve_all=approve_all, target=target)
    return execution.run_to_exit(resumed, execution.ResultOutput(mode, workspace, target, settings=goalwright.settings))


async def _resume(
    resume: RunFunction, run_id: str, mode: OutputMode, *, record: Record, stop: Stop, approve: Approve | None
) -> Result:
    """Resume a run; reports if it was already done, because its answer would look new."""
    from goalwright_planner.events import Event, RunResumed

    resumed = False

    def watch(event: Event) -> None:
        nonlocal resumed
        resumed = resumed or isinstance(event, RunResumed)
        record(event)

    result = await resume(record=watch, stop=stop, approve=approve)
    if result.status == "done" and not resumed and not mode.quiet:
        output.say(f"Run {run_id} is already done; there was nothing to resume. Its answer:")
    return result
