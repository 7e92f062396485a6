"""A client of the protocol: the package's own connection to an agent of this process, or of another."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from acp import PROTOCOL_VERSION, connect_to_agent, run_agent, spawn_agent_process
from acp.helpers import text_block
from acp.schema import (
    AgentMessageChunk,
    AgentPlanUpdate,
    AllowedOutcome,
    DeniedOutcome,
    RequestPermissionResponse,
    UserMessageChunk,
)

from weft.acp.agent import WeftAgent
from weft.settings.paths import Paths
from weft.settings.settings import Settings

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import AsyncIterator, Callable, Mapping
    from pathlib import Path

    from tests.fakes import ScriptedModel


@dataclass
class Editor:
    """What an editor hears, and how it answers permissions: by the id of an option, or None to cancel."""

    answer: Callable[[Any], str | None] = lambda _: "allow"
    updates: list[Any] = field(default_factory=list)
    asked: list[Any] = field(default_factory=list)
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def on_connect(self, conn: Any) -> None:
        """Nothing to do."""

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        """Keep an update."""
        self.updates.append((session_id, update))
        self.news.set()

    async def request_permission(self, session_id: str, tool_call: Any, options: Any, **_: Any) -> Any:
        """Answer a permission."""
        self.asked.append((tool_call, [option.option_id for option in options]))
        self.news.set()
        chosen = self.answer(tool_call)
        if chosen == "never":
            await asyncio.Event().wait()
        outcome = AllowedOutcome(outcome="selected", option_id=chosen) if chosen else DeniedOutcome(outcome="cancelled")
        return RequestPermissionResponse(outcome=outcome)

    def said(self, kind: type[AgentMessageChunk | UserMessageChunk] = AgentMessageChunk) -> str:
        """The text of the agent's messages, or of the user's."""
        return "".join(str(update.content.text) for _, update in self.updates if isinstance(update, kind))

    @property
    def user(self) -> str:
        """What the user said, as the agent sent it."""
        return self.said(UserMessageChunk)

    @property
    def plans(self) -> list[list[tuple[str, str]]]:
        """Every plan that was sent."""
        plans = [update for _, update in self.updates if isinstance(update, AgentPlanUpdate)]
        return [[(entry.content, entry.status) for entry in plan.entries] for plan in plans]

    async def until(self, holds: Callable[[], Any]) -> None:
        """Wait until something is so, however slow the machine."""
        async with asyncio.timeout(120):
            while not holds():
                self.news.clear()
                await asyncio.wait([asyncio.ensure_future(self.news.wait())], timeout=0.2)


@asynccontextmanager
async def agent(editor: Editor, model: ScriptedModel) -> AsyncIterator[Any]:
    """An editor that is connected to an agent of this process over a socket."""
    served = WeftAgent(_configured, lambda _: model)
    ours, theirs = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=ours)
    serving = asyncio.ensure_future(_serve(served, theirs))
    connection = connect_to_agent(editor, writer, reader)  # type: ignore[arg-type]
    try:
        await connection.initialize(protocol_version=PROTOCOL_VERSION)
        yield connection
    finally:
        await connection.close()
        await _closed(writer)
        await served.close()
        serving.cancel()
        await asyncio.wait([serving])


async def _serve(served: WeftAgent, at: socket.socket) -> None:
    reader, writer = await asyncio.open_connection(sock=at)
    try:
        await run_agent(served, writer, reader)  # type: ignore[arg-type]
    finally:
        await _closed(writer)


async def _closed(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()


def _configured(folder: Path) -> tuple[Paths, Settings]:
    return Paths.of(folder, os.environ), Settings(model="scripted", allow_unknown_cost=True)


@asynccontextmanager
async def agent_process(editor: Editor, env: Mapping[str, str]) -> AsyncIterator[tuple[Any, Process]]:
    """`weft acp` in a process of its own, with an editor connected."""
    whole = {**os.environ, **env}
    command = [sys.executable, "-m", "weft", "acp"]
    async with spawn_agent_process(editor, *command, env=whole) as (connection, process):  # type: ignore[arg-type]
        await connection.initialize(protocol_version=PROTOCOL_VERSION)
        yield connection, process


async def say(connection: Any, session: str, text: str) -> str:
    """A prompt, and why its turn ended."""
    reply = await connection.prompt(session_id=session, prompt=[text_block(text)])
    return str(reply.stop_reason)
