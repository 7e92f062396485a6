"""A run's own place in the journal: its events get their number and time here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from executor.journal.row import Row, Summary
from planner.events import (
    CallFinished,
    Event,
    PlanMade,
    RunFinished,
    RunResumed,
    RunStarted,
    TextStreamed,
    to_dict,
)

if TYPE_CHECKING:
    from executor.journal.capture import Capture
    from executor.journal.writer import Writer


@dataclass(frozen=True, slots=True)
class Entry:
    """An event on its way to the store; it becomes a row in the writer's thread."""

    run_id: str
    seq: int
    at: datetime
    event: Event
    summary: Summary
    capture: Capture

    def row(self) -> Row:
        """The row that is kept: without secrets, paths relative to named roots."""
        body = to_dict(self.event)
        kind = body.pop("type")
        return Row(self.run_id, self.seq, _iso(self.at), kind, self.capture.value(body))


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
        self._summary = replace(summary, status="running", seconds=None)

    def record(self, event: Event) -> None:
        """Hand an event over. Pieces of a streamed answer are not kept: the whole of it follows."""
        if isinstance(event, TextStreamed):
            return
        at = datetime.now(UTC)
        self._seq += 1
        self._summary = self._noted(event, at)
        self._writer.put(Entry(self.run_id, self._seq, at, event, self._summary, self.capture))

    async def settle(self) -> None:
        """Wait until all of it is on disk."""
        await self._writer.settle()

    def _noted(self, event: Event, at: datetime) -> Summary:
        summary = self._summary
        match event:
            case RunStarted():
                goal = self.capture.text(event.goal)
                return replace(summary, goal=goal, started=_iso(at), parent=event.parent)
            case RunResumed():
                return replace(summary, status="running")
            case PlanMade():
                return replace(summary, tasks=len(event.plan.tasks))
            case CallFinished(reply=reply):
                known = summary.cost_usd is not None and reply.cost is not None
                return replace(summary, cost_usd=summary.cost_usd + reply.cost if known else None)  # type: ignore[operator]
            case RunFinished():
                return replace(summary, status=event.status, seconds=event.seconds)
            case _:
                return summary


def _iso(at: datetime) -> str:
    return at.isoformat(timespec="microseconds").replace("+00:00", "Z")
