"""The loop of one task with its model: calls tools until there is an answer, and continues truncated answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goalwright_executor.approvals.waiting import Turns
from goalwright_planner.errors import ContentRefused, ModelError
from goalwright_planner.events import ToolCalled, Warned
from goalwright_planner.json_answer import repair
from goalwright_planner.model import Message, Request, ToolSpec
from goalwright_skills.image_file import fitting
from goalwright_skills.text.formatting import counted, known_are
from goalwright_skills.text.untrusted import is_too_deep, join_surrogates
from goalwright_skills.tools.envelope import Context, Envelope, failure

if TYPE_CHECKING:
    from goalwright_executor.results.memo import Memo
    from goalwright_planner.model import Model, OnText, Reply, Role, ToolCall
    from goalwright_skills.image_file import Image
    from goalwright_skills.tools.tool import Tool

TOOL_CALLS = 30
_EMPTY_ANSWERS = 2

_ANSWER_NOW = "The limit of {limit} tool calls for this task is reached. Answer now with what you have."
_SHOWN = "{images} from the results above:"
_NOT_SHOWN = "Not shown, since there is no more room for images: {image}"
_SAY_SOMETHING = "Your answer was empty. Give the result of the task."


@dataclass(frozen=True, slots=True)
class Toolbox:
    """The tools of one task, and how many calls it may make."""

    memo: Memo
    tools: Sequence[Tool] = ()
    limit: int = TOOL_CALLS
    cwd: str = ""

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools as they are offered to the model."""
        return tuple(ToolSpec(tool.name, tool.description, tool.parameters) for tool in self.tools)

    async def call(self, call: ToolCall, task: str, *, whole: bool = True) -> Envelope:
        """Call a tool or return the recorded result; a mistake of the model becomes an error envelope.

        If the reply was truncated, the call may not be `whole`: broken arguments are then not repaired.
        """
        tool = next((tool for tool in self.tools if tool.name == call.name), None)
        if tool is None:
            message = f"there is no tool {call.name!r}; {known_are(call.name, [tool.name for tool in self.tools])}"
            return self.refuse(call, task, failure("NOT_FOUND", message, Context(self.cwd)))
        arguments = _arguments(call.arguments, repairing=whole)
        if arguments is None and not whole:
            message = "your answer was cut off in the middle of this call, at your token limit — call again with less"
            return self.refuse(call, task, failure("INVALID_PARAM", message, Context(self.cwd)))
        if arguments is None:
            message = f"the arguments are not a JSON object: {call.arguments[:200]} — call again with a JSON object"
            return self.refuse(call, task, failure("INVALID_PARAM", message, Context(self.cwd)))
        return await self.memo.tool(tool, task, arguments)

    def refuse(self, call: ToolCall, task: str, envelope: Envelope) -> Envelope:
        """Record a call that reached no tool."""
        self.memo.record(ToolCalled(task, call.name, envelope.to_dict()))
        return envelope


