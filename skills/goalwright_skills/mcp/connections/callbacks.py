"""Requests and notifications from a server: questions for a person, progress, log lines, roots."""

from __future__ import annotations

import asyncio
import json
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goalwright_skills.mcp.entry import McpFault
from goalwright_skills.text.untrusted import printable
from goalwright_skills.tools.current_call import FormQuestion

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goalwright_skills.mcp.connections.redaction import Redaction
    from goalwright_skills.tools.current_call import FormAnswer, Person

_MESSAGE_LIMIT = 4_000
_LINE_LIMIT = 300
_MAX_LINES = 1_000
_ADDRESS_LIMIT = 4_096
_FORM_LIMIT = 50_000


@dataclass(slots=True)
class PendingCall:
    """A call to a server and the person it may ask; the time until they answer does not count."""

    person: Person | None = None
    loop: asyncio.AbstractEventLoop | None = None
    waited: float = 0.0
    asking: int = 0
    fault: BaseException | None = None
    stopped: asyncio.Event = field(default_factory=asyncio.Event)
    lines: int = 0

    def stop(self, fault: BaseException) -> None:
        """End the call with an error."""
        self.fault = fault
        self.stopped.set()

    def reset(self) -> None:
        """Clear the error, before the call is made again."""
        self.fault, self.stopped = None, asyncio.Event()

    async def ask(self, question: FormQuestion) -> FormAnswer | None:
        """Ask in the run's own loop; None if there is no person. An exception ends the call."""
        person = self.person
        if person is None:
            return None
        clock = asyncio.get_running_loop().time
        start, self.asking = clock(), self.asking + 1
        try:
            if self.loop is None or self.loop is asyncio.get_running_loop():
                return await person.fill_in(question)
            return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(person.fill_in(question), self.loop))
        except BaseException as error:
            self.stop(error)
            raise
        finally:
            self.asking -= 1
            self.waited += clock() - start

    def hear(self, server: str, text: str) -> None:
        """Pass on a progress or log line."""
        self.lines += 1
        if self.person is not None and self.loop is not None and self.lines <= _MAX_LINES:
            line = printable(text).strip()[:_LINE_LIMIT]
            self.loop.call_soon_threadsafe(self.person.hear, server, line)


class AmbiguousQuestion(McpFault):
    """Several concurrent calls asked questions, so that a question cannot be assigned to its call."""

    code = "MCP_ASKED"


_CALL: ContextVar[PendingCall | None] = ContextVar("mcp_call", default=None)


@dataclass(slots=True)
class ClientCallbacks:
    """The callbacks of one connection."""

    server: str
    roots: tuple[str, ...]
    redaction: Redaction
    calls: list[PendingCall] = field(default_factory=list)
    has_asked: bool = False
    tools_changed: bool = False
    _unassigned: int = 0
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def notice(self, message: object) -> None:
        """Record a notification that the server's tools have changed."""
        if type(message).__name__ == "ToolListChangedNotification":
            self.tools_changed = True

    @contextmanager
    def call(self, call: PendingCall) -> Iterator[None]:
        """Register a call for the duration of the block."""
        token = _CALL.set(call)
        self.calls.append(call)
        try:
            yield
        finally:
            self.calls.remove(call)
            _CALL.reset(token)
            self._note_change()

    async def wait_until_idle(self) -> None:
        """Wait until no call is pending."""
        while self.calls:
            await self._changed.wait()

    async def elicit(self, context: Any, params: Any) -> Any:
        """Answer a server's question with the person's answer; declines if there is no person."""
        from mcp_types import ElicitResult

        self.has_asked = True
        call = _CALL.get() or await self._asking_call()
        if call is not None and isinstance(call.fault, AmbiguousQuestion):
            return ElicitResult(action="cancel")
        question = self._question(params)
        if call is None or question is None:
            return ElicitResult(action="decline")
        try:
            answer = await call.ask(question)
        except asyncio.CancelledError:
            raise
        except BaseException:  # noqa: BLE001 - the run waits for a person, and the call is cancelled without an answer
            await asyncio.Event().wait()
            raise AssertionError from None
        if answer is None or answer.action == "decline":
            return ElicitResult(action="decline")
        return ElicitResult(action="accept", content=None if question.url else dict(answer.content))

    async def list_roots(self, context: Any) -> Any:
        """Return the folders that a server may read: the workspace."""
        from mcp_types import ListRootsResult, Root

        return ListRootsResult(roots=[Root(uri=uri, name="workspace") for uri in self.roots])  # type: ignore[arg-type]

    async def log(self, params: Any) -> None:
        """Pass on a line of the server's log."""
        call = self._any_call()
        if call is not None:
            call.hear(self.server, self.redaction.text(f"{params.level}: {params.data}"))

    async def progress(self, done: float, total: float | None, message: str | None) -> None:
        """Pass on the progress of a call."""
        call = self._any_call()
        if call is not None:
            amount = f"{done:g} of {total:g}" if total else f"{done:g}"
            call.hear(self.server, self.redaction.text(f"{amount}{f': {message}' if message else ''}"))

    def _any_call(self) -> PendingCall | None:
        """Return the call that a message belongs to, or else the oldest call."""
        return _CALL.get() or (self.calls[0] if self.calls else None)

    async def _asking_call(self) -> PendingCall | None:
        """Return the call that asks; protocols before 2026 do not name it, so the other calls must end first.

        If all remaining calls ask, they are ended and made again one after another.
        """
        self._unassigned += 1
        self._note_change()
        try:
            while len(self.calls) > 1:
                if self._unassigned >= len(self.calls):
                    return await self._end_all()
                await self._changed.wait()
            return self.calls[0] if self.calls else None
        finally:
            self._unassigned -= 1

    async def _end_all(self) -> PendingCall | None:
        ended = list(self.calls)
        for call in ended:
            call.stop(AmbiguousQuestion(f"the MCP server {self.server!r} asked during several calls at once"))
        while any(call in self.calls for call in ended):
            await self._changed.wait()
        return ended[0]

    def _note_change(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def _question(self, params: Any) -> FormQuestion | None:
        redact = self.redaction.text
        message = redact("".join(c if c == "\n" else printable(c) for c in params.message[:_MESSAGE_LIMIT]))
        if params.mode == "url":
            url = str(params.url)
            is_web = url.startswith(("https://", "http://")) and url.isprintable() and len(url) < _ADDRESS_LIMIT
            return FormQuestion(self.server, message, url=redact(url)) if is_web else None
        schema = params.requested_schema
        table = schema if isinstance(schema, dict) else schema.model_dump(mode="json", by_alias=True, exclude_none=True)
        form = self.redaction.value(table)
        return FormQuestion(self.server, message, form) if len(json.dumps(form)) <= _FORM_LIMIT else None
