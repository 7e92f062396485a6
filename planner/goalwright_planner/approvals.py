"""Requests for approval and questions to a person, and their answers.

A request's `id` is the hash of the call, the task with its inputs or the question, and its number among equal ones. An
answer holds for exactly that request.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, get_args

import msgspec

from goalwright_skills.tools.form import fields, parse_answer

RequestKind = Literal["tool", "task", "question", "login"]
Decision = Literal["allow", "deny", "edit", "allow_rest", "answer"]


class ApprovalRequest(msgspec.Struct, frozen=True):
    """A tool call, task, question or login that a run waits for; `preview` describes it for a person.

    `tool` and `arguments` belong to a tool call, or to a task of a tool; `asked` is the time when it was first asked. A
    question with a form has its JSON `schema`; a question that asks to open a page has the address in `arguments`.
    """

    id: str
    task: str | None
    kind: RequestKind
    tool: str | None = None
    arguments: Mapping[str, Any] | None = None
    preview: str = ""
    asked: str = ""
    schema: Mapping[str, Any] | None = None

    @property
    def page(self) -> str | None:
        """The URL of the page that a question asks to open."""
        return (self.arguments or {}).get("url") if self.kind == "question" else None

    def to_dict(self) -> dict[str, Any]:
        """Return the request as plain values."""
        return msgspec.structs.asdict(self)


class Answer(msgspec.Struct, frozen=True):
    """A person's answer to a request.

    `allow` or `deny` it, `edit` a tool's `arguments`, or `allow_rest`: this call and all further calls of its tool in
    the run. A question is answered with `text`, a form with JSON; a form can be denied too. The `note` of a denial
    reaches the model; `by` is recorded.
    """

    decision: Decision = "allow"
    note: str = ""
    arguments: Mapping[str, Any] | None = None
    text: str = ""
    by: str = "callback"

    def fault(self, request: ApprovalRequest) -> str | None:
        """Return why this cannot answer the request; None if it can."""
        if self.decision not in get_args(Decision):
            return f"the decision {self.decision!r} is not one of {', '.join(get_args(Decision))}"
        if request.kind == "question":
            return self._question_fault(request)
        if self.decision == "answer":
            return "it is not a question: allow, deny or edit it"
        if self.decision == "edit" and request.tool is None:
            return "only the arguments of a tool can be edited: allow or deny it"
        if self.decision == "edit" and not isinstance(self.arguments, Mapping):
            return "an edit needs the new arguments as an object"
        if self.decision == "allow_rest" and request.tool is None:
            return "only the calls of a tool can be allowed for the rest of the run: allow or deny it"
        return None

    def _question_fault(self, request: ApprovalRequest) -> str | None:
        if request.schema is not None and self.decision == "deny":
            return None
        if request.schema is not None and (self.text.strip() or not fields(request.schema)):
            faults = parse_answer(request.schema, self.text)[1]
            return f"the answer does not fit the form: {'; '.join(faults)}" if faults else None
        return None if self.text.strip() else "it is a question: answer it with a text"


Approve = Callable[[ApprovalRequest], Awaitable[Answer | None]]
