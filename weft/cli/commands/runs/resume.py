"""`weft resume`: resume a run where it stopped."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from weft.cli import execution, options
from weft.cli.view import output
from weft.cli.view.output_mode import OutputMode

if TYPE_CHECKING:
    from pathlib import Path

    from executor.history.result import Result
    from planner.events import Record
    from weft.runs.runtime import Weft
    from weft.runs.stop import Stop


@click.command()
@click.argument("run", default="last")
@options.models
@options.concurrency
@options.output_file()
@options.trust
@options.journal
@options.common
def resume(run: str, workspace: Path, target: Path | None, *, trust: bool, **rest: Any) -> int:
    """Resume a run that was interrupted, stopped or failed.

    RUN is an id, the beginning of one, or `last` (the default). Finished tasks are not run again and finished calls
    are not paid for again. The run keeps its own settings, except those given here.

    \b
    Examples:
      weft resume
      weft resume 20261115T0213 --max-cost 2

    Exit status: see `weft run --help`.
    """
    from weft.cli import trust_prompt, warm_up
    from weft.runs import records
    from weft.runs.runtime import Weft
    from weft.settings.recorded import check_recorded

    mode = OutputMode(rest.pop("as_json"), rest.pop("quiet"), rest.pop("verbose"))
    execution.check_writable(target)
    where = options.paths(workspace)
    if trust:
        trust_prompt.trust_settings(where)
    now = options.settings(where, rest, quiet=mode.quiet).settings
    recorded = records.first_event(records.recorded_runs(where, now), run, where)
    use = records.substitutes(recorded)
    settings = records.settings_of(recorded.settings, now, rest)
    check_recorded(settings, now, where)
    weft = Weft(workspace, settings, open_model=warm_up.begin(settings, where), use=use)
    trust_prompt.trust_tools(weft.workspace.tools, trust=trust, quiet=mode.quiet)
    resumed = execution.run_with_progress(weft, mode, partial(_resume, weft, recorded.run_id, mode))
    return execution.run_to_exit(resumed, execution.ResultOutput(mode, workspace, target, settings=weft.settings))


async def _resume(weft: Weft, run_id: str, mode: OutputMode, *, record: Record, stop: Stop) -> Result:
    """Resume a run; say so if it was already done, or its answer would look new."""
    from planner.events import Event, RunResumed

    resumed = False

    def watch(event: Event) -> None:
        nonlocal resumed
        resumed = resumed or isinstance(event, RunResumed)
        record(event)

    result = await weft.resume(run_id, record=watch, stop=stop)
    if result.status == "done" and not resumed and not mode.quiet:
        output.say(f"Run {run_id} is already done; there was nothing to resume. Its answer:")
    return result
