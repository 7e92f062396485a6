"""Runs a server until its client disconnects or a signal arrives, then closes it."""

from __future__ import annotations

import asyncio
import signal
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine


async def until_left(running: Coroutine[Any, Any, None], close: Callable[[], Awaitable[list[str]]]) -> list[str]:
    """Serve, then close; return the ids of the runs that were interrupted."""
    serving = asyncio.ensure_future(running)
    signalled = asyncio.Event()
    if sys.platform != "win32":
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, signalled.set)
    waiting = asyncio.ensure_future(signalled.wait())
    try:
        await asyncio.wait({serving, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if serving.done():
            serving.result()
    finally:
        waiting.cancel()
        interrupted = await close()
    return interrupted
