"""`weft resume`: a run that stopped goes on where it stood."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from weft.cli import options, reach
from weft.cli.options import Voice

if TYPE_CHECKING:
    from pathlib import Path


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
    from weft import records
    from weft.models import provider
    from weft.run import Weft

    voice = Voice(rest.pop("as_json"), rest.pop("quiet"), rest.pop("verbose"))
    reach.writable(target)
    where = options.places(workspace)
    now = options.settings(where, rest, quiet=voice.quiet).settings
    recorded = records.begun(records.kept(where, now), run, where)
    provider.preload()
    use = records.substitutes(recorded)
    weft = Weft(workspace, records.settings_of(recorded.settings, now, rest), use=use)
    run_again = reach.carried(weft, voice, partial(weft.resume, recorded.run_id))
    return reach.carry_out(run_again, reach.Ending(voice, workspace, target))
