"""`weft resume`: a run that stopped goes on where it stood."""

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


@click.command(short_help="Go on with a run that was stopped, killed or failed.")
@click.argument("run", default="last")
@options.models
@options.concurrency
@options.written()
@options.journal
@options.common
def resume(run: str, workspace: Path, target: Path | None, **rest: Any) -> int:
    """Go on with RUN (an id, the beginning of one, or `last`) after a crash, Ctrl-C, a budget's end or failed tasks.

    What was finished is not done again, and no finished call is paid again. The run's own settings hold; those given
    here count instead, from now on.

    \b
    Examples:
      weft resume
      weft resume 20261115T0213 --max-cost 2

    Exit status: as for `weft run`.
    """
    from weft.providers import litellm_model
    from weft.runs import records
    from weft.runs.runtime import Weft

    mode = OutputMode(rest.pop("as_json"), rest.pop("quiet"), rest.pop("verbose"))
    execution.writable(target)
    where = options.paths(workspace)
    now = options.settings(where, rest, quiet=mode.quiet).settings
    recorded = records.begun(records.kept(where, now), run, where)
    litellm_model.preload()
    use = records.substitutes(recorded)
    weft = Weft(workspace, records.settings_of(recorded.settings, now, rest), use=use)
    run_again = execution.run_with_progress(weft, mode, partial(_gone_on, weft, recorded.run_id, mode))
    return execution.run_to_exit(run_again, execution.Ending(mode, workspace, target))


async def _gone_on(weft: Weft, run_id: str, mode: OutputMode, *, record: Record, stop: Stop) -> Result:
    """Go on with a run; one that was done says so, for otherwise it looks as if it had been done just now."""
    from planner.events import Event, RunResumed

    resumed = False

    def watch(event: Event) -> None:
        nonlocal resumed
        resumed = resumed or isinstance(event, RunResumed)
        record(event)

    result = await weft.resume(run_id, record=watch, stop=stop)
    if result.status == "done" and not resumed and not mode.quiet:
        output.say(f"Run {run_id} was done already: there was nothing left to do. This is what it came to:")
    return result
