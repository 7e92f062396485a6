"""A recorded run as a model, a memo, approvals and limits: everything comes from its tape."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goalwright_executor.approvals.approvals import Approvals
from goalwright_executor.history.difference import difference
from goalwright_executor.results.finished_work import FinishedWork
from goalwright_executor.results.memo import Memo, at_once
from goalwright_planner.approvals import Answer
from goalwright_planner.errors import AnswerNeeded
from goalwright_planner.events import ApprovalAsked, CallFinished, CallStarted, TaskReused, ToolCalled
from goalwright_planner.plan.change import is_growth_fault
from goalwright_planner.plan.task_id import round_of
from goalwright_skills.skill import is_prompt
from goalwright_skills.tools.envelope import Context, failure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goalwright_executor.history.run_history import RunHistory
    from goalwright_executor.history.tape import Tape
    from goalwright_executor.scheduling.expand import GrowthLimits
    from goalwright_planner.approvals import ApprovalRequest
    from goalwright_planner.events import AnyEvent, ApprovalGiven, Record
    from goalwright_planner.model import Reply, Request
    from goalwright_planner.plan.plan import Plan
    from goalwright_planner.plan.task import Task
    from goalwright_skills.tools.envelope import Envelope
    from goalwright_skills.tools.tool import Tool


@dataclass(slots=True)
class ReplayMemo(Memo):
    """Answers tool calls from the tape; only `Skill` is called, to compare the skill with its recorded text."""

    tape: Tape = field(kw_only=True)

    @classmethod
    def of(cls, tape: Tape, record: Record) -> ReplayMemo:
        """Return a memo with the recorded tool results and reused outputs; tasks are run again."""
        recorded = tape.history.finished
        finished = FinishedWork(envelopes=recorded.envelopes, reused=recorded.reused, verdicts=recorded.verdicts)
        return cls(record, tape.capture, finished=finished, approvals=ReplayApprovals.of(tape, record), tape=tape)

    def recorded(self, event: AnyEvent) -> AnyEvent:
        """Compare an event with the record, and continue with the recorded event."""
        event = self.tape.recorded(event)
        self.record(event)
        return event

    async def tool(self, tool: Tool, task: str, arguments: Mapping[str, Any]) -> Envelope:
        """Return the recorded result."""
        key = self.tool_key(tool.name, task, arguments)
        recorded = self.finished.envelopes.get(key)
        if recorded is None:
            self._raise_if_waiting(key, task, tool.name)
            if self.tape.was_cut_off(task):
                raise self.tape.end_of(task)
            drift = f"task {task!r} calls the tool {tool.name} with arguments that are not on record"
            self.tape.differs(f"task {task}", drift)
            return failure("EXECUTION_ERROR", "this call is not on record", Context("", dict(arguments)))
        if tool.name == "Skill" and recorded.error is None and not is_prompt(str(arguments.get("name"))):
            current = await tool.call(arguments)
            changed = difference(self.capture.text(recorded.text), self.capture.text(current.text))
            if changed is not None:
                self.tape.differs(f"task {task}", f"skill {arguments.get('name')!r}: its instructions: {changed}")
        self.record(ToolCalled(task, tool.name, recorded.to_dict(), key))
        self.finished.files.note(task, recorded.to_dict())
        return recorded

    def _raise_if_waiting(self, key: str, task: str, tool: str) -> None:
        """Raise if the record waits for an answer to this call, or to a question that the call asked."""
        _raise_if_unanswered(key, self.approvals)
        for request in self.approvals.known.waiting:
            if request.kind in ("question", "login") and (request.task, request.tool) == (task, tool):
                _raise_if_unanswered(request.id, self.approvals)


@dataclass(slots=True)
class ReplayApprovals(Approvals):
    """Answers from the tape; a request that is not on it is drift, unless the record ends there."""

    tape: Tape = field(kw_only=True)

    @classmethod
    def of(cls, tape: Tape, record: Record) -> ReplayApprovals:
        """Return the approvals on a tape."""
        return cls(record, at_once, tape.capture, known=tape.history.finished.approvals.copy(), tape=tape)

    def _given(self, request_id: str) -> ApprovalGiven | None:
        given = self.known.answers.get(request_id)
        return given if given is not None and not given.withdrawn else None

    async def _ask(self, request: ApprovalRequest) -> Answer:
        """Answer a request that has no answer on record."""
        _raise_if_unanswered(request.id, self)
        if self.tape.was_cut_off(request.task):
            raise self.tape.end_of(request.task)
        if request.kind == "question":  # the plan differs, which is drift already
            raise AnswerNeeded(request)
        self.tape.differs(f"task {request.task}", f"task {request.task!r} asks for an approval that is not on record")
        nearest = next((answer for answer in self.known.answers.values() if answer.task == request.task), None)
        if nearest is None:
            return Answer()
        return Answer(nearest.decision, nearest.note, nearest.arguments, nearest.text, nearest.by)


def _raise_if_unanswered(request_id: str, approvals: Approvals) -> None:
    asked = approvals.known.asked.get(request_id)
    if asked is not None and request_id not in approvals.known.answers:
        approvals.record(ApprovalAsked(**asked.to_dict()))
        raise AnswerNeeded(asked)


@dataclass(frozen=True, slots=True)
class ReplayModel:
    """A model that answers from the tape."""

    name: str
    tape: Tape
    memo: ReplayMemo

    async def complete(self, request: Request) -> Reply:
        """Return the recorded reply."""
        request = self.tape.sent.as_sent(request)
        names = dict.fromkeys((self.name, *(call.model for call in self.tape.history.calls.started)))
        hashes = [self.memo.request_hash(request, name) for name in names]
        key, reply = self.tape.answer(request, [self.memo.counted(key) for key in hashes])
        self.memo.note_images(request, reply)
        record = self.memo.record
        record(CallStarted(request.role, request.task, self.name, request.messages, request=key))
        record(CallFinished(request.role, request.task, reply.model or self.name, reply, 0.0, key))
        return reply


@dataclass(frozen=True, slots=True)
class RecordedLimits:
    """The recorded limits on growth: which task reached the common limit depended on the timing of the run."""

    history: RunHistory
    limits: GrowthLimits

    def fault(self, task: Task, added: Sequence[Task], plan: Plan) -> str | None:
        """Return why the recorded task did not grow; None if it did."""
        if self._grew(task, added):
            return None
        recorded = self.history.tasks.get(task.id)
        error = recorded.error if recorded is not None and recorded.status == "failed" else None
        if error is not None and is_growth_fault(error):
            return error
        fault = self.limits.fault(task, added, plan)
        return None if fault is not None and is_growth_fault(fault) else fault

    def _grew(self, task: Task, added: Sequence[Task]) -> bool:
        """Whether the recorded task grew into parts, or into this round."""
        plan = self.history.plan
        if plan is None:
            return False
        rounds = [part.id for part in added if round_of(part.id) is not None]
        return any(name in plan for name in rounds) if rounds else bool(plan.parts_of(task.id))


def reused(history: RunHistory) -> list[TaskReused]:
    """Return the outputs that the recorded run reused."""
    return [TaskReused(task, output, "record") for task, output in history.finished.reused.items()]
