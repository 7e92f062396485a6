"""The MCP server on standard input and output; nothing else may write there."""

from __future__ import annotations

import asyncio
import signal
import sys
from typing import TYPE_CHECKING

from weft.mcp_server.goal_tools import GoalTools
from weft.providers import litellm_model
from weft_skills.errors import SetupError

if TYPE_CHECKING:
    from weft.runs.runtime import Weft


async def serve(weft: Weft, *, allow_approvals: bool = False) -> list[str]:
    """Serve until the client disconnects or a signal comes; returns the ids of the runs that this interrupted."""
    try:
        from weft.mcp_server import protocol
    except ImportError as error:
        raise SetupError("`weft mcp serve` needs the package mcp", hint="pip install 'weft[mcp]'") from error
    tools = GoalTools(weft, allow_approvals)
    server = protocol.build(tools)
    litellm_model.preload()
    serving = asyncio.ensure_future(server.run_stdio_async())
    loop = asyncio.get_running_loop()
    left = asyncio.Event()
    if sys.platform != "win32":
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, left.set)
    leaving = asyncio.ensure_future(left.wait())
    try:
        await asyncio.wait({serving, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if serving.done():
            serving.result()
    finally:
        leaving.cancel()
        interrupted = await tools.close()
    return interrupted
