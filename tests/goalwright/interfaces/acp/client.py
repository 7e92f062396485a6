"""A client of the protocol: the package's connection to an agent in this process or another."""

from __future__ import annotations

import asyncio
import os
import socket
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from acp import PROTOCOL_VERSION, connect_to_agent, run_agent
from acp.helpers import text_block
from acp.schema import (
    AgentMessageChunk,
    AgentPlanUpdate,
    AllowedOutcome,
    DeniedOutcome,
    RequestPermissionResponse,
    ToolCallProgress,
    ToolCallStart,
    UserMessageChunk,
)

from goalwright.interfaces.acp.agent import GoalwrightAgent
from goalwright.interfaces.acp.serve import LineTransport
from goalwright.settings.paths import Paths
from goalwright.settings.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping
    from pathlib import Path

    from tests.fakes import ScriptedModel
    from tests.nursery import Nursery, Process

LIMIT = 1_000_000  # of a message, to the agent of this process


@dataclass
class Editor:
    """Records updates, and answers permissions with the id of an option, or None to cancel."""

    answer: Callable[[Any], str | None] = lambda _: "allow"
    updates: list[Any] = field(default_factory=list)
    asked: list[Any] = field(default_factory=list)
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def on_connect(self, conn: Any) -> None:
        """Do nothing."""

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        """Record an update."""
        self.updates.append((session_id, update))
        self.news.set()

    async def request_permission(self, session_id: str, tool_call: Any, options: Any, **_: Any) -> Any:
        """Answer a permission request."""
        self.asked.append((tool_call, [option.option_id for option in options]))
        self.news.set()
        chosen = self.answer(tool_call)
        if chosen == "never":
            await asyncio.Event().wait()
        outcome = AllowedOutcome(outcome="selected", option_id=chosen) if chosen else DeniedOutcome(outcome="cancelled")
        return RequestPermissionResponse(outcome=outcome)

    def said(self, kind: type[AgentMessageChunk | UserMessageChunk] = AgentMessageChunk) -> str:
        """Return the text of the agent's or the user's messages."""
        return "".join(str(update.content.text) for _, update in self.updates if isinstance(update, kind))

    @property
    def user(self) -> str:
        """Return the user's messages, as sent by the agent."""
        return self.said(UserMessageChunk)

    @property
    def messages(self) -> list[tuple[str, str]]:
        """Return the messages in order with their authors, stripped."""
        chunks = [update for _, update in self.updates if isinstance(update, AgentMessageChunk | UserMessageChunk)]
        who = ("user" if isinstance(update, UserMessageChunk) else "agent" for update in chunks)
        return [(name, str(update.content.text).strip()) for name, update in zip(who, chunks, strict=True)]

    @property
    def plans(self) -> list[list[tuple[str, str]]]:
        """Return the plans that were sent."""
        plans = [update for _, update in self.updates if isinstance(update, AgentPlanUpdate)]
        return [[(entry.content, entry.status) for entry in plan.entries] for plan in plans]

    @property
    def tool_calls(self) -> dict[str, tuple[str, str]]:
        """Return the tool calls by id, with title and status."""
        calls: dict[str, tuple[str, str]] = {}
        for _, update in self.updates:
            if isinstance(update, ToolCallStart):
                calls[update.tool_call_id] = update.title, str(update.status)
            elif isinstance(update, ToolCallProgress):
                calls[update.tool_call_id] = calls[update.tool_call_id][0], str(update.status)
        return calls

    async def until(self, holds: Callable[[], Any]) -> None:
        """Wait until a condition holds."""
        async with asyncio.timeout(120):
            while not holds():
                self.news.clear()
                await asyncio.wait([asyncio.ensure_future(self.news.wait())], timeout=0.2)


@asynccontextmanager
async def agent_streams(model: ScriptedModel) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Start an agent in this process; yields the client's end of its socket."""
    served = GoalwrightAgent(_configured, lambda _: model)
    ours, theirs = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=ours)
    serving = asyncio.ensure_future(_serve(served, theirs))
    try:
        yield reader, writer
    finally:
        await _closed(writer)
        await served.close()
        serving.cancel()
        await asyncio.wait([serving])


@asynccontextmanager
async def agent(editor: Editor, model: ScriptedModel) -> AsyncIterator[Any]:
    """Connect an editor to an agent in this process."""
    async with agent_streams(model) as (reader, writer):
        connection = connect_to_agent(editor, writer, reader)  # type: ignore[arg-type]
        try:
            await connection.initialize(protocol_version=PROTOCOL_VERSION)
            yield connection
        finally:
            await connection.close()


async def _serve(served: GoalwrightAgent, at: socket.socket) -> None:
    reader, writer = await asyncio.open_connection(sock=at, limit=LIMIT)
    try:
        await run_agent(served, LineTransport(reader, writer))  # type: ignore[arg-type]
    finally:
        await _closed(writer)


async def _closed(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()


def _configured(folder: Path) -> tuple[Paths, Settings]:
    return Paths.of(folder, os.environ), Settings(model="scripted", allow_unknown_cost=True)


@dataclass(frozen=True)
class AgentProcess:
    """A `goalwright acp` process and its pipes."""

    process: Process
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def connect(self, editor: Editor) -> Any:
        """Connect the package's client to the pipes."""
        connection = connect_to_agent(editor, self.writer, self.reader)  # type: ignore[arg-type]
        await connection.initialize(protocol_version=PROTOCOL_VERSION)
        return connection

    async def kill(self, turn: asyncio.Future[Any]) -> None:
        """Kill it with -9 during a turn, which fails at the client."""
        self.process.kill()
        assert await asyncio.to_thread(self.process.wait, 120) == -9
        heard: tuple[Any, ...] = await asyncio.gather(turn, return_exceptions=True)
        assert isinstance(heard[0], ConnectionError)


@asynccontextmanager
async def agent_process(nursery: Nursery, env: Mapping[str, str]) -> AsyncIterator[AgentProcess]:
    """Run `goalwright acp` until the editor closes its pipes."""
    their_input, our_output = os.pipe()
    our_input, their_output = os.pipe()
    process = nursery.start(
        ["-m", "goalwright", "acp"], env={**os.environ, **env}, stdin=their_input, stdout=their_output
    )
    os.close(their_input)
    os.close(their_output)
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    source, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(our_input, "rb", 0)
    )
    transport, protocol = await loop.connect_write_pipe(
        asyncio.streams.FlowControlMixin, os.fdopen(our_output, "wb", 0)
    )
    writer = asyncio.StreamWriter(transport, protocol, reader, loop)
    try:
        yield AgentProcess(process, reader, writer)
    finally:
        writer.close()
        with process:
            await asyncio.to_thread(process.wait, 120)
        source.close()


async def say(connection: Any, session: str, text: str) -> str:
    """Send a prompt, and return the stop reason."""
    reply = await connection.prompt(session_id=session, prompt=[text_block(text)])
    return str(reply.stop_reason)
