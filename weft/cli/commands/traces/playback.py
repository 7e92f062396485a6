"""Plain `weft replay`: a run on the terminal again, as it went."""

from __future__ import annotations

import sys
import time
from datetime import datetime
from typing import TYPE_CHECKING

from weft.cli.view import output, width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft.settings.paths import Paths
    from weft.settings.settings import Settings

_LONGEST = 10.0
_INDENT = 11  # of the time in front of a line


def show(runs: Sequence[str], where: Paths, settings: Settings, speed: float) -> int:
    """Print what happened with the time worked until then; with a speed, pause in between as then."""
    from executor.journal import codec
    from planner.events import RunFinished, RunResumed, RunStarted
    from weft.cli.view.event_text import describe
    from weft.runs import records
    from weft.traces import read as traces
    from weft.traces.timeline import Clock

    room = width.of(sys.stdout)

    def say(at: float, text: str) -> None:
        output.print_text(width.wrapped(f"{at:7.1f} s  {text}", room, _INDENT))

    for trace in traces.named(runs, where, settings):
        capture = records.capture(where, trace.run_id)
        clock = Clock()
        for row in trace.rows():
            before = clock.seconds
            at = clock.worked(datetime.fromisoformat(row.at), resumed=row.type == "run_resumed")
            if speed > 0:
                time.sleep(min((at - before) / speed, _LONGEST))
            event = codec.event(row.type, capture.local(row.body))
            match event:
                case None:
                    continue
                case RunStarted():
                    output.print_text(width.wrapped(f"run {event.run_id}: {event.goal}", room))
                case RunFinished():
                    why = f": {event.error}" if event.error and event.error != event.status else ""
                    say(at, f"{event.status}{why}")
                    output.print_text(event.answer or "(no answer)")
                case RunResumed():
                    say(at, "resumed")
                case _:
                    if (text := describe(event)) is not None:
                        say(at, text)
    return 0


def document(runs: Sequence[str], where: Paths, settings: Settings) -> int:
    """Print what the recorded runs came to, as `run` does."""
    from executor.history.run_history import RunHistory
    from weft.runs import records
    from weft.traces import read as traces

    found = [
        RunHistory.of(trace.rows(), records.capture(where, trace.run_id)).ledger.result(trace.journal).to_dict()
        for trace in traces.named(runs, where, settings)
    ]
    output.print_json(found[0] if len(found) == 1 else found)
    return 0
