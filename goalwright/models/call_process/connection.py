"""A connection to a call process: sends calls, and detects when the process is lost."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goalwright.models.call_process import messages
from goalwright.models.call_process.messages import (
    CallCancel,
    CallFailure,
    CallReply,
    CallText,
    ModelCall,
    Ready,
    Setup,
)

if TYPE_CHECKING:
    import socket
    from collections.abc import Sequence
    from pathlib import Path

    from goalwright.models.model_check import ModelProblem
    from goalwright.settings.settings import Settings
    from goalwright_planner.model import Reply, Request

# A process that sends nothing for this many seconds counts as hung.
SILENCE = 15


class ProcessLost(Exception):
    """The call process ended, hangs, or is unreachable."""


def setup_of(settings: Settings, capabilities: Path, check: Sequence[str] = ()) -> Setup:
    """The setup message for a call process, with this process's environment."""
    env = list(os.environb.items())
    return Setup(env, settings.api_base, settings.call_timeout, str(capabilities), list(check))


@dataclass(slots=True)
class Connection:
    """A call process and its pending calls; `problems` are those of the models that it checked."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    pid: int = 0
    problems: list[ModelProblem | None] = field(default_factory=list)
    lost: bool = False
    waiting: dict[int, tuple[asyncio.Future[Reply], Request]] = field(default_factory=dict)
    _numbers: itertools.count[int] = field(default_factory=itertools.count)
    _alive: bool = False
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)

    @classmethod
    async def open(cls, end: socket.socket, setup: Setup) -> Connection:
        """Wait until the process at the other end of the socket is ready; raises ProcessLost if it ends instead."""
        connection = cls(*await asyncio.open_connection(sock=end))
        try:
            connection.writer.write(messages.frame(setup))
            ready = await messages.read(connection.reader, messages.FROM_PROCESS)
            connection._greet(ready)
        except BaseException:
            connection.close()
            raise
        connection._tasks = [asyncio.create_task(connection._listen()), asyncio.create_task(connection._watch())]
        return connection

    async def ask(self, model: str, request: Request) -> Reply:
        """Return a model's reply; raises ProcessLost if the process ends."""
        if self.lost:
            raise ProcessLost("the process has ended")
        number = next(self._numbers)
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self.waiting[number] = (future, request)
        try:
            self.writer.write(messages.frame(ModelCall.of(number, model, request)))
            return await future
        except asyncio.CancelledError:
            self._cancel(number)
            raise
        finally:
            self.waiting.pop(number, None)

    def close(self) -> None:
        """Close the connection; the process drops its calls and ends."""
        for task in self._tasks:
            task.cancel()
        self._lose()

    def _greet(self, ready: object) -> None:
        if not isinstance(ready, Ready):
            raise ProcessLost("the process ended at once")
        self.pid, self.problems = ready.pid, ready.problems

    async def _listen(self) -> None:
        while (message := await messages.read(self.reader, messages.FROM_PROCESS)) is not None:
            self._alive = True
            if isinstance(message, CallText | CallReply | CallFailure) and message.id in self.waiting:
                self._take(message, *self.waiting[message.id])
        self._lose()

    def _take(
        self, message: CallText | CallReply | CallFailure, future: asyncio.Future[Reply], request: Request
    ) -> None:
        if future.done():
            return
        match message:
            case CallReply(reply=reply):
                future.set_result(reply)
            case CallFailure():
                future.set_exception(message.error)
            case CallText(text=text) if request.on_text is not None:
                try:
                    request.on_text(text)
                except Exception as error:  # noqa: BLE001 - an error of the caller's callback fails only its call
                    self._cancel(message.id)
                    future.set_exception(error)

    def _cancel(self, number: int) -> None:
        if not self.lost:
            self.writer.write(messages.frame(CallCancel(number)))

    async def _watch(self) -> None:
        """Kill a silent process; silence is counted in steps, since the clock runs while this one is stopped."""
        silent = 0
        while silent < SILENCE and not self.lost:
            await asyncio.sleep(1)
            silent = 0 if self._alive or not self.waiting else silent + 1
            self._alive = False
        if not self.lost:
            # No call may be in flight when the caller makes it again.
            with suppress(OSError):
                os.kill(self.pid, signal.SIGKILL)
            self._lose()

    def _lose(self) -> None:
        self.lost = True
        self.writer.transport.abort()  # close() would wait until everything is sent
        for future, _ in self.waiting.values():
            if not future.done():
                future.set_exception(ProcessLost("the process ended"))
