"""What a server says or asks besides its answers: questions for a person, progress, lines of its log, roots."""

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
    from collections.abc import Awaitable, Callable, Iterator

    from goalwright_skills.mcp.connections.redaction import Redaction
    from goalwright_skills.tools.current_call import FormAnswer, Person

_MESSAGE_LIMIT = 4_000
_LINE_LIMIT = 300
_MOST_LINES = 1_000
_ADDRESS_LIMIT = 4_096
_FORM_LIMIT = 50_000


@dataclass(slots=True)
class CallUnderWay:
    """A call to a server, and whom it may ask; the time in which it waits for them does not count."""

    person: Person | None = None
    loop: asyncio.AbstractEventLoop | None = None
    waited: float = 0.0
    asking: int = 0
    fault: BaseException | None = None
    stopped: asyncio.Event = field(default_factory=asyncio.Event)
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    lines: int = 0

    def stop(self, fault: BaseException) -> None:
        """End the call, and say why."""
        self.fault = fault
        self.stopped.set()

    def begin_again(self) -> None:
        """Forget why the call ended: it is made again."""
        self.fault, self.stopped = None, asyncio.Event()

    async def ask(self, question: FormQuestion) -> FormAnswer | None:
        """The person's answer; None if there is nobody. If the run has to wait for one, the call ends here."""
        if self.person is None:
            return None
        return await self._in_run(lambda: self.person.fill_in(question))  # type: ignore[union-attr]

    def hear(self, server: str, text: str) -> None:
        """Hand on what a server says while it works."""
        self.lines += 1
        if self.person is not None and self.loop is not None and self.lines <= _MOST_LINES:
            line = printable(text).strip()[:_LINE_LIMIT]
            self.loop.call_soon_threadsafe(self.person.hear, server, line)

    async def _in_run(self, work: Callable[[], Awaitable[FormAnswer]]) -> FormAnswer:
        """Ask in the run's own loop; what it raises ends the call."""
        clock = asyncio.get_running_loop().time
        began, self.asking = clock(), self.asking + 1
        self.answered.clear()

        async def asked() -> FormAnswer:
            return await work()

        try:
            if self.loop is None or self.loop is asyncio.get_running_loop():
                return await asked()
            return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(asked(), self.loop))
        except BaseException as error:
            self.stop(error)
            raise
        finally:
            self.asking -= 1
            self.waited += clock() - began
            self.answered.set()


class AskedTogether(McpFault):
    """Several calls asked something at the same time, so that none can be told from the others."""

    code = "MCP_ASKED"


_CALL: ContextVar[CallUnderWay | None] = ContextVar("mcp_call", default=None)


@dataclass(slots=True)
class ClientCallbacks:
    """The callbacks of one connection; `redaction` takes secrets out of what the server says."""

    server: str
    roots: tuple[str, ...]
    redaction: Redaction
    calls: list[CallUnderWay] = field(default_factory=list)
    has_asked: bool = False
    tools_changed: bool = False
    _unclear: int = 0
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def notice(self, message: object) -> None:
        """Note that the server says that its tools have changed."""
        if type(message).__name__ == "ToolListChangedNotification":
            self.tools_changed = True

    @contextmanager
    def call(self, call: CallUnderWay) -> Iterator[None]:
        """Within the block, this call is under way."""
        token = _CALL.set(call)
        self.calls.append(call)
        try:
            yield
        finally:
            self.calls.remove(call)
            _CALL.reset(token)
            self._note_change()

    async def alone(self) -> None:
        """Wait until no call is under way."""
        while self.calls:
            await self._changed.wait()

    async def elicit(self, context: Any, params: Any) -> Any:
        """A server's question, as an answer of the protocol; declined where nobody can answer it."""
        from mcp_types import ElicitResult

        self.has_asked = True
        call = _CALL.get() or await self._asking_call()
        if call is not None and isinstance(call.fault, AskedTogether):
            return ElicitResult(action="cancel")
        question = self._question(params)
        if call is None or question is None:
            return ElicitResult(action="decline")
        try:
            answer = await call.ask(question)
        except asyncio.CancelledError:
            raise
        except BaseException:  # noqa: BLE001 - the run waits: the call is cancelled, so nothing is answered
            await asyncio.Event().wait()
            raise AssertionError from None
        if answer is None or answer.action == "decline":
            return ElicitResult(action="decline")
        return ElicitResult(action="accept", content=None if question.url else dict(answer.content))

    async def list_roots(self, context: Any) -> Any:
        """The folders that a server may look at: the workspace."""
        from mcp_types import ListRootsResult, Root

        return ListRootsResult(roots=[Root(uri=uri, name="workspace") for uri in self.roots])  # type: ignore[arg-type]

    async def log(self, params: Any) -> None:
        """A line of the server's log, for those who watch."""
        call = self._any_call()
        if call is not None:
            call.hear(self.server, self.redaction.text(f"{params.level}: {params.data}"))

    async def progress(self, done: float, total: float | None, message: str | None) -> None:
        """How far a call is, for those who watch it."""
        call = self._any_call()
        if call is not None:
            share = f"{done:g} of {total:g}" if total else f"{done:g}"
            call.hear(self.server, self.redaction.text(f"{share}{f': {message}' if message else ''}"))

    def _any_call(self) -> CallUnderWay | None:
        """The call that a message belongs to, or else the oldest."""
        return _CALL.get() or (self.calls[0] if self.calls else None)

    async def _asking_call(self) -> CallUnderWay | None:
        """The call that asks a question: before 2026 the protocol does not say which, so the others have to end first.

        If all that are left ask, they are ended, and made again one after another.
        """
        self._unclear += 1
        self._note_change()
        try:
            while len(self.calls) > 1:
                if self._unclear >= len(self.calls):
                    return await self._end_all()
                await self._changed.wait()
            return self.calls[0] if self.calls else None
        finally:
            self._unclear -= 1

    async def _end_all(self) -> CallUnderWay | None:
        ended = list(self.calls)
        for call in ended:
            call.stop(AskedTogether(f"the MCP server {self.server!r} asked during several calls at once"))
        while any(call in self.calls for call in ended):
            await self._changed.wait()
        return ended[0]

    def _note_change(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def _question(self, params: Any) -> FormQuestion | None:
        hide = self.redaction.text
        message = hide("".join(c if c == "\n" else printable(c) for c in params.message[:_MESSAGE_LIMIT]))
        if params.mode == "url":
            url = str(params.url)
            is_web = url.startswith(("https://", "http://")) and url.isprintable() and len(url) < _ADDRESS_LIMIT
            return FormQuestion(self.server, message, url=hide(url)) if is_web else None
        schema = params.requested_schema
        table = schema if isinstance(schema, dict) else schema.model_dump(mode="json", by_alias=True, exclude_none=True)
        form = self.redaction.value(table)
        return FormQuestion(self.server, message, form) if len(json.dumps(form)) <= _FORM_LIMIT else None
