"""`weft resume`: resume a run where it stopped."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from weft.cli import answer_options, execution, options, result_target
from weft.cli.answer_options import answering, answers_in
from weft.cli.view import output
from weft.cli.view.output_mode import OutputMode

if TYPE_CHECKING:
    from pathlib import Path

    from executor.history.result import Result
    from planner.approvals import Approve
    from planner.events import Record
    from weft.cli.result_target import ResultTarget
    from weft.runs.answers import Answers
    from weft.runs.runtime import Weft
    from weft.runs.stop import Stop


@click.command()
@click.argument("run", default="last")
@answering
@options.models
@options.concurrency
@options.powers
@result_target.output_option
@options.trust
@options.journal
@options.common
def resume(run: str, workspace: Path, target: ResultTarget | None, *, trust: bool, **rest: Any) -> int:
    """Resume a run, or answer what it waits for.

    A run that was interrupted, stopped or failed continues where it ended, one that waits continues with your answers.
    RUN is an id, the beginning of one, or `last` (the default). Finished tasks are not run again and finished calls
    are not paid for again. The run keeps its own settings, except those given here. An ID is that of a request that
    the run waits for, or any unique beginning of it; `weft approvals` lists them. `--answer TEXT` is enough if only one
    question waits.

    \b
    Examples:
      weft resume
      weft resume 20261115T0213 --max-cost 2
      weft resume last --approve 3fa8c1d2 --deny "77b0e4aa=not on a Friday"
      weft resume last --answer "the to-do service"

    Exit status: see `weft run --help`.
    """
    from weft.cli import trust_prompt, warm_up
    from weft.runs import records
    from weft.runs.answers import open_requests
    from weft.runs.runtime import Weft
    from weft.settings.recorded import check_recorded

    mode = OutputMode(rest.pop("as_json"), rest.pop("quiet"), rest.pop("verbose"))
    if target is not None:
        target.check()
    where = options.paths(workspace)
    if trust:
        trust_prompt.trust_settings(where)
    flags = {name: rest.pop(name) for name in answer_options.NAMES}
    approve_all = rest.pop("approve_all")
    now = options.settings(where, rest, quiet=mode.quiet).settings
    store = records.recorded_runs(where, now)
    recorded = records.first_event(store, run, where)
    answers = answers_in(flags, [one.request for one in open_requests(store, where, recorded.run_id)])
    use = records.substitutes(recorded)
    settings = records.settings_of(recorded.settings, now, rest)
    check_recorded(settings, now, where)
    weft = Weft(workspace, settings, open_model=warm_up.begin(settings, where), use=use)
    trust_prompt.trust_tools(weft.workspace.tools, trust=trust, quiet=mode.quiet)
    running = partial(_resume, weft, recorded.run_id, answers, mode)
    resumed = execution.run_with_progress(weft, mode, running, approve_all=approve_all)
    return execution.run_to_exit(resumed, execution.ResultOutput(mode, workspace, target, settings=weft.settings))


async def _resume(
    weft: Weft,
    run_id: str,
    answers: Answers,
    mode: OutputMode,
    *,
    record: Record,
    stop: Stop,
    approve: Approve | None,
) -> Result:
    """Resume a run; say so if it was already done, or its answer would look new."""
    from planner.events import Event, RunResumed

    resumed = False

    def watch(event: Event) -> None:
        nonlocal resumed
        resumed = resumed or isinstance(event, RunResumed)
        record(event)

    result = await weft.resume(run_id, record=watch, stop=stop, approve=approve, answers=answers)
    if result.status == "done" and not resumed and not mode.quiet:
        output.say(f"Run {run_id} is already done; there was nothing to resume. Its answer:")
    return result
