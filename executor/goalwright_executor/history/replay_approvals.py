"""The approvals of a replayed run: every answer comes from the record, and nobody is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goalwright_executor.approvals.approvals import Approvals
from goalwright_executor.results.memo import at_once
from goalwright_planner.approvals import Answer
from goalwright_planner.errors import AnswerNeeded
from goalwright_planner.events import ApprovalAsked

if TYPE_CHECKING:
    from goalwright_executor.history.tape import Tape
    from goalwright_planner.approvals import ApprovalRequest
    from goalwright_planner.events import ApprovalGiven, Record


@dataclass(slots=True)
class ReplayApprovals(Approvals):
    """Answers as the tape says; a request that is not on it is drift, unless the record ends there."""

    tape: Tape | None = None

    @classmethod
    def of(cls, tape: Tape, record: Record) -> ReplayApprovals:
        """The approvals on a tape."""
        return cls(record, at_once, tape.capture, known=tape.history.finished.approvals.copy(), tape=tape)

    def _given(self, request_id: str) -> ApprovalGiven | None:
        given = self.known.answers.get(request_id)
        return given if given is not None and not given.withdrawn else None

    async def _ask(self, request: ApprovalRequest) -> Answer:
        """What follows from a request that has no answer on record."""
        assert self.tape is not None  # noqa: S101 - `of` gives it one
        wait_for(request.id, self)
        if self.tape.was_cut_off(request.task):
            raise self.tape.end_of(request.task)
        if request.kind == "question":  # the plan differs, which is drift already
            raise AnswerNeeded(request)
        self.tape.differs(f"task {request.task}", f"task {request.task!r} asks for an approval that is not on record")
        nearest = next((answer for answer in self.known.answers.values() if answer.task == request.task), None)
        return (
            Answer()
            if nearest is None
            else Answer(nearest.decision, nearest.note, nearest.arguments, nearest.text, nearest.by)
        )


def wait_for_call(key: str, task: str, tool: str, approvals: Approvals) -> None:
    """Raise if the record waits for an answer to this call, or to what it asked."""
    wait_for(key, approvals)
    for request in approvals.known.waiting:
        if request.kind in ("question", "login") and (request.task, request.tool) == (task, tool):
            wait_for(request.id, approvals)


def wait_for(request_id: str, approvals: Approvals) -> None:
    """Raise if the record waits for an answer to this request."""
    asked = approvals.known.asked.get(request_id)
    if asked is not None and request_id not in approvals.known.answers:
        approvals.record(ApprovalAsked(**asked.to_dict()))
        raise AnswerNeeded(asked)
