"""A server of this process runs until its client leaves or a signal comes; what it has begun is interrupted then."""

from __future__ import annotations

import asyncio
import signal
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine


async def until_left(running: Coroutine[Any, Any, None], close: Callable[[], Awaitable[list[str]]]) -> list[str]:
    """Serve, then close; returns the ids of what that interrupted."""
    serving = asyncio.ensure_future(running)
    left = asyncio.Event()
    if sys.platform != "win32":
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, left.set)
    leaving = asyncio.ensure_future(left.wait())
    try:
        await asyncio.wait({serving, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if serving.done():
            serving.result()
    finally:
        leaving.cancel()
        interrupted = await close()
    return interrupted
