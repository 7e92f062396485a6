"""A run's own place in the journal: its events get their number and time here."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from executor.journal.row import Row, Summary
from executor.journal.tally import CHANGING, noted
from planner.events import Event, TextStreamed, type_name

if TYPE_CHECKING:
    from executor.journal.capture import Capture
    from executor.journal.writer import Writer


class Entry(NamedTuple):
    """An event on its way to the store; it becomes a row in the writer's thread."""

    run_id: str
    seq: int
    at: str
    event: Event
    summary: Summary
    capture: Capture

    def row(self) -> Row:
        """The row that is kept: without secrets, paths relative to named roots."""
        event = self.event
        return Row(self.run_id, self.seq, self.at, type_name(event), self.capture.event(event))

    def line(self) -> Summary:
        """The run's line as it stands after this event."""
        return replace(self.summary, goal=self.capture.text(self.summary.goal))


class Log:
    """Records one run's events. Whoever needs them on disk awaits `settle`."""

    def __init__(self, writer: Writer, run_id: str, capture: Capture, *, after: int = 0) -> None:
        self.run_id = run_id
        self.capture = capture
        self._writer = writer
        self._seq = after
        self._summary = Summary(run_id, "", "running", "")

    @property
    def url(self) -> str:
        """Where the journal is."""
        return self._writer.store.url

    def take_up(self, summary: Summary) -> None:
        """Go on from how the run stood."""
        self._summary = replace(summary, status="running")

    def record(self, event: Event) -> None:
        """Hand an event over. Pieces of a streamed answer are not kept: the whole of it follows."""
        kind = type(event)
        if kind is TextStreamed:
            return
        stamp = now()
        self._seq += 1
        if kind in CHANGING:
            self._summary = noted(self._summary, event, stamp)
        self._writer.put(Entry(self.run_id, self._seq, stamp, event, self._summary, self.capture))

    async def settle(self) -> None:
        """Wait until all of it is on disk."""
        await self._writer.settle()


def now() -> str:
    """The time as a record has it."""
    seconds, nanoseconds = divmod(time.time_ns(), 10**9)
    return f"{_second(seconds)}.{nanoseconds // 1000:06d}Z"


@lru_cache(maxsize=8)
def _second(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}"
