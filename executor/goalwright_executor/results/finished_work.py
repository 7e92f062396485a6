"""The finished work of a run or of an earlier one, in the forms in which it is looked up."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from goalwright_executor.approvals.record import ApprovalRecord
from goalwright_executor.results.kept_files import KeptFiles

if TYPE_CHECKING:
    from collections.abc import Container

    from goalwright_planner.events import CallStarted, PlanRefused, TaskReused
    from goalwright_planner.model import Message, Reply, Request, Role
    from goalwright_planner.plan.task import Task
    from goalwright_skills.tools.envelope import Envelope

_Place = tuple[str | None, int | None]


@dataclass(slots=True)
class Refusals:
    """The refused answers of a planner, by sub-goal and number of the change, each with its reply's key.

    A resumed run reads the same replies again, and repeats their faults in the recorded words.
    """

    _by_place: dict[_Place, list[tuple[str, PlanRefused]]] = field(default_factory=dict)
    _taken: Counter[_Place] = field(default_factory=Counter)

    def note(self, event: PlanRefused, reply: str) -> None:
        """Add a refusal; a run that was resumed starts again with the first attempt."""
        place = event.task, event.change
        before = self._by_place.get(place, [])
        self._by_place[place] = [(key, refused) for key, refused in before if refused.attempt < event.attempt] + [
            (reply, event)
        ]

    def end(self) -> None:
        """Forget the refusals of the run's own plan, which is finished."""
        self._by_place.pop((None, None), None)

    def recorded(self, event: PlanRefused, replies: Container[str]) -> PlanRefused | None:
        """Return the same refusal on record; None if there is none, or its reply was forgotten."""
        place = event.task, event.change
        number = self._taken[place]
        self._taken[place] += 1
        refused = self._by_place.get(place, [])
        if number >= len(refused) or refused[number][0] not in replies:
            return None
        return refused[number][1]


@dataclass(frozen=True, slots=True)
class FinishedPart:
    """A generated task that an earlier run has finished, with its result; it is found by its content."""

    task: Task
    reused: TaskReused


@dataclass(slots=True)
class FinishedWork:
    """Finished work by hash; `reused` outputs count whatever the inputs are, `parts` are an earlier run's.

    `calls` are recorded calls by subject, in order. `lent` are envelopes of other runs, for calls that are recorded as
    if they were made now. `verdicts` has the faults of checked answers, by the answers' hashes.
    """

    replies: dict[str, Reply] = field(default_factory=dict)
    calls: dict[str, list[CallStarted]] = field(default_factory=dict)
    refusals: Refusals = field(default_factory=Refusals)
    envelopes: dict[str, Envelope] = field(default_factory=dict)
    lent: dict[str, Envelope] = field(default_factory=dict)
    outputs: dict[tuple[str, str], str] = field(default_factory=dict)
    reused: dict[str, str] = field(default_factory=dict)
    approvals: ApprovalRecord = field(default_factory=ApprovalRecord)
    parts: list[FinishedPart] = field(default_factory=list)
    files: KeptFiles = field(default_factory=KeptFiles)
    verdicts: dict[str, tuple[str, ...]] = field(default_factory=dict)


_Messages = tuple["Message", ...]


@dataclass(slots=True)
class SentMessages:
    """Conversations as they were sent, by role and task.

    Where today's prompts differ from the record, a conversation continues from the recorded messages.
    """

    _recorded: dict[tuple[Role, str | None], tuple[_Messages, _Messages]] = field(default_factory=dict)

    def note(self, request: Request, recorded: _Messages) -> None:
        """Continue a conversation that begins with this request from the recorded messages."""
        self._recorded[request.role, request.task] = request.messages, recorded

    def as_sent(self, request: Request) -> Request:
        """Return the request with its earlier messages as they are recorded."""
        begun = self._recorded.get((request.role, request.task))
        if begun is None:
            return request
        today, recorded = begun
        if request.messages[: len(today)] != today:
            return request
        return replace(request, messages=(*recorded, *request.messages[len(today) :]))
