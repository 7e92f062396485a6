"""The agent on standard input and output; nothing else may write there."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING, Any

from acp import run_agent
from acp.stdio import stdio_streams

from goalwright.interfaces.acp.agent import GoalwrightAgent
from goalwright.interfaces.acp.transport import LARGEST, LineTransport
from goalwright.interfaces.serving import until_left
from goalwright.models.litellm import lifecycle

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from goalwright.settings.paths import Paths
    from goalwright.settings.settings import Settings


async def serve(configure: Callable[[Path], tuple[Paths, Settings]]) -> list[str]:
    """Serve until the client leaves or a signal comes; returns the ids of the sessions that this interrupted."""
    agent = GoalwrightAgent(configure)
    transport = LineTransport(*await _streams())
    lifecycle.preload()
    return await until_left(run_agent(agent, transport), agent.close)  # type: ignore[arg-type]


async def _streams() -> tuple[Any, Any]:
    """The client's pipes; whatever else writes to standard output goes to standard error from now on."""
    if sys.platform == "win32":
        return await stdio_streams(limit=LARGEST)
    loop = asyncio.get_running_loop()
    kept = os.fdopen(os.dup(1), "wb", 0)
    os.dup2(2, 1)
    reader = asyncio.StreamReader(limit=LARGEST)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, kept)
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)
