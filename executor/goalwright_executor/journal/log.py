"""A run's log: gives each event its number and time, and passes it to the writer."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from itertools import compress
from typing import TYPE_CHECKING, Protocol

import msgspec

from goalwright_executor.capture.json_text import encode, encode_all
from goalwright_executor.journal.summary import CHANGING, updated
from goalwright_executor.stores.columns import encoded
from goalwright_executor.stores.row import EncodedRows, Row, RunSummary
from goalwright_planner.events import (
    CallProgressed,
    Event,
    TaskFinished,
    TextStreamed,
    ToolOutput,
    ToolReported,
    type_of,
)
from goalwright_planner.plan.task_id import in_round

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    from goalwright_executor.capture.capture import Capture


_SECOND = 10**9
# Progress events, which are not recorded: the whole answer follows.
_TRANSIENT = frozenset({TextStreamed, CallProgressed, ToolOutput, ToolReported})


class LogEntry(msgspec.Struct, frozen=True, gc=False):
    """An event to be stored; `at` is in nanoseconds.

    `summary` is the run's summary as of this event, except that `done` more tasks are done.
    """

    # A struct without garbage collection: recording an event must cost as little as possible.

    log: Log
    seq: int
    at: int
    event: Event
    summary: RunSummary
    done: int

    def is_written(self) -> bool:
        """Whether this summary is stored."""
        summary, done = self.log.written
        return summary is self.summary and done == self.done


def rows_of(entries: Sequence[LogEntry]) -> EncodedRows:
    """Return the rows to store, without secrets and with paths relative to named roots.

    Most events are recorded unchanged. These are encoded together, which takes a quarter of the time.
    """
    unchanged = [entry.log.capture.keeps_event(entry.event) for entry in entries]
    rows = _encoded(list(compress(entries, unchanged)))
    if rows is None:
        return encoded([_row(entry) for entry in entries])
    if len(rows) == len(entries):
        return rows
    others = [_row(entry) for entry, is_unchanged in zip(entries, unchanged, strict=True) if not is_unchanged]
    return rows.merged(encoded(others), unchanged)


def _row(entry: LogEntry) -> Row:
    event, log = entry.event, entry.log
    return Row(log.run_id, entry.seq, stamp(entry.at), _TYPES[type(event)], log.capture.event(event))


def _encoded(entries: Sequence[LogEntry]) -> EncodedRows | None:
    """Return the rows of events that are recorded unchanged; None if an event has to be repaired."""
    # Column by column: comprehensions are faster than one loop over the entries.
    events = [entry.event for entry in entries]
    bodies = encode_all(events)
    if bodies is None:
        return None
    return EncodedRows(
        [entry.log.run_id for entry in entries],
        [entry.seq for entry in entries],
        _stamps([entry.at for entry in entries]),
        [_TYPES[kind] for kind in map(type, events)],
        [getattr(event, "task", None) for event in events],
        [event.key or None if type(event) is TaskFinished else None for event in events],
        bodies,
    )


class _Types(dict[type[Event], str]):
    """The types of events, by class; a lookup is faster than a cached call."""

    def __missing__(self, kind: type[Event]) -> str:
        self[kind] = name = type_of(kind)
        return name


_TYPES = _Types()


class Sink(Protocol):
    """The destination of a log's entries, which writes them in order."""

    @property
    def url(self) -> str:
        """The URL of the journal."""

    def put(self, entry: LogEntry) -> None:
        """Accept an entry; it is written soon."""

    def settle(self, run_id: str = "") -> Awaitable[None]:
        """Wait until all entries so far are on disk; raises if they, or those of `run_id`, cannot be written."""


class Log:
    """Records a run's events; `settle` waits until they are on disk."""

    def __init__(self, sink: Sink, run_id: str, capture: Capture, *, after: int = 0) -> None:
        self.run_id = run_id
        self.capture = capture
        self.written: tuple[RunSummary | None, int] = (None, 0)
        self._sink = sink
        self._put = sink.put
        self._seq = after
        self._summary = RunSummary(run_id, "", "running", "")
        self._done = 0

    @property
    def url(self) -> str:
        """The URL of the journal."""
        return self._sink.url

    def resume(self, summary: RunSummary) -> None:
        """Continue from a run's stored summary."""
        # The stored goal is captured; it will be captured again.
        self._summary = replace(summary, status="running", goal=self.capture.local(summary.goal))

    def add_to(self, summary: RunSummary) -> None:
        """Continue from the summary of an ended run, keeping its status."""
        self._summary = replace(summary, goal=self.capture.local(summary.goal))

    def record(self, event: Event) -> None:
        """Record an event, unless it only reports progress."""
        kind, at = type(event), time.time_ns()
        if kind in CHANGING:
            if isinstance(event, TaskFinished) and self._summary.early is None:
                # Frequent, and slow to build a summary for.
                self._done += event.status == "done" and not in_round(event.task)
            else:
                self._summary = updated(self._summary, event, stamp(at))
        elif kind in _TRANSIENT:
            return
        self._seq = seq = self._seq + 1
        self._put(LogEntry(self, seq, at, event, self._summary, self._done))

    def captured(self, entry: LogEntry) -> RunSummary:
        """Return the recorded form of the run's summary after an entry."""
        summary, text = entry.summary, self.capture.text
        captured = replace(summary, goal=text(summary.goal), done=summary.done + entry.done)
        if summary.tags or summary.note:
            return replace(captured, tags=tuple(map(text, summary.tags)), note=text(summary.note))
        return captured

    def settle(self) -> Awaitable[None]:
        """Wait until everything recorded so far is on disk."""
        return self._sink.settle(self.run_id)


def now() -> str:
    """Return the current time in the format of records."""
    return stamp(time.time_ns())


def stamp(at: int) -> str:
    """Format a time in nanoseconds as ISO 8601 in UTC, with microseconds."""
    digits = str(at)
    return f"{_second(digits[:10])}{digits[10:16]}Z"


def _stamps(times: Sequence[int]) -> list[str]:
    """Format times as `stamp` does, fast if all are within one second, as in nearly every commit."""
    if not times or min(times) // _SECOND != max(times) // _SECOND:
        return [stamp(at) for at in times]
    digits = encode(times)  # 19 digits each, with commas between them
    second = _second(digits[1:11])
    return [f"{second}{digits[offset : offset + 6]}Z" for offset in range(11, len(digits), 20)]


@lru_cache(maxsize=8)
def _second(seconds: str) -> str:
    return f"{datetime.fromtimestamp(int(seconds), UTC):%Y-%m-%dT%H:%M:%S}."
