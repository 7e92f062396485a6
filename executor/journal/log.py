"""A run's own place in the journal: its events get their number and time here."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING

from executor.journal.summary import CHANGING, noted
from executor.stores.row import Row, RunSummary
from planner.events import Event, TextStreamed, type_name

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from executor.capture.capture import Capture
    from executor.journal.writer import Writer


# An event on its way to the store: whose, its number, when (in nanoseconds), and the run's line after it. It is a plain
# tuple, for whoever records an event should not wait for more than has to be done at once.
Entry = tuple["Log", int, int, Event, RunSummary]


def row_of(entry: Entry) -> Row:
    """The row that is kept: without secrets, paths relative to named roots. Made in the writer's thread."""
    log, seq, at, event, _ = entry
    return Row._make((log.run_id, seq, stamp(at), type_name(event), log.capture.event(event)))


class Log:
    """Records one run's events. Whoever needs them on disk awaits `settle`."""

    def __init__(self, writer: Writer, run_id: str, capture: Capture, *, after: int = 0) -> None:
        self.run_id = run_id
        self.capture = capture
        self.written: RunSummary | None = None
        self._writer = writer
        self._seq = after
        self._summary = RunSummary(run_id, "", "running", "")

    @property
    def url(self) -> str:
        """Where the journal is."""
        return self._writer.store.url

    def take_up(self, summary: RunSummary) -> None:
        """Go on from how the run stood."""
        # Its goal is as it was written down, and is written down again.
        self._summary = replace(summary, status="running", goal=self.capture.local(summary.goal))

    def record(self, event: Event) -> None:
        """Hand an event over. Pieces of a streamed answer are not kept: the whole of it follows."""
        kind = type(event)
        if kind is TextStreamed:
            return
        at = time.time_ns()
        self._seq += 1
        if kind in CHANGING:
            self._summary = noted(self._summary, event, stamp(at))
        self._writer.put((self, self._seq, at, event, self._summary))

    def line(self, summary: RunSummary) -> RunSummary:
        """The run's line as it is kept."""
        return replace(summary, goal=self.capture.text(summary.goal))

    def settle(self) -> Awaitable[None]:
        """Wait until all of it is on disk."""
        return self._writer.settle()


def now() -> str:
    """The time as a record has it."""
    return stamp(time.time_ns())


def stamp(at: int) -> str:
    """A time in nanoseconds as a record has it."""
    digits = str(at)
    return f"{_second(digits[:10])}.{digits[10:16]}Z"


@lru_cache(maxsize=8)
def _second(seconds: str) -> str:
    return f"{datetime.fromtimestamp(int(seconds), UTC):%Y-%m-%dT%H:%M:%S}"
