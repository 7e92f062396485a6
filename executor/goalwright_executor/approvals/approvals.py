"""Asks a person before a call, a task or a plan continues, and finds earlier answers in the record.

    the policy allows it          it runs
    it was answered before        the answer holds, unless the policy now denies it
    somebody can be asked now     the task waits for the answer; everything else continues
    nobody answers                AnswerNeeded: the run ends as waiting when nothing else can run

Requests and answers are on disk before a tool starts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from goalwright_executor.approvals.call_person import CallPerson
from goalwright_executor.approvals.policy import ApprovalPolicy, Ruling
from goalwright_executor.approvals.record import ApprovalRecord
from goalwright_executor.approvals.waiting import my_turn, slot_released, turn_over
from goalwright_planner.approvals import Answer, ApprovalRequest
from goalwright_planner.errors import AnswerNeeded, TaskDenied
from goalwright_planner.events import ApprovalAsked, ApprovalGiven, ToolStarted, Warned
from goalwright_skills.tools.current_call import asking, calling
from goalwright_skills.tools.effects import effects_of, preview_of, refusal_of
from goalwright_skills.tools.envelope import Context, Envelope, failure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goalwright_executor.capture.capture import Capture
    from goalwright_planner.approvals import Approve
    from goalwright_planner.events import PlanChanged, Record
    from goalwright_planner.plan.plan import Plan
    from goalwright_planner.plan.task import Task
    from goalwright_skills.tools.effects import Effects
    from goalwright_skills.tools.tool import Tool

Settle = Callable[[], Awaitable[None]]

_DENIED = "a person denied this call{note} — do without it, and say in your answer what is missing because of it"
_FORBIDDEN = "the approval policy denies {tool} — do without it, and say in your answer what is missing because of it"
_DENIED_TASK = "it was denied"

_UNASKED = Ruling("allow")
_MAYBE_DONE = "It may have been done: this call was under way when the run was interrupted."


@dataclass(slots=True)
class Approvals:
    """The approvals of one run; `known` has its requests and answers, `approve` asks a person who is present.

    `remind` receives recorded requests that are still open.
    """

    record: Record
    settle: Settle
    capture: Capture
    policy: ApprovalPolicy = field(default_factory=ApprovalPolicy)
    known: ApprovalRecord = field(default_factory=ApprovalRecord)
    approve: Approve | None = None
    remind: Record | None = None
    cwd: str = ""
    _allowed: dict[str, tuple[str, Mapping[str, Any]]] = field(default_factory=dict)

    async def call(self, tool: Tool, task: str, arguments: Mapping[str, Any], key: str) -> Envelope:
        """Call a tool if it is allowed; `key` identifies the call and the request."""
        with calling(key), asking(CallPerson(self, tool, task, key)):
            return await self._call(tool, task, arguments, key)

    async def _call(self, tool: Tool, task: str, arguments: Mapping[str, Any], key: str) -> Envelope:
        refused = await asyncio.to_thread(refusal_of, tool, arguments)
        if refused is not None:
            return refused
        effects = effects_of(tool, arguments)
        answer = await self._permission(tool, task, arguments, key, effects)
        turn_over()
        if answer is not None and answer.decision == "deny":
            return self._denied(tool, arguments, answer)
        if answer is not None and answer.decision == "edit" and answer.arguments is not None:
            arguments = answer.arguments
        if not effects.repeatable and (effects.writes or answer is not None):
            await self.start(tool, task, key)
        return await tool.call(arguments)

    async def start(self, tool: Tool, task: str, key: str) -> None:
        """Record the start of a call that must not be repeated without asking; it is on disk when this returns."""
        self._note(ToolStarted(task, tool.name, key))
        await self.settle()

    async def answer(self, request: ApprovalRequest) -> Answer:
        """Return a person's answer to a request: the recorded one, or else a new one."""
        given = self._given(request.id)
        return _answer(given) if given is not None else await self._ask(request)

    async def close(self, request_id: str, by: str) -> None:
        """Close an open request whose purpose was met otherwise."""
        asked = self.known.asked.get(request_id)
        if asked is not None and request_id not in self.known.answers:
            await self._give(asked, Answer(by=by))

    async def task(self, task: Task, inputs: str, request: ApprovalRequest) -> Mapping[str, Any] | None:
        """Return the arguments with which a person allows a task; raises TaskDenied if they do not."""
        request = msgspec.structs.replace(request, id=f"{self.capture.hash(['approval', task.id, inputs])}#1")
        given = self._given(request.id)
        if given is None and self.policy.mode == "never" and request.id not in self.known.asked:
            given = await self._give(request, Answer(by=_UNASKED.by))
        answer = _answer(given) if given is not None else await self._ask(request)
        if answer.decision == "deny":
            raise TaskDenied(f"{_DENIED_TASK}: {answer.note}" if answer.note else _DENIED_TASK)
        arguments = answer.arguments if answer.decision == "edit" else request.arguments
        if request.tool is not None and arguments is not None:
            self._allowed[task.id] = request.tool, arguments
        return arguments

    async def question(self, text: str, answers: Sequence[str], task: str | None = None) -> str:
        """Ask a person a question that follows earlier answers, and return the answer."""
        identity = f"{self.capture.hash(['question', task, list(answers), text])}#1"
        given = self._given(identity)
        request = ApprovalRequest(identity, task, "question", preview=text)
        return given.text if given is not None else (await self._ask(request)).text

    def withdraw(self, plan: Plan, change: PlanChanged) -> None:
        """Close the requests of tasks that a change of the plan drops or changes."""
        for withdrawal in self.known.withdrawals(plan, change):
            self._note(withdrawal)

    async def _permission(
        self, tool: Tool, task: str, arguments: Mapping[str, Any], key: str, effects: Effects
    ) -> Answer | None:
        """Return the decision of a person or a rule on a call; None if nobody needs to be asked."""
        ruling, given = self.policy.decide(tool.name, effects), self._given(key)
        if ruling == _UNASKED and not (given or key in self.known.asked or key in self.known.under_way):
            return None
        preview = await asyncio.to_thread(preview_of, tool, arguments)  # a preview may read a large file
        request = ApprovalRequest(key, task, "tool", tool.name, dict(arguments), preview)
        if ruling.decision == "deny":
            return _answer(given or await self._give(request, Answer("deny", by=ruling.by)))
        if key in self.known.under_way and not effects.repeatable and self.policy.mode != "never":
            return await self._ask(msgspec.structs.replace(request, preview=f"{_MAYBE_DONE}\n{request.preview}"))
        if given is not None:
            return _answer(given)
        if self._allowed.get(task) == (tool.name, arguments):
            return Answer()  # the task was allowed with exactly this call
        if ruling.decision == "ask" or key in self.known.asked:
            return await self._ask(request)
        if ruling.rule:
            await self._give(request, Answer(by=ruling.by))
        return None

    def _given(self, request_id: str) -> ApprovalGiven | None:
        """Return the recorded answer, if it still holds."""
        given = self.known.answers.get(request_id)
        return given if given is not None and given.holds else None

    async def _ask(self, request: ApprovalRequest) -> Answer:
        """Ask, or ask again if a request has no answer; raises AnswerNeeded if nobody answers now."""
        allowed_by = self.known.rest.get(request.tool or "") if request.kind == "tool" else None
        if allowed_by is not None:
            return _answer(await self._give(request, Answer(by=allowed_by)))
        await my_turn()
        asked = self.known.asked.get(request.id)
        if asked is None or request.id in self.known.answers:
            asked = ApprovalAsked(**request.to_dict() | {"asked": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"})
            self._note(asked)
            if self.approve is not None:
                await self.settle()  # the request must survive if the process dies before the answer
        elif self.remind is not None:
            self.remind(ApprovalAsked(**asked.to_dict()))
        turn_over()
        answer = await self._answer_now(asked)
        if answer is None:
            raise AnswerNeeded(asked)
        return _answer(await self._give(asked, answer))

    async def _answer_now(self, request: ApprovalRequest) -> Answer | None:
        """Return the answer of a person who is present; neither silence nor an error is an answer."""
        if self.approve is None:
            return None
        answer: object = None
        with slot_released():
            try:
                answer = await self.approve(request)
            except Exception as error:  # noqa: BLE001 - `approve` is the caller's function
                self.record(Warned(f"{request.id} still waits: approve raised {type(error).__name__}: {error}"))
        if answer is None:
            return None
        fault = answer.fault(request) if isinstance(answer, Answer) else f"approve returned {answer!r:.80}"
        if fault is not None or not isinstance(answer, Answer):
            self.record(Warned(f"{request.id} still waits: {fault}"))
            return None
        return answer

    async def _give(self, request: ApprovalRequest, answer: Answer) -> ApprovalGiven:
        """Record an answer; it is on disk when this returns."""
        given = given_to(request, answer, self.capture)
        self._note(given)
        await self.settle()
        return given

    def _note(self, event: ApprovalAsked | ApprovalGiven | ToolStarted) -> None:
        self.record(event)
        self.known.note(event)

    def _denied(self, tool: Tool, arguments: Mapping[str, Any], answer: Answer) -> Envelope:
        message = _DENIED.format(note=f": {answer.note}" if answer.note else "")
        if answer.by.startswith("policy:"):
            message = _FORBIDDEN.format(tool=tool.name)
        data = {"denied": answer.note or message}
        return replace(failure("PERMISSION_DENIED", message, Context(self.cwd, dict(arguments))), data=data)


def given_to(request: ApprovalRequest, answer: Answer, capture: Capture) -> ApprovalGiven:
    """Return the event of an answer, without keys and passwords."""
    note, text = (capture.secrets.redact(value) for value in (answer.note, answer.text))
    is_answer = request.kind == "question" and not (request.schema is not None and answer.decision == "deny")
    decision = "answer" if is_answer else answer.decision
    arguments = answer.arguments if decision == "edit" else None
    return ApprovalGiven(request.id, decision, note, arguments, answer.by, text, request.task, request.tool)


def denial(envelope: Envelope) -> str | None:
    """Return why a call was denied by a person or by the policy; None if it was not."""
    denied = envelope.data.get("denied") if envelope.error is not None else None
    if envelope.error is None or envelope.error.code != "PERMISSION_DENIED" or not isinstance(denied, str):
        return None
    return f"{_DENIED_TASK}: {denied}" if denied != envelope.error.message else _DENIED_TASK


def _answer(given: ApprovalGiven) -> Answer:
    return Answer(given.decision, given.note, given.arguments, given.text, given.by)
