"""Finds finished work by its content, so that nothing that was paid for is done twice.

A model call is found by the hash of its request within its task, a tool call by the hash of its arguments, a task by
its id and the hash of its inputs; never by position. Equal requests within a task are numbered.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from goalwright_executor.approvals.approvals import Approvals, Settle
from goalwright_executor.capture.capture import HASH, Capture
from goalwright_executor.capture.json_text import canonical, digest_of
from goalwright_executor.files.images import RunImages
from goalwright_executor.results.finished_work import FinishedWork, SentMessages
from goalwright_executor.results.task_results import MissingField, value_of
from goalwright_planner.events import PlanRefused, ToolCalled
from goalwright_planner.wrapped_model import WrappedModel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goalwright_executor.results.file_contents import FileContents
    from goalwright_planner.events import AnyEvent, CallStarted, Record
    from goalwright_planner.model import Reply, Request, ToolSpec
    from goalwright_planner.plan.references import Reference
    from goalwright_planner.plan.task import Task
    from goalwright_skills.tools.envelope import Context, Envelope
    from goalwright_skills.tools.tool import Tool


def request_form(request: Request, model: str, tools: Sequence[Any]) -> list[Any]:
    """Return everything that decides a call, as JSON values to hash; `tools` stand for the request's own.

    Recorded hashes have this form: changing it makes every finished call be made again.
    """
    messages = [
        [message.role, message.content, message.tool_call_id]
        + [[call.id, call.name, call.arguments] for call in message.tool_calls]
        + [{"image": image.sha256, "name": image.name} for image in message.images]
        for message in request.messages
    ]
    return [request.role, request.task, model, messages, list(tools), request.may_call_tools, request.schema]


# Finds the newest output of a task in another run, by the hash of what its model was asked.
FindResult = Callable[[str], Awaitable[str | None]]


async def at_once() -> None:
    """Wait for nothing, in a run without a journal."""


@dataclass(slots=True)
class Memo:
    """Looks up finished work before doing it again, and returns new work only once it is on disk.

    New tool calls need the run's `approvals`; `contents` records the files that they leave, `images` those that models
    are shown. `first_asked` maps each task to the hash of its model's first request, independent of run and task. With
    `keeps_replies`, new replies are found again too: a task may be dropped, and another one ask the same.
    """

    record: Record
    capture: Capture = field(default_factory=Capture)
    settle: Settle = at_once
    finished: FinishedWork = field(default_factory=FinishedWork)
    contents: FileContents | None = None
    images: RunImages = field(default=None)  # type: ignore[assignment]  # set in __post_init__
    approvals: Approvals = field(default=None)  # type: ignore[assignment]  # set in __post_init__
    called: list[Context] = field(default_factory=list)
    loaded: dict[str, list[str]] = field(default_factory=dict)  # the skills that each task's model has loaded
    first_asked: dict[str | None, str] = field(default_factory=dict)
    keeps_replies: bool = False
    sent: SentMessages = field(default_factory=SentMessages)
    _asked: Counter[str] = field(default_factory=Counter)
    _keys: dict[str, set[str]] = field(default_factory=dict)
    _tools: dict[tuple[str, str], tuple[Mapping[str, Any], str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.images:
            self.images = RunImages(self.record, self.capture)
        if not self.approvals:
            self.approvals = Approvals(self.record, self.settle, self.capture, known=self.finished.approvals)

    def recorded(self, event: AnyEvent) -> AnyEvent:
        """Record an event and return it as recorded: a resumed run repeats refusals in the recorded words."""
        if isinstance(event, PlanRefused):
            refused = self.finished.refusals.recorded(event, self.finished.replies)
            if refused is not None:
                return refused  # type: ignore[return-value]  # the same class
        self.record(event)
        return event

    def request_hash(self, request: Request, model: str) -> str:
        """Return the hash of a request within its task."""
        return self._hashes(request, model)[0]

    def hash_anywhere(self, request: Request, model: str) -> str:
        """Return the hash of a request, independent of the run and the task."""
        return self._hashes(replace(request, task=None), model)[0]

    def hash_and_note(self, request: Request, model: str) -> str:
        """Return the hash of a request within its task; notes the hash of the first one."""
        is_first = request.role == "task" and request.task not in self.first_asked
        key, anywhere = self._hashes(request, model, both=is_first)
        if is_first:
            self.first_asked[request.task] = anywhere
        return key

    def _hashes(self, request: Request, model: str, *, both: bool = False) -> tuple[str, str]:
        """Return the hash within its task and, if `both`, the one in any task, serializing only once."""
        form = self.capture.value(request_form(request, model, [self._tool_hash(tool) for tool in request.tools]))
        text = canonical(form)
        key = digest_of(text)[:HASH]
        if not both:
            return key, ""
        within, anywhere = canonical(form[:2])[:-1], canonical([form[0], None])[:-1]
        return key, digest_of(anywhere + text[len(within) :])[:HASH]

    def _tool_hash(self, tool: ToolSpec) -> str:
        """Return the hash of an offered tool, computed once because every call offers the same tools."""
        hashed = self._tools.get((tool.name, tool.description))
        if hashed is None or hashed[0] != tool.parameters:
            hashed = tool.parameters, self.capture.hash_of_tool(tool.name, tool.description, tool.parameters)
            self._tools[tool.name, tool.description] = hashed
        return hashed[1]

    def tool_key(self, name: str, task: str | None, arguments: Mapping[str, Any]) -> str:
        """Return the key of a tool call: the hash of its arguments within its task, and a number among equal calls."""
        return self.counted(self.capture.hash(["tool", task, name, arguments]), task)

    def counted(self, key: str, task: str | None = None) -> str:
        """Append the number among equal keys to a key."""
        self._asked[key] += 1
        if task is not None:
            self._keys.setdefault(task, set()).add(key)
        return f"{key}#{self._asked[key]}"

    def call_about(self, request: Request, model: str) -> tuple[str, CallStarted | None]:
        """Return the hash of a request's subject, and the recorded call about it, in any words."""
        if request.about is None:
            return "", None
        about = self.capture.hash([request.role, request.task, model, request.about])
        calls = self.finished.calls.get(about, ())
        number = self._asked[about]
        self._asked[about] += 1
        if request.task is not None:
            self._keys.setdefault(request.task, set()).add(about)
        return about, calls[number] if number < len(calls) else None

    def forget(self, task: str) -> None:
        """Count a task's calls from the first again, because its work left the plan and it runs once more."""
        for key in self._keys.pop(task, ()):
            del self._asked[key]
        self.first_asked.pop(task, None)
        for output in [output for output in self.finished.outputs if output[0] == task]:
            del self.finished.outputs[output]

    async def tool(self, tool: Tool, task: str, arguments: Mapping[str, Any]) -> Envelope:
        """Return the recorded result of a call, or else a new one, recorded before it is returned."""
        key = self.tool_key(tool.name, task, arguments)
        recorded = self.finished.envelopes.get(key)
        if recorded is not None:
            self._note_skill(tool, task, recorded)
            return recorded
        envelope = self.finished.lent.get(key) or await self.approvals.call(tool, task, arguments, key)
        envelope = await self.images.of_call(tool.name, task, envelope)
        self.record(ToolCalled(task, tool.name, envelope.to_dict(), key))
        self.finished.files.note(task, envelope.to_dict())
        if self.contents is not None and envelope.data.get("artifacts"):
            for kept in await asyncio.to_thread(self.contents.taken, task, envelope.to_dict(), self.images.kept):
                self.record(kept)
        await self.settle()
        if envelope.error is None:
            self.called.append(envelope.context)
        self._note_skill(tool, task, envelope)
        return envelope

    def note_images(self, request: Request, reply: Reply) -> None:
        """Note which images a model has seen, and which were only described to it."""
        if request.images:
            shown = {image.sha256 for image in request.images}
            (self.images.unseen if reply.unseen >= len(request.images) else self.images.seen).update(shown)

    def _note_skill(self, tool: Tool, task: str, envelope: Envelope) -> None:
        if tool.name == "Skill" and envelope.error is None:
            self.loaded.setdefault(task, []).append(str(envelope.data.get("name", "")))

    def successful_calls(self) -> list[Context]:
        """Return the contexts of successful tool calls in this run, recorded ones included."""
        return [
            *(envelope.context for envelope in self.finished.envelopes.values() if envelope.error is None),
            *self.called,
        ]

    def inputs(self, task: Task, results: Mapping[str, str]) -> str:
        """Return the hash of a task's inputs: its own fields, and the results that it builds on."""
        before = [*map(results.get, task.depends_on)]
        if task.refers:
            before += map(results.get, (*task.references, *task.reads))
            before += [_read(reference, results) for reference in task.other_references]
        return self.capture.hash_of_task(task, before)

    def output(self, task: Task, inputs: str) -> str | None:
        """Return the task's output, if it was finished with these inputs."""
        reused = self.finished.reused.get(task.id)
        return reused if reused is not None else self.finished.outputs.get((task.id, inputs))

    def grows_again(self, task: Task) -> bool:
        """Whether a finished task had items of its own, which the rest of the plan may need."""
        return task.for_each is not None and task.id not in self.finished.reused


def _read(reference: Reference, results: Mapping[str, str]) -> str:
    try:
        return str(value_of(reference, results))
    except MissingField as error:
        return str(error)


@dataclass(frozen=True, slots=True)
class MemoModel(WrappedModel):
    """A model that answers recorded requests from the record."""

    memo: Memo

    async def complete(self, request: Request) -> Reply:
        """Return the recorded reply, or else a new one, recorded before it is returned."""
        reply = await self._reply(self.memo.sent.as_sent(request))
        self.memo.note_images(request, reply)
        return reply

    async def _reply(self, request: Request) -> Reply:
        memo, replies = self.memo, self.memo.finished.replies
        key = memo.counted(memo.hash_and_note(request, self.name), request.task)
        about, call = memo.call_about(request, self.name)
        if (recorded := replies.get(key)) is not None:
            return recorded
        if call is not None and (recorded := replies.get(call.request)) is not None:
            memo.sent.note(request, call.messages)
            return recorded
        reply = await self.model.complete(replace(request, key=key, about=about))
        await self.memo.settle()
        if self.memo.keeps_replies:
            self.memo.finished.replies[key] = reply
        return reply
