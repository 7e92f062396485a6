"""Who a tool asks in the middle of its call: the person behind the run, by way of its approvals and their record."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from goalwright_planner.approvals import ApprovalRequest
from goalwright_planner.events import ToolReported, Warned
from goalwright_skills.tools.current_call import FormAnswer
from goalwright_skills.tools.form import asks_secret, parse_answer

if TYPE_CHECKING:
    from goalwright_executor.approvals.record import ApprovalRecord
    from goalwright_executor.capture.capture import Capture
    from goalwright_planner.approvals import Answer
    from goalwright_planner.events import Record
    from goalwright_skills.tools.current_call import FormQuestion
    from goalwright_skills.tools.tool import Tool

LOGGED_IN = "login"
_DECLINED = FormAnswer("decline")
_OPENED: dict[str, Any] = {"type": "object", "properties": {}}


class Asking(Protocol):
    """What the approvals of a run do for a call."""

    @property
    def capture(self) -> Capture:
        """How things are hashed."""

    @property
    def record(self) -> Record:
        """Takes events."""

    @property
    def remind(self) -> Record | None:
        """Takes events that are not recorded."""

    @property
    def known(self) -> ApprovalRecord:
        """What was asked and answered."""

    async def answer(self, request: ApprovalRequest) -> Answer:
        """What a person says to a request."""

    async def start(self, tool: Tool, task: str, key: str) -> None:
        """Note that a call is under way."""

    async def close(self, request_id: str, by: str) -> None:
        """Close a request that is still open."""


@dataclass(slots=True)
class CallPerson:
    """The person, as one call of a tool asks them; a question of this call has the same id when it is made again."""

    approvals: Asking
    tool: Tool
    task: str
    key: str
    _asked: Counter[str] = field(default_factory=Counter)

    async def fill_in(self, question: FormQuestion) -> FormAnswer:
        """The answer to a form; one that asks for a secret is declined, and the person is told."""
        schema = _OPENED if question.url else question.schema
        if not question.url and (name := asks_secret(schema, question.message)) is not None:
            what = f"the MCP server {question.server!r} asked for {name!r}, which looks like a secret: declined"
            self.approvals.record(Warned(what))
            return _DECLINED
        asked = self.approvals.capture.hash(["form", self.key, question.server, question.message, question.url, schema])
        self._asked[asked] += 1
        request = ApprovalRequest(
            f"{asked}#{self._asked[asked]}",
            self.task,
            "question",
            self.tool.name,
            {"url": question.url} if question.url else None,
            f"The MCP server {question.server!r} asks: {question.message}",
            schema=schema,
        )
        answer = await self._answer(request)
        if answer.decision == "deny":
            return _DECLINED
        return FormAnswer("accept", {} if question.url else parse_answer(schema, answer.text)[0])

    async def log_in(self, server: str, why: str, command: str) -> bool:
        """Wait until somebody has logged in; a login is asked for once, whichever calls need it."""
        request = ApprovalRequest(
            self._login(server), self.task, "login", self.tool.name, {"server": server}, f"{why}\n{command}"
        )
        return (await self._answer(request)).decision != "deny"

    async def logged_in(self, server: str) -> None:
        """Close the request for a login."""
        await self.approvals.close(self._login(server), LOGGED_IN)

    def hear(self, server: str, text: str) -> None:
        """Tell those who watch; it is not recorded, since a server can say any amount."""
        if self.approvals.remind is not None:
            self.approvals.remind(ToolReported(self.task, self.tool.name, f"{server}: {text}"))

    async def _answer(self, request: ApprovalRequest) -> Answer:
        was_under_way = self.key in self.approvals.known.under_way
        answer = await self.approvals.answer(request)
        if was_under_way and self.key not in self.approvals.known.under_way:
            await self.approvals.start(self.tool, self.task, self.key)
        return answer

    def _login(self, server: str) -> str:
        return f"{self.approvals.capture.hash(['login', server, self.key])}#1"
