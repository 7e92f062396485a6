"""The process that makes calls for another one: takes requests from a socket and answers each as it ends.

a request (number, model, request) → the call, beside all others → (number, reply or error)
(number, model, None) drops a call; the end of the socket ends everything, so nothing outlives who asked
"""

from __future__ import annotations

import asyncio
import socket
from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING

from skills.errors import WeftError
from weft.models.open import model_opener
from weft.models.workers import frames
from weft.providers import litellm_model
from weft.providers.capabilities import Capabilities

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from planner.model import Model, Request
    from weft.settings.settings import Settings

READY = "ready"


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """The first message: what the models are opened with."""

    settings: Settings
    capabilities: Path


@dataclass(slots=True)
class CallServer:
    """The calls that are under way."""

    opening: WorkerSettings
    writer: asyncio.StreamWriter
    under_way: dict[int, asyncio.Task[None]] = field(default_factory=dict)

    async def serve(self, reader: asyncio.StreamReader) -> None:
        """Make calls until nobody asks any more."""
        open_model = cache(model_opener(self.opening.settings, Capabilities(self.opening.capabilities)))
        litellm_model.load()
        frames.write(self.writer, READY)
        while (message := await frames.read(reader)) is not None:
            number, name, request = message
            if request is not None:
                self.under_way[number] = asyncio.create_task(self._make(number, partial(open_model, name), request))
            elif (call := self.under_way.pop(number, None)) is not None:
                call.cancel()

    async def _make(self, number: int, opened: Callable[[], Model], request: Request) -> None:
        try:
            answer: object = await opened().complete(request)
        except WeftError as error:
            answer = error
        except Exception as error:  # noqa: BLE001 - whoever asked must hear of it, whatever it is
            answer = WeftError(f"an unexpected error, please report it: {type(error).__name__}: {error}")
        finally:
            self.under_way.pop(number, None)
        try:
            frames.write(self.writer, (number, answer))
        except Exception as error:  # noqa: BLE001 - an answer that cannot be sent must not be waited for forever
            frames.write(self.writer, (number, WeftError(f"an answer that cannot be passed on: {error}")))


async def _main(descriptor: int) -> None:
    reader, writer = await asyncio.open_connection(sock=socket.socket(fileno=descriptor))
    opening = await frames.read(reader)
    if opening is not None:
        await CallServer(opening, writer).serve(reader)


def main(descriptor: int) -> None:
    """Serve the socket with this number."""
    asyncio.run(_main(descriptor))
