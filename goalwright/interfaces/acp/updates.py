"""Converts events of a run to session updates: the plan, tool calls with diffs, warnings, and the answer."""

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

_MAX_TEXT = 20_000
_MAX_WARNING = 2_000
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
    "cancelled": "pending",  # a continued turn may still run it
    "pending": "pending",
}

# The roles whose streamed text is the answer.
_ANSWER_ROLES = ("synthesis", "decomposer")
_CUT_OFF = "\n\n*The answer was cut off here.*\n\n"


class _OpenCall(NamedTuple):
    """A call that was announced to the client, and has not ended."""

    id: str
    arguments: Mapping[str, Any]


_Calls = defaultdict[tuple[str | None, str], list[_OpenCall]]


@dataclass(slots=True)
class Updates:
    """Converts the events of one turn to updates.

    `streamed` is whether text of the answer was sent, `warned` has the warnings that were sent, `requests` records the
    requests with their answers, and `shown` is the id of the last question that was sent.
    """

    workspace: Path
    turn: str = ""
    warned: set[str] = field(default_factory=set)
    streamed: bool = False
    shown: str = ""
    requests: ApprovalRecord = field(default_factory=ApprovalRecord)
    _plan: Plan | None = None
    _statuses: dict[str, Literal["pending", "in_progress", "completed"]] = field(default_factory=dict)
    _open: _Calls = field(default_factory=lambda: defaultdict(list))
    _unfinished: _Calls = field(
        default_factory=lambda: defaultdict(list)
    )  # calls left open, which a continued turn may make
    _count: int = 0

    def of(self, event: Event) -> list[Any]:
        """Return the updates of an event; none for most."""
        self.requests.note(event)
        match event:
            case PlanMade(plan=plan) if plan.tasks:
                self._plan = plan
                return [self._plan_update()]
            case PlanChanged() if self._plan is not None:
                self._plan = event.applied(self._plan)
                return [self._plan_update()]
            case TaskStarted(task=task):
                return [*self._set_status(task, "in_progress"), *self._start_tool_task(task)]
            case TaskFinished(task=task, status=status):
                return [*self._task_ended(task, event), *self._set_status(task, _STATUS.get(status, "completed"))]
            case TaskReused(task=task):
                return self._set_status(task, "completed")
            case CallFinished(task=task, reply=reply):
                return [self._start_call(task, call.name, _arguments(call.arguments)) for call in reply.tool_calls]
            case ToolCalled(task=task, name=name, envelope=envelope):
                return self._finish_call(task, name, envelope)
            case TextStreamed(role=role, text=text) if role in _ANSWER_ROLES and text:
                self.streamed = True
                return [update_agent_message_text(text)]
            case CallRetried(role=role) | CallFailed(role=role) if role in _ANSWER_ROLES and self.streamed:
                self.streamed = False  # the client cannot remove text
                return [update_agent_message_text(_CUT_OFF)]
            case Warned(message=message) if message not in self.warned:
                self.warned.add(message)
                return [update_agent_message_text(f"\n\nWarning: {printable(message)[:_MAX_WARNING]}\n\n")]
            case RunResumed():
                self._close_calls("failed")  # the process died, and the client does not know that the calls ended
            case RunFinished():
                return self._finished(event)
        return []

    def _finished(self, event: RunFinished) -> list[Any]:
        updates = self._close_calls("pending" if event.status == "waiting" else "failed")
        if event.answer and not self.streamed:
            updates.append(update_agent_message_text(event.answer))
        if event.error:
            updates.append(update_agent_message_text(f"\n\n{event.error}"))
        if event.status in ("waiting", "interrupted") and event.code != STOPPED_BY_USER:
            updates += self.ask()
        return updates

    @property
    def question(self) -> ApprovalRequest | None:
        """The question that the next prompt answers."""
        return next(filter(is_for_prompt, self.requests.waiting), None)

    def call_of(self, request: ApprovalRequest) -> str | None:
        """Return the id of the call that a request is about, if it was sent to the client."""
        key = request.task, request.tool or ""
        calls = [*self._open[key], *self._unfinished[key]]
        matching = [call for call in calls if call.arguments == request.arguments] or calls[:1]
        number = request.id.partition("#")[2]
        return matching[min(int(number or 1), len(matching)) - 1].id if matching else None

    def ask(self, request: ApprovalRequest | None = None) -> list[Any]:
        """Return the update of a question, by default of the open one."""
        request = request or self.question
        if request is None:
            return []
        self.shown = request.id
        return [update_agent_message_text(f"\n\n{_question_text(request)}")]

    def _plan_update(self) -> Any:
        """Return the complete plan, because a client replaces its list."""
        tasks = self._plan.tasks if self._plan is not None else ()
        return update_plan(
            plan_entry(task.title or task.instruction or task.id, status=self._statuses.get(task.id, "pending"))
            for task in tasks
        )

    def _set_status(self, task: str, status: Literal["pending", "in_progress", "completed"]) -> list[Any]:
        if self._statuses.get(task) == status:
            return []
        self._statuses[task] = status
        return [self._plan_update()] if self._task(task) is not None else []

    def _task(self, name: str) -> Task | None:
        return self._plan.task(name) if self._plan is not None and name in self._plan else None

    def _start_tool_task(self, name: str) -> list[Any]:
        task = self._task(name) or self._task(root_of(name))
        if task is None or task.action_type != "tool" or not task.name:
            return []
        arguments = task.arguments if isinstance(task.arguments, dict) else {}
        return [self._start_call(name, task.name, arguments)]

    def _start_call(self, task: str | None, tool: str, arguments: Mapping[str, Any]) -> Any:
        call = next((call for call in self._unfinished[task, tool] if call.arguments == arguments), None)
        if call is not None:
            self._unfinished[task, tool].remove(call)
            self._open[task, tool].append(call)
            return update_tool_call(call.id, status="in_progress")
        self._count += 1
        call_id = f"{self.turn}-{self._count}"
        self._open[task, tool].append(_OpenCall(call_id, arguments))
        return start_tool_call(
            call_id,
            call_title(tool, arguments),
            kind=_KINDS.get(tool, "other"),  # type: ignore[arg-type]
            status="in_progress",
            content=self.change(tool, arguments),
            locations=self._locations(tool, arguments),
            raw_input=dict(arguments),
        )

    def _finish_call(self, task: str | None, tool: str, envelope: Mapping[str, Any]) -> list[Any]:
        arguments = envelope.get("context", {}).get("params_input")
        candidates = [
            (calls, call) for calls in (self._open[task, tool], self._unfinished[task, tool]) for call in calls
        ]
        if not candidates:
            return []
        # Parallel calls end in any order; they are matched by arguments, unless a person edited these.
        calls, call = next((pair for pair in candidates if pair[1].arguments == arguments), candidates[0])
        calls.remove(call)
        text = str(envelope.get("text") or "")
        status: Literal["completed", "failed"] = "failed" if envelope.get("status") == "error" else "completed"
        content = [tool_content(text_block(text[:_MAX_TEXT]))] if text and not self._is_edit(tool) else None
        return [update_tool_call(call.id, status=status, content=content)]

    def _task_ended(self, task: str, event: TaskFinished) -> list[Any]:
        """Close the calls that a task announced and never made."""
        return self._close_calls("completed" if event.status == "done" else "failed", task)

    def _close_calls(self, status: Literal["pending", "completed", "failed"], task: str | None = None) -> list[Any]:
        """Close the open calls of a task, or of all; a continued turn may still make them."""
        updates = []
        for (owner, tool), calls in self._open.items():
            if task in (None, owner):
                updates += [update_tool_call(call.id, status=status) for call in calls]
                self._unfinished[owner, tool] += calls if status != "completed" else []
                calls.clear()
        return updates

    def _locations(self, tool: str, arguments: Mapping[str, Any]) -> list[ToolCallLocation] | None:
        path = self._path(tool, arguments)
        return [ToolCallLocation(path=path)] if path else None

    def change(self, tool: str, arguments: Mapping[str, Any]) -> list[Any] | None:
        """Return the diff of a write, as far as the arguments contain it."""
        path = self._path(tool, arguments)
        if not self._is_edit(tool) or not path:
            return None
        new = arguments.get("content", arguments.get("new"))
        old = arguments.get("old")
        if not isinstance(new, str):
            return None
        old_text = old[:_MAX_TEXT] if isinstance(old, str) else None
        return [tool_diff_content(path, new[:_MAX_TEXT], old_text)]

    def _path(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """Return the path of a call; a write without `workspace:` goes to the artifacts of the run."""
        path = arguments.get("path")
        if not isinstance(path, str) or not path:
            return ""
        if not self._is_edit(tool):
            return str(self.workspace / path.removeprefix(PREFIX))
        try:
            return str(target_of(path, self.workspace, Artifacts.of(self.workspace, self.turn).folder).file)
        except ToolFault:  # the tool will refuse it
            return ""

    @staticmethod
    def _is_edit(tool: str) -> bool:
        return _KINDS.get(tool) == "edit"


def _question_text(request: ApprovalRequest) -> str:
    """Return the text of a question, with the fields of its form."""
    lines = list(described(request.schema or {}))
    fields = "\n".join(f"- {line}" for line in lines)
    instruction = "Answer with a JSON object of these fields." if len(lines) > 1 else ""
    return "\n\n".join(filter(None, (request.preview, fields, instruction)))


def is_for_prompt(request: ApprovalRequest) -> bool:
    """Return whether the next prompt answers a request: a question, or a form."""
    return request.kind == "question" and request.page is None


def call_title(tool: str, arguments: Mapping[str, Any]) -> str:
    """Return a tool call as one line."""
    argument = next((str(value) for value in arguments.values() if isinstance(value, str) and value), "")
    first_line = argument.strip().splitlines()[0] if argument.strip() else ""
    return f"{tool} {first_line[:100]}".strip()


def _arguments(text: str) -> dict[str, Any]:
    try:
        arguments = json.loads(text)
    except ValueError:  # invalid JSON of a model
        return {}
    return arguments if isinstance(arguments, dict) else {}
