"""A run's events as what a client is told: the plan, tool calls with what they change, warnings, and the answer."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from acp.helpers import (
    plan_entry,
    start_tool_call,
    text_block,
    tool_content,
    tool_diff_content,
    update_agent_message_text,
    update_plan,
    update_tool_call,
)
from acp.schema import ToolCallLocation

from goalwright_executor.approvals.record import ApprovalRecord
from goalwright_executor.results.artifacts import Artifacts
from goalwright_planner.events import (
    CallFailed,
    CallFinished,
    CallRetried,
    PlanChanged,
    PlanMade,
    RunFinished,
    RunResumed,
    TaskFinished,
    TaskReused,
    TaskStarted,
    TextStreamed,
    ToolCalled,
    Warned,
)
from goalwright_planner.events.run import STOPPED_BY_USER
from goalwright_planner.plan.task_id import root_of
from goalwright_skills.builtin.writing.targets import PREFIX, target_of
from goalwright_skills.text.untrusted import printable
from goalwright_skills.tools.form import described
from goalwright_skills.tools.tool import ToolFault

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from goalwright_planner.approvals import ApprovalRequest
    from goalwright_planner.events import Event
    from goalwright_planner.plan.plan import Plan
    from goalwright_planner.plan.task import Task

_MOST_TEXT = 20_000
_LONGEST_WARNING = 2_000
_KINDS = {
    "ReadFile": "read",
    "ListFiles": "search",
    "Grep": "search",
    "WriteFile": "edit",
    "EditFile": "edit",
    "DeleteFile": "delete",
    "MoveFile": "move",
    "WebFetch": "fetch",
    "WebSearch": "fetch",
    "python_run": "execute",
    "shell_run": "execute",
    "run_script": "execute",
}
_STATUS: dict[str, Literal["pending", "in_progress", "completed"]] = {
    "done": "completed",
    "failed": "completed",
    "skipped": "completed",
    "unneeded": "completed",
    "cancelled": "pending",  # a turn that is continued does it after all
    "pending": "pending",
}


# Those whose text is the answer as it is written.
_ANSWERING = ("synthesis", "decomposer")
_BROKEN = "\n\n*The answer broke off here.*\n\n"


class _OpenCall(NamedTuple):
    """A call that a client was told of, and that has not ended."""

    id: str
    arguments: Mapping[str, Any]


_Calls = defaultdict[tuple[str | None, str], list[_OpenCall]]


@dataclass(slots=True)
class Updates:
    """Turns the events of one turn into updates; `streamed` is whether the answer's text was handed on already.

    `warned` has the warnings that the client was told, and is not told again. `requests` is what was asked and what was
    answered, and `shown` the question that the client was told last.
    """

    workspace: Path
    turn: str = ""
    warned: set[str] = field(default_factory=set)
    streamed: bool = False
    shown: str = ""
    requests: ApprovalRecord = field(default_factory=ApprovalRecord)
    _plan: Plan | None = None
    _standing: dict[str, Literal["pending", "in_progress", "completed"]] = field(default_factory=dict)
    _open: _Calls = field(default_factory=lambda: defaultdict(list))
    _left: _Calls = field(default_factory=lambda: defaultdict(list))  # not made, unless the turn is continued
    _count: int = 0

    def of(self, event: Event) -> list[Any]:
        """What a client is told of an event; mostly nothing."""
        self.requests.note(event)
        match event:
            case PlanMade(plan=plan) if plan.tasks:
                self._plan = plan
                return [self._entries()]
            case PlanChanged() if self._plan is not None:
                self._plan = event.applied(self._plan)
                return [self._entries()]
            case TaskStarted(task=task):
                return [*self._stands(task, "in_progress"), *self._tool_task(task)]
            case TaskFinished(task=task, status=status):
                return [*self._ended(task, event), *self._stands(task, _STATUS.get(status, "completed"))]
            case TaskReused(task=task):
                return self._stands(task, "completed")
            case CallFinished(task=task, reply=reply):
                return [self._started(task, call.name, _arguments(call.arguments)) for call in reply.tool_calls]
            case ToolCalled(task=task, name=name, envelope=envelope):
                return self._called(task, name, envelope)
            case TextStreamed(role=role, text=text) if role in _ANSWERING and text:
                self.streamed = True
                return [update_agent_message_text(text)]
            case CallRetried(role=role) | CallFailed(role=role) if role in _ANSWERING and self.streamed:
                self.streamed = False  # what a client has cannot be taken back
                return [update_agent_message_text(_BROKEN)]
            case Warned(message=message) if message not in self.warned:
                self.warned.add(message)
                return [update_agent_message_text(f"\n\nWarning: {printable(message)[:_LONGEST_WARNING]}\n\n")]
            case RunResumed():
                self._leave("failed")  # the process died, and the client has not heard of an end
            case RunFinished():
                return self._finished(event)
        return []

    def _finished(self, event: RunFinished) -> list[Any]:
        told = self._leave("pending" if event.status == "waiting" else "failed")
        if event.answer and not self.streamed:
            told.append(update_agent_message_text(event.answer))
        if event.error:
            told.append(update_agent_message_text(f"\n\n{event.error}"))
        if event.status in ("waiting", "interrupted") and event.code != STOPPED_BY_USER:
            told += self.ask()
        return told

    @property
    def question(self) -> ApprovalRequest | None:
        """The question that the next prompt answers."""
        return next(filter(is_for_prompt, self.requests.waiting), None)

    def call_of(self, request: ApprovalRequest) -> str | None:
        """The id of the call that a request is about, if the client was told of it."""
        key = request.task, request.tool or ""
        calls = [*self._open[key], *self._left[key]]
        alike = [call for call in calls if call.arguments == request.arguments] or calls[:1]
        number = request.id.partition("#")[2]
        return alike[min(int(number or 1), len(alike)) - 1].id if alike else None

    def ask(self, request: ApprovalRequest | None = None) -> list[Any]:
        """A question, which is the open one by default."""
        request = request or self.question
        if request is None:
            return []
        self.shown = request.id
        return [update_agent_message_text(f"\n\n{_question_text(request)}")]

    def _entries(self) -> Any:
        """The whole plan: a client replaces what it shows."""
        tasks = self._plan.tasks if self._plan is not None else ()
        return update_plan(
            plan_entry(task.title or task.instruction or task.id, status=self._standing.get(task.id, "pending"))
            for task in tasks
        )

    def _stands(self, task: str, standing: Literal["pending", "in_progress", "completed"]) -> list[Any]:
        if self._standing.get(task) == standing:
            return []
        self._standing[task] = standing
        return [self._entries()] if self._task(task) is not None else []

    def _task(self, name: str) -> Task | None:
        return self._plan.task(name) if self._plan is not None and name in self._plan else None

    def _tool_task(self, name: str) -> list[Any]:
        task = self._task(name) or self._task(root_of(name))
        if task is None or task.action_type != "tool" or not task.name:
            return []
        arguments = task.arguments if isinstance(task.arguments, dict) else {}
        return [self._started(name, task.name, arguments)]

    def _started(self, task: str | None, tool: str, arguments: Mapping[str, Any]) -> Any:
        before = next((call for call in self._left[task, tool] if call.arguments == arguments), None)
        if before is not None:
            self._left[task, tool].remove(before)
            self._open[task, tool].append(before)
            return update_tool_call(before.id, status="in_progress")
        self._count += 1
        name = f"{self.turn}-{self._count}"
        self._open[task, tool].append(_OpenCall(name, arguments))
        return start_tool_call(
            name,
            call_title(tool, arguments),
            kind=_KINDS.get(tool, "other"),  # type: ignore[arg-type]
            status="in_progress",
            content=self.change(tool, arguments),
            locations=self._locations(tool, arguments),
            raw_input=dict(arguments),
        )

    def _called(self, task: str | None, tool: str, envelope: Mapping[str, Any]) -> list[Any]:
        given = envelope.get("context", {}).get("params_input")
        known = [(calls, call) for calls in (self._open[task, tool], self._left[task, tool]) for call in calls]
        if not known:
            return []
        # Calls side by side end in any order, and an answer says what it was asked, unless a person changed that.
        calls, call = next((one for one in known if one[1].arguments == given), known[0])
        calls.remove(call)
        said = str(envelope.get("text") or "")
        status: Literal["completed", "failed"] = "failed" if envelope.get("status") == "error" else "completed"
        content = [tool_content(text_block(said[:_MOST_TEXT]))] if said and not self._is_edit(tool) else None
        return [update_tool_call(call.id, status=status, content=content)]

    def _ended(self, task: str, event: TaskFinished) -> list[Any]:
        """What a task leaves open when it ends: calls that were never made."""
        return self._leave("completed" if event.status == "done" else "failed", task)

    def _leave(self, status: Literal["pending", "completed", "failed"], task: str | None = None) -> list[Any]:
        """Tell how the open calls stand, of a task or of all; those not made may be made when the turn is continued."""
        told = []
        for (owner, tool), calls in self._open.items():
            if task in (None, owner):
                told += [update_tool_call(call.id, status=status) for call in calls]
                self._left[owner, tool] += calls if status != "completed" else []
                calls.clear()
        return told

    def _locations(self, tool: str, arguments: Mapping[str, Any]) -> list[ToolCallLocation] | None:
        path = self._path(tool, arguments)
        return [ToolCallLocation(path=path)] if path else None

    def change(self, tool: str, arguments: Mapping[str, Any]) -> list[Any] | None:
        """A write as a diff of texts, as far as the call itself has them."""
        path = self._path(tool, arguments)
        if not self._is_edit(tool) or not path:
            return None
        new = arguments.get("content", arguments.get("new"))
        old = arguments.get("old")
        if not isinstance(new, str):
            return None
        shown = old[:_MOST_TEXT] if isinstance(old, str) else None
        return [tool_diff_content(path, new[:_MOST_TEXT], shown)]

    def _path(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """The file that a call names; what is written without `workspace:` lies among the run's artifacts."""
        path = arguments.get("path")
        if not isinstance(path, str) or not path:
            return ""
        if not self._is_edit(tool):
            return str(self.workspace / path.removeprefix(PREFIX))
        try:
            return str(target_of(path, self.workspace, Artifacts.of(self.workspace, self.turn).folder).file)
        except ToolFault:  # it is refused
            return ""

    @staticmethod
    def _is_edit(tool: str) -> bool:
        return _KINDS.get(tool) == "edit"


def _question_text(request: ApprovalRequest) -> str:
    """A question, and for a form what its fields take."""
    asked = list(described(request.schema or {}))
    fields = "\n".join(f"- {line}" for line in asked)
    how = "Answer with a JSON object of these fields." if len(asked) > 1 else ""
    return "\n\n".join(filter(None, (request.preview, fields, how)))


def is_for_prompt(request: ApprovalRequest) -> bool:
    """Return whether the next prompt answers a request: a question, or a form."""
    return request.kind == "question" and request.page is None


def call_title(tool: str, arguments: Mapping[str, Any]) -> str:
    """A tool call in a line."""
    about = next((str(value) for value in arguments.values() if isinstance(value, str) and value), "")
    first = about.strip().splitlines()[0] if about.strip() else ""
    return f"{tool} {first[:100]}".strip()


def _arguments(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:  # a model's
        return {}
    return found if isinstance(found, dict) else {}