@dataclass(slots=True)
class ModelLoop:
    """The messages between one task and its model so far; `answer` runs the loop to its end.

    The provider is asked to enforce the `schema`, if any. `about` is what the prompt was made from, `fixed` the number
    of first messages that are the same for other goals. `called` counts the tools called so far, and `cut` says whether
    the last answer stayed truncated.
    """

    model: Model
    toolbox: Toolbox
    task: str | None
    messages: tuple[Message, ...]
    continuations: int = 3
    on_text: OnText | None = None
    role: Role = "task"
    schema: Mapping[str, Any] | None = None
    about: Any = None
    fixed: int = 0
    called: int = 0
    cut: bool = False
    _parts: list[str] = field(default_factory=list)

    async def answer(self) -> str:
        """Return the model's answer, after any tool calls within the limit."""
        empty = cut = 0
        while True:
            reply = await self.model.complete(self.request())
            if reply.finish == "content_filter":
                raise ContentRefused(
                    f"the content filter of {reply.model} stopped the answer", hint="rephrase the task"
                )
            if reply.tool_calls and not self._at_limit:
                await self._use_tools(reply)
            elif reply.cut_off and reply.text.strip() and cut < self.continuations:
                cut += 1
                self._parts.append(reply.text)
                self._add(Message("assistant", reply.text), Message("user", GO_ON))
            elif reply.text.strip() or self._parts:
                return self._whole(reply)
            elif empty < _EMPTY_ANSWERS:
                empty += 1
                self._add(Message("user", _SAY_SOMETHING))
            else:
                raise ModelError(f"{reply.model or self.model.name} gave no answer ({_why(reply)})")

    async def answer_again(self, answer: str, why: str) -> str:
        """Return the model's next answer, after telling it what is wrong with its last one."""
        self._parts.clear()
        self._add(Message("assistant", answer), Message("user", why))
        return await self.answer()

    def _whole(self, last: Reply) -> str:
        text = "".join([*self._parts, last.text]).strip()
        self.cut = last.cut_off
        if not last.cut_off:
            return text
        name = last.model or self.model.name
        subject = f"the answer of task {self.task}" if self.task is not None else "the answer"
        return marked(text, subject, name, self.toolbox.memo)

    @property
    def _at_limit(self) -> bool:
        return self.called >= self.toolbox.limit

    def request(self) -> Request:
        """Return the next request to the model."""
        return Request(
            self.messages,
            tools=self.toolbox.specs,
            may_call_tools=not self._at_limit,
            schema=self.schema,
            role=self.role,
            task=self.task,
            on_text=self.on_text,
            about=self.about,
            fixed=self.fixed,
        )

    async def _use_tools(self, reply: Reply) -> None:
        left = max(self.toolbox.limit - self.called, 0)
        turns = Turns(len(reply.tool_calls))
        calls = (self._call(number, reply, turns) for number in range(min(left, len(reply.tool_calls))))
        ended = await asyncio.gather(*calls, return_exceptions=True)  # a waiting call must not abandon the others
        envelopes = [_raised(result) for result in ended]
        refusal = failure("CONFLICT", _ANSWER_NOW.format(limit=self.toolbox.limit), Context(self.toolbox.cwd))
        refused = [self.toolbox.refuse(call, self.task or "", refusal) for call in reply.tool_calls[left:]]
        self._add(Message("assistant", reply.text, tool_calls=reply.tool_calls))
        for call, envelope in zip(reply.tool_calls, [*envelopes, *refused], strict=True):
            self._add(Message("tool", envelope.to_json(), tool_call_id=call.id))
        self._show([image for envelope in envelopes for image in envelope.images])
        self.called += len(reply.tool_calls)
        if self._at_limit:
            self._add(Message("user", _ANSWER_NOW.format(limit=self.toolbox.limit)))

    def _show(self, images: Sequence[Image]) -> None:
        """Show images from tool results in a message of the user, because tool messages cannot contain images."""
        if not images:
            return
        shown, left = fitting(images, (image for message in self.messages for image in message.images))
        lines = [_SHOWN.format(images=counted(len(shown), "image"))] if shown else []
        lines += [_NOT_SHOWN.format(image=image) for image in left]
        if lines:
            self._add(Message("user", "\n".join(lines), images=tuple(shown)))

    async def _call(self, number: int, reply: Reply, turns: Turns) -> Envelope:
        with turns.of(number):
            return await self.toolbox.call(reply.tool_calls[number], self.task or "", whole=not reply.cut_off)

    def _add(self, *messages: Message) -> None:
        self.messages += messages


def _raised(ended: Envelope | BaseException) -> Envelope:
    if isinstance(ended, BaseException):
        raise ended
    return ended


def _arguments(text: str, *, repairing: bool) -> Mapping[str, Any] | None:
    for attempt in (text or "{}", repair(text.strip()) if repairing else None):
        if attempt is None:
            continue
        try:
            value = join_surrogates(json.loads(attempt, strict=False), keep_numbers=True)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, Mapping) and not is_too_deep(value):
            return value
    return None


def _why(reply: Reply) -> str:
    if reply.tool_calls:
        return "it asked for more tools after the limit was reached"
    return f"finish reason: {reply.finish}"


GO_ON = "Your answer was cut off. Go on exactly where it stopped, without repeating anything."
# The note is in the text itself, so that it shows on a terminal, in JSON, in results files and in later tasks.
NOTE = "[Cut off here: the model reached its token limit.]"


def marked(text: str, subject: str, model: str, memo: Memo) -> str:
    """Append a note to a truncated text, and record a warning."""
    memo.record(Warned(f"{subject} was cut off: {model} reached its token limit"))
    return f"{_closed(text)}\n\n{NOTE}"


def _closed(text: str) -> str:
    """Close the last code block, so that the note is not part of the code."""
    fences = [line.lstrip() for line in text.splitlines() if line.lstrip().startswith("```")]
    return f"{text}\n```" if len(fences) % 2 else text
