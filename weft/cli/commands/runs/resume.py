"""`weft resume`: resume a run where it stopped."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from weft.cli import execution, options, recorded_run
from weft.cli.answer_options import answering, answers_in
from weft.cli.plan_argument import read_plan
from weft.cli.view import output, result_target

if TYPE_CHECKING:
    from weft.cli.answer_options import AnswerFlags
    from weft.cli.configuration import SettingFlags
    from weft.cli.execution import RunFunction
    from weft.cli.view.output_mode import OutputMode
    from weft.cli.view.result_target import ResultTarget
    from weft.runs.stop import Stop
    from weft_executor.history.result import Result
    from weft_planner.approvals import Approve
    from weft_planner.events import Record


@click.command()
@click.argument("run", default="last")
@answering
@options.approve_all
@click.option(
    "--plan",
    "plan_file",
    type=click.Path(path_type=Path),
    help="Continue with this plan: the one from `weft plan --of RUN -o FILE`, edited (`-`: stdin).",
)
@options.models
@options.replans
@options.concurrency
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

    A run that was interrupted, stopped or failed continues where it ended, one that waits continues with your answers.
    RUN is a run's id, a prefix of it, or `last` (the default). Finished tasks are not run again and finished calls
    are not paid for again. The run keeps its own settings, except those given here. Tasks that failed are tried
    again; then a model may change the plan, as often as --max-replans allows in all. An ID is that of a request that
    the run waits for, or any unique prefix of it; `weft approvals` lists them. `--answer TEXT` is enough if only one
    question waits.

    \b
    Examples:
      weft resume
      weft resume 20261115T0213 --max-cost 2
      weft resume last --approve 3fa8c1d2 --deny "77b0e4aa=not on a Friday"
      weft resume last --answer "the to-do service"
      weft plan --of last -o plan.yaml && $EDITOR plan.yaml && weft resume last --plan plan.yaml

    Exit status: see `weft run --help`.
    """
    from weft.runs.stored import records
    from weft.runs.stored.requests import open_requests

    if target is not None:
        target.check()
    weft, run_id = recorded_run.runtime_of(run, workspace, flags, mode, trust=trust)
    waiting = open_requests(weft.journal.store, weft.paths, run_id)
    answers = answers_in(answer_flags, [opened.request for opened in waiting])
    plan = None
    if plan_file is not None:
        plan = read_plan(weft, plan_file, records.first_event(weft.journal.store, run_id, weft.paths).conversation)
    running = partial(_resume, partial(weft.resume, run_id, answers=answers, plan=plan), run_id, mode)
    resumed = execution.run_with_progress(weft, mode, running, approve_all=approve_all, target=target)
    return execution.run_to_exit(resumed, execution.ResultOutput(mode, workspace, target, settings=weft.settings))


async def _resume(
    resume: RunFunction, run_id: str, mode: OutputMode, *, record: Record, stop: Stop, approve: Approve | None
) -> Result:
    """Resume a run; say so if it was already done, or its answer would look new."""
    from weft_planner.events import Event, RunResumed

    resumed = False

    def watch(event: Event) -> None:
        nonlocal resumed
        resumed = resumed or isinstance(event, RunResumed)
        record(event)

    result = await resume(record=watch, stop=stop, approve=approve)
    if result.status == "done" and not resumed and not mode.quiet:
        output.say(f"Run {run_id} is already done; there was nothing to resume. Its answer:")
    return result
