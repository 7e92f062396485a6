"""`goalwright replay` without --strict and --select: play a run back on the terminal."""

from __future__ import annotations

import sys
import time
from datetime import datetime
from typing import TYPE_CHECKING

from goalwright.interfaces.cli.view import output, width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright.settings.paths import Paths
    from goalwright.settings.settings import Settings

_LONGEST_PAUSE = 10.0  # seconds
_INDENT = 11  # the width of the time in front of a line


def show(runs: Sequence[str], where: Paths, settings: Settings, speed: float) -> int:
    """Print each event with the time the run had worked; with a speed, pause as the run did."""
    from goalwright.interfaces.cli.view.event_text import describe
    from goalwright.runs.stored import records
    from goalwright.traces.clock import Clock
    from goalwright.traces.read import find_traces
    from goalwright_planner.events import RunFinished, RunResumed, RunStarted, decode

    max_width = width.of(sys.stdout)

    def show_line(at: float, text: str) -> None:
        output.print_text(width.wrap(f"{at:7.1f} s  {text}", max_width, _INDENT))

    for trace in find_traces(runs, where, settings):
        capture = records.capture(where, trace.run_id)
        clock = Clock()
        for row in trace.rows():
            if not output.has_reader():
                return 0
            before = clock.seconds
            at = clock.advance(datetime.fromisoformat(row.at), resumed=row.type == "run_resumed")
            if speed > 0:
                time.sleep(min((at - before) / speed, _LONGEST_PAUSE))
            event = decode(row.type, capture.local(row.body))
            match event:
                case None:
                    continue
                case RunStarted():
                    output.print_text(width.wrap(f"run {event.run_id}: {event.goal}", max_width))
                case RunFinished():
                    reason = f": {event.error}" if event.error and event.error != event.status else ""
                    show_line(at, f"{event.status}{reason}")
                    output.print_result(event.answer or "(no answer)")
                case RunResumed():
                    show_line(at, "resumed")
                case _:
                    if (text := describe(event)) is not None:
                        show_line(at, text)
    return 0


def print_results(runs: Sequence[str], where: Paths, settings: Settings) -> int:
    """Print the results of recorded runs as JSON, as `goalwright run --json` does."""
    from goalwright.runs.stored import records
    from goalwright.traces.read import find_traces
    from goalwright_executor.history.run_history import RunHistory

    results = [
        RunHistory.of(trace.rows(), records.capture(where, trace.run_id)).ledger.result(trace.journal).to_dict()
        for trace in find_traces(runs, where, settings)
    ]
    output.print_json(results[0] if len(results) == 1 else results)
    return 0
