"""A worker process: reads requests from a socket, makes the calls concurrently, and answers each as it ends.

(number, model, request) → the call → (number, reply or error)
(number, model, True) → a check → (number, what keeps the model from being called, or None)
(number, model, None) cancels a call; when the socket closes, the process ends, so it never outlives weft
"""

from __future__ import annotations

import asyncio
import gc
import os
import socket
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from weft.models.model_check import find_problem
from weft.models.open import model_opener
from weft.models.workers import frames
from weft.providers import litellm_model
from weft.providers.capabilities import Capabilities
from weft_skills.errors import WeftError

if TYPE_CHECKING:
    from collections.abc import Callable

    from weft.settings.settings import Settings
    from weft_planner.model import Model, Request


@dataclass(frozen=True, slots=True)
class Ready:
    """The first message of a worker: it takes calls from now on."""

    pid: int


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """The first message to a worker: the settings to open models with, and the file of their capabilities."""

    settings: Settings
    capabilities: Path


@dataclass(slots=True)
class CallServer:
    """The calls in progress."""

    setup: WorkerSettings
    writer: asyncio.StreamWriter
    in_progress: dict[int, asyncio.Task[None]] = field(default_factory=dict)

    async def serve(self, reader: asyncio.StreamReader) -> None:
        """Make calls until the socket closes."""
        open_model = cache(model_opener(self.setup.settings, Capabilities(self.setup.capabilities)))
        frames.write(self.writer, Ready(os.getpid()))
        while (message := await frames.read(reader)) is not None:
            number, name, request = message
            if request is True:
                frames.write(self.writer, (number, find_problem(name)))
            elif request is not None:
                self.in_progress[number] = asyncio.create_task(self._make(number, partial(open_model, name), request))
            elif (call := self.in_progress.pop(number, None)) is not None:
                call.cancel()

    async def _make(self, number: int, open_model: Callable[[], Model], request: Request) -> None:
        try:
            answer: object = await open_model().complete(request)
        except WeftError as error:
            answer = error
        except Exception as error:  # noqa: BLE001 - the caller must get an answer, whatever happens
            answer = WeftError(f"unexpected error, please report it: {type(error).__name__}: {error}")
        finally:
            self.in_progress.pop(number, None)
        try:
            frames.write(self.writer, (number, answer))
        except Exception as error:  # noqa: BLE001 - the caller must not wait forever
            frames.write(self.writer, (number, WeftError(f"the answer could not be sent: {error}")))


async def _main(descriptor: int) -> None:
    reader, writer = await asyncio.open_connection(sock=socket.socket(fileno=descriptor))
    setup = await frames.read(reader)
    if setup is not None:
        await CallServer(setup, writer).serve(reader)


def main(first: int, *others: int) -> None:
    """Serve the sockets with these file descriptors, each in a process; litellm is loaded once, and then forked."""
    litellm_model.load()
    gc.collect()
    gc.freeze()  # what the processes share stays shared
    asyncio.run(_main(_mine(first, *others)))


def _mine(first: int, *others: int) -> int:
    """The descriptor that is this process's: the first here, each of the others in a fork."""
    for place, descriptor in enumerate(others):
        # A thread would be missing in the fork; then weft finds the socket closed and starts a process by itself.
        if len(list(Path("/proc/self/task").iterdir())) == 1 and os.fork() == 0:
            for other in (first, *others[place + 1 :]):
                os.close(other)
            return descriptor
        os.close(descriptor)
    return first
