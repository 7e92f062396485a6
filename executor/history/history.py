"""A run read back: how it stands, and everything it has finished."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from executor.history.ledger import Ledger
from executor.journal import codec
from executor.tasks.memo import FinishedWork
from planner.events import (
    CallFailed,
    CallFinished,
    CallStarted,
    CatalogueTaken,
    Event,
    PlanMade,
    PlanRefused,
    RunResumed,
    RunStarted,
    SkillLoaded,
    SkillsSelected,
    TaskFinished,
    TaskReused,
    TaskStarted,
    ToolCalled,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from executor.capture.capture import Capture
    from executor.stores.row import Row


@dataclass(slots=True)
class RunHistory:
    """What the record says of a run. Its events come as they were, with paths as they are here.

    `sittings` are the settings of each time that it was at work, `sat` in which of them a role was last asked, by task.
    """

    started: RunStarted | None = None
    catalogue: CatalogueTaken | None = None
    selected: SkillsSelected | None = None
    planned: PlanMade | None = None
    refusals: list[PlanRefused] = field(default_factory=list)
    calls: list[CallStarted] = field(default_factory=list)
    failed: dict[str, CallFailed] = field(default_factory=dict)
    loaded: dict[tuple[str | None, str], str] = field(default_factory=dict)
    tasks: dict[str, TaskFinished] = field(default_factory=dict)
    tools: list[ToolCalled] = field(default_factory=list)
    finished: FinishedWork = field(default_factory=FinishedWork)
    sittings: list[Mapping[str, Any]] = field(default_factory=list)
    sat: dict[tuple[str, str | None], int] = field(default_factory=dict)
    ledger: Ledger = field(default_factory=Ledger)
    last_seq: int = 0
    _latest: dict[str | None, Event] = field(default_factory=dict)
    _inputs: dict[str, str] = field(default_factory=dict)
    _told: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, rows: Iterable[Row], capture: Capture) -> RunHistory:
        """Read a run's rows, in order."""
        history = cls()
        for row in rows:
            history.last_seq = row.seq
            event = codec.event(row.type, capture.local(row.body))
            if event is not None:
                history.note(event)
        return history

    def note(self, event: Event) -> None:
        """Take an event into account."""
        self.ledger.note(event)
        match event:
            case RunStarted():
                self.started = event
                self.sittings.append(event.settings)
                self.finished.given.update({one.task: one.output for one in event.reused})
            case RunResumed():
                self.sittings.append(event.settings)
            case CatalogueTaken():
                self.catalogue = event
            case SkillsSelected():
                self.selected = event
            case PlanRefused():
                self.refusals.append(event)
            case PlanMade():
                self.planned = event
            case SkillLoaded():
                self.loaded[event.task, event.name] = event.content
            case CallStarted() | CallFailed() | CallFinished():
                self._note_call(event)
            case TaskStarted():
                self._inputs[event.task] = event.inputs
            case TaskReused():
                self._told.add(event.task)
                self.finished.given[event.task] = event.output
            case TaskFinished():
                self.tasks[event.task] = event
                if event.status == "done" and event.output is not None:
                    self.finished.outputs[event.task, self._inputs.get(event.task, "")] = event.output
            case ToolCalled():
                self._latest[event.task] = event
                self.tools.append(event)
                if event.call:
                    self.finished.envelopes[event.call] = codec.envelope(event.envelope)
            case _:
                pass

    @property
    def untold(self) -> tuple[TaskReused, ...]:
        """The outputs that the run was given whose own events are not on record: it ended before."""
        given = self.started.reused if self.started is not None else ()
        return tuple(one for one in given if one.task not in self._told)

    def reopen(self) -> None:
        """Forget what failed tasks, or failed planning, failed of: found again, it would fail them again.

        That is the last answer they got, where no call failed after it; all before it stays found.
        """
        failed: list[str | None] = [name for name, task in self.tasks.items() if task.status == "failed"]
        end = self.ledger.finished
        if self.planned is None and end is not None and end.status == "failed":
            failed.append(None)
        for name in failed:
            match self._latest.get(name):
                case CallFinished(request=key):
                    self.finished.replies.pop(key, None)
                case ToolCalled(call=key):
                    self.finished.envelopes.pop(key, None)
                case _:
                    pass

    def _note_call(self, event: CallStarted | CallFailed | CallFinished) -> None:
        self._latest[event.task] = event
        match event:
            case CallStarted():
                self.calls.append(event)
                self.sat[event.role, event.task] = len(self.sittings) - 1
            case CallFailed():
                self.failed[event.request] = event
            case CallFinished():
                self.finished.replies[event.request] = event.reply
