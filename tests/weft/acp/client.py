"""A client of the protocol: the package's own connection to `weft acp` in a process of its own."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from acp import PROTOCOL_VERSION, spawn_agent_process
from acp.helpers import text_block
from acp.schema import (
    AgentMessageChunk,
    AgentPlanUpdate,
    AllowedOutcome,
    DeniedOutcome,
    RequestPermissionResponse,
    UserMessageChunk,
)

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import AsyncIterator, Callable, Mapping
    from pathlib import Path


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

    def said(self, kind: type = AgentMessageChunk) -> str:
        """The text of the agent's messages, or of the user's."""
        return "".join(update.content.text for _, update in self.updates if isinstance(update, kind))

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
async def agent(
    editor: Editor, env: Mapping[str, str], *flags: str, stderr: Path | None = None
) -> AsyncIterator[tuple[Any, Process]]:
    """`weft acp` with an editor connected, initialized."""
    whole = {**os.environ, **env}
    command = [sys.executable, "-m", "weft", "acp", *flags]
    async with spawn_agent_process(editor, *command, env=whole) as (connection, process):  # type: ignore[arg-type]
        await connection.initialize(protocol_version=PROTOCOL_VERSION)
        yield connection, process


async def say(connection: Any, session: str, text: str) -> str:
    """A prompt, and why its turn ended."""
    reply = await connection.prompt(session_id=session, prompt=[text_block(text)])
    return str(reply.stop_reason)
