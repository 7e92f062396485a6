"""One run's log: gives each event its number and time, and hands it to the sink that writes it."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, Protocol

from executor.journal.summary import CHANGING, updated
from executor.stores.row import Row, RunSummary
from planner.event_fields import type_name
from planner.events import Event, TextStreamed

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from executor.capture.capture import Capture


class LogEntry(NamedTuple):
    """An event on its way to the store; `at` is in nanoseconds, `summary` is the run's as of this event."""

    # A tuple, because recording an event must cost as little as possible: the rest is done in the writer's thread.

    log: Log
    seq: int
    at: int
    event: Event
    summary: RunSummary

    def row(self) -> Row:
        """The row to store: without secrets, paths relative to named roots."""
        body = self.log.capture.event(self.event)
        return Row._make((self.log.run_id, self.seq, stamp(self.at), type_name(self.event), body))


class Sink(Protocol):
    """Where a log's entries go: they are written in the order in which they are put."""

    @property
    def url(self) -> str:
        """The URL of the journal."""

    def put(self, entry: LogEntry) -> None:
        """Accept an entry; it is written soon."""

    def settle(self, run_id: str = "") -> Awaitable[None]:
        """Wait until everything put so far is on disk; raises if it, or that run's part of it, cannot be written."""


class Log:
    """Records one run's events; `settle` waits until they are on disk."""

    def __init__(self, sink: Sink, run_id: str, capture: Capture, *, after: int = 0) -> None:
        self.run_id = run_id
        self.capture = capture
        self.written: RunSummary | None = None
        self._sink = sink
        self._seq = after
        self._summary = RunSummary(run_id, "", "running", "")

    @property
    def url(self) -> str:
        """The URL of the journal."""
        return self._sink.url

    def resume(self, summary: RunSummary) -> None:
        """Continue from a run's stored summary."""
        # Its goal was captured when it was stored, and will be captured again.
        self._summary = replace(summary, status="running", goal=self.capture.local(summary.goal))

    def record(self, event: Event) -> None:
        """Record an event, except pieces of a streamed answer: the whole answer follows."""
        kind = type(event)
        if kind is TextStreamed:
            return
        at = time.time_ns()
        self._seq += 1
        if kind in CHANGING:
            self._summary = updated(self._summary, event, stamp(at))
        self._sink.put(LogEntry(self, self._seq, at, event, self._summary))

    def captured(self, summary: RunSummary) -> RunSummary:
        """The run's summary as it is stored."""
        return replace(summary, goal=self.capture.text(summary.goal))

    def settle(self) -> Awaitable[None]:
        """Wait until everything recorded so far is on disk."""
        return self._sink.settle(self.run_id)


def now() -> str:
    """The current time as records spell it."""
    return stamp(time.time_ns())


def stamp(at: int) -> str:
    """A time in nanoseconds as records spell it: ISO 8601 in UTC, with microseconds."""
    digits = str(at)
    return f"{_second(digits[:10])}.{digits[10:16]}Z"


@lru_cache(maxsize=8)
def _second(seconds: str) -> str:
    return f"{datetime.fromtimestamp(int(seconds), UTC):%Y-%m-%dT%H:%M:%S}"
