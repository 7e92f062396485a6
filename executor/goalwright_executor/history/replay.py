"""A recorded run as a model and a memo: replies and results come from its tape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goalwright_executor.history.difference import (
    difference,
)
from goalwright_executor.history.replay_approvals import ReplayApprovals, wait_for_call
from goalwright_executor.results.memo import FinishedWork, Memo
from goalwright_planner.events import (
    CallFinished,
    CallStarted,
    TaskReused,
    ToolCalled,
)
from goalwright_skills.skill import is_prompt
from goalwright_skills.tools.envelope import Context, failure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright_executor.history.run_history import RunHistory
    from goalwright_executor.history.tape import Tape
    from goalwright_planner.events import AnyEvent, Record
    from goalwright_planner.model import Reply, Request
    from goalwright_skills.tools.envelope import Envelope
    from goalwright_skills.tools.tool import Tool


@dataclass(slots=True)
class ReplayMemo(Memo):
    """Answers tool calls from the tape; only `Skill` is called, to see whether the skill has changed."""

    tape: Tape | None = None

    @classmethod
    def of(cls, tape: Tape, record: Record) -> ReplayMemo:
        """A memo with the recorded tool results and reused outputs; tasks are run again."""
        recorded = tape.history.finished
        finished = FinishedWork(envelopes=recorded.envelopes, reused=recorded.reused, verdicts=recorded.verdicts)
        return cls(record, tape.capture, finished=finished, approvals=ReplayApprovals.of(tape, record), tape=tape)

    def recorded(self, event: AnyEvent) -> AnyEvent:
        """Compare an event with the record, and continue with the recorded one."""
        assert self.tape is not None  # noqa: S101 - `of` gives it one
        event = self.tape.recorded(event)
        self.record(event)
        return event

    async def tool(self, tool: Tool, task: str, arguments: Mapping[str, Any]) -> Envelope:
        """The recorded result."""
        assert self.tape is not None  # noqa: S101 - `of` gives it one
        key = self.tool_key(tool.name, task, arguments)
        recorded = self.finished.envelopes.get(key)
        if recorded is None:
            wait_for_call(key, task, tool.name, self.approvals)
            if self.tape.was_cut_off(task):
                raise self.tape.end_of(task)
            what = f"task {task!r} calls the tool {tool.name} with arguments that are not on record"
            self.tape.differs(f"task {task}", what)
            return failure("EXECUTION_ERROR", "this call is not on record", Context("", dict(arguments)))
        if tool.name == "Skill" and recorded.error is None and not is_prompt(str(arguments.get("name"))):
            now = await tool.call(arguments)
            what_differs = difference(self.capture.text(recorded.text), self.capture.text(now.text))
            if what_differs is not None:
                self.tape.differs(f"task {task}", f"skill {arguments.get('name')!r}: its instructions: {what_differs}")
        self.record(ToolCalled(task, tool.name, recorded.to_dict(), key))
        self.finished.files.note(task, recorded.to_dict())
        return recorded


@dataclass(frozen=True, slots=True)
class ReplayModel:
    """A model that answers from the tape."""

    name: str
    tape: Tape
    memo: ReplayMemo

    async def complete(self, request: Request) -> Reply:
        """The recorded reply."""
        request = self.tape.sent.as_sent(request)
        names = dict.fromkeys((self.name, *(call.model for call in self.tape.history.calls)))
        hashes = [self.memo.request_hash(request, name) for name in names]
        key, reply = self.tape.answer(request, [self.memo.counted(key) for key in hashes])
        self.memo.note_images(request, reply)
        record = self.memo.record
        record(CallStarted(request.role, request.task, self.name, request.messages, request=key))
        record(CallFinished(request.role, request.task, reply.model or self.name, reply, 0.0, key))
        return reply


def reused(history: RunHistory) -> list[TaskReused]:
    """The outputs that the recorded run reused."""
    return [TaskReused(task, output, "record") for task, output in history.finished.reused.items()]
