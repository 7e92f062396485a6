"""The person whom a tool asks in the middle of its call, through the approvals of the run."""

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
_URL_SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}


class Asking(Protocol):
    """The part of a run's approvals that a call uses."""

    @property
    def capture(self) -> Capture:
        """Hashes requests."""

    @property
    def record(self) -> Record:
        """Records events."""

    @property
    def remind(self) -> Record | None:
        """Receives events that are not recorded."""

    @property
    def known(self) -> ApprovalRecord:
        """The requests and answers so far."""

    async def answer(self, request: ApprovalRequest) -> Answer:
        """Return a person's answer to a request."""

    async def start(self, tool: Tool, task: str, key: str) -> None:
        """Record the start of a call."""

    async def close(self, request_id: str, by: str) -> None:
        """Close an open request."""


@dataclass(slots=True)
class CallPerson:
    """Asks a person on behalf of one tool call; a repeated call's questions have the same ids."""

    approvals: Asking
    tool: Tool
    task: str
    key: str
    _asked: Counter[str] = field(default_factory=Counter)

    async def fill_in(self, question: FormQuestion) -> FormAnswer:
        """Return the answer to a form; a form that asks for a secret is declined with a warning."""
        schema = _URL_SCHEMA if question.url else question.schema
        if not question.url and (name := asks_secret(schema, question.message)) is not None:
            warning = f"the MCP server {question.server!r} asked for {name!r}, which looks like a secret: declined"
            self.approvals.record(Warned(warning))
            return _DECLINED
        identity = self.approvals.capture.hash(
            ["form", self.key, question.server, question.message, question.url, schema]
        )
        self._asked[identity] += 1
        request = ApprovalRequest(
            f"{identity}#{self._asked[identity]}",
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
        """Wait until somebody has logged in; each login is requested once, whichever calls need it."""
        request = ApprovalRequest(
            self._login(server), self.task, "login", self.tool.name, {"server": server}, f"{why}\n{command}"
        )
        return (await self._answer(request)).decision != "deny"

    async def logged_in(self, server: str) -> None:
        """Close the request for a login."""
        await self.approvals.close(self._login(server), LOGGED_IN)

    def hear(self, server: str, text: str) -> None:
        """Forward a server's message to observers, unrecorded, because a server can send any amount."""
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
