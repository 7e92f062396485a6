"""Calling a model from a worker thread: the thread blocks, the call runs on the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Self

from goalwright_planner.model import Reply, Request

if TYPE_CHECKING:
    from goalwright_planner.model import Model


Ask = Callable[[Request], Reply]


class BlockingModel:
    """Enter it on the loop, call it in a thread; leaving the block cancels running calls.

    Otherwise a stopped run would wait for a thread that waits for a model.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._loop = asyncio.get_running_loop()
        self._calls: set[asyncio.Task[Reply]] = set()
        self._closed = False

    def __call__(self, request: Request) -> Reply:
        """Call the model; for threads other than the loop's."""
        return asyncio.run_coroutine_threadsafe(self._ask(request), self._loop).result()

    async def _ask(self, request: Request) -> Reply:
        if self._closed:
            raise asyncio.CancelledError
        call = asyncio.ensure_future(self._model.complete(request))
        self._calls.add(call)
        try:
            return await call
        finally:
            self._calls.discard(call)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._closed = True
        for call in self._calls:
            call.cancel()
