"""The call process: loads litellm, then forks for each connection; the fork makes its calls and ends with it.

Setup → Ready, before the first call and whenever the environment changes
ModelCall → CallText… → CallReply or CallFailure; CallCancel cancels a call
Beat, every few seconds while calls are in flight
"""

from __future__ import annotations

import asyncio
import gc
import os
import socket
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from goalwright.models.call_process import messages
from goalwright.models.call_process.messages import (
    Beat,
    CallCancel,
    CallFailure,
    CallReply,
    CallText,
    ModelCall,
    Ready,
    Setup,
)
from goalwright.models.call_process.socket_folder import SocketFolder, is_mine
from goalwright.models.litellm import lifecycle
from goalwright.models.litellm.capabilities import Capabilities
from goalwright.models.model_check import find_problem
from goalwright.models.open import model_opener
from goalwright.settings.settings import Settings
from goalwright_skills.errors import GoalwrightError

if TYPE_CHECKING:
    from typing import IO

    from msgspec import Struct

    from goalwright.models.open import OpenModel

BEAT = 2.0
_IDLE_CHECK = 1.0  # seconds between two checks of the idle time


def serve_private(*descriptors: str) -> None:
    """Serve the sockets with these file descriptors until all are closed."""
    _load()
    connections = [socket.socket(fileno=int(descriptor)) for descriptor in descriptors]
    if len(connections) == 1:  # no fork is needed, and not every system can fork safely
        asyncio.run(_serve(connections[0]))
        return
    forks = [_fork(connection, *connections[number:]) for number, connection in enumerate(connections, 1)]
    for pid in forks:
        if pid:
            os.waitpid(pid, 0)


def serve_shared(cache_folder: str, idle: str) -> None:
    """Serve this user's processes until none has been connected for `idle` seconds."""
    os.chdir("/")
    folder = SocketFolder.of(Path(cache_folder))
    folder.make()
    if (lock := folder.locked()) is None:
        return  # another process already serves
    listener = folder.listen()
    try:
        _load()  # runs that connect now wait for it
        _accept(listener, lock, float(idle))
    finally:
        with suppress(OSError):
            folder.address.unlink()


def _load() -> None:
    """Load litellm and its late imports, and exclude them from garbage collection in the forks."""
    lifecycle.load()
    with suppress(ImportError):
        import_module("openai.resources")
    gc.collect()
    gc.freeze()


def _accept(listener: socket.socket, lock: IO[bytes], idle: float) -> None:
    listener.settimeout(_IDLE_CHECK)
    forks: set[int] = set()
    last = time.monotonic()
    while forks or time.monotonic() - last < idle:
        forks -= {pid for pid in forks if os.waitpid(pid, os.WNOHANG)[0]}
        try:
            connection, _ = listener.accept()
        except TimeoutError:
            last = time.monotonic() if forks else last
            continue
        if is_mine(connection):
            forks |= {pid for pid in (_fork(connection, listener, lock),) if pid}
            last = time.monotonic()
        else:
            connection.close()


def _fork(connection: socket.socket, *others: socket.socket | IO[bytes]) -> int:
    """Serve a connection in a fork, which closes the other connections; 0 if forking fails."""
    if len(list(Path("/proc/self/task").iterdir())) > 1:
        connection.close()  # a thread would be missing in the fork; the other end finds another way
        return 0
    if pid := os.fork():
        connection.close()
        return pid
    status = 1
    try:
        for other in others:
            other.close()
        connection.settimeout(None)
        asyncio.run(_serve(connection))
        status = 0
    except BaseException:  # noqa: BLE001 - nothing may run on in the fork
        traceback.print_exc()
    finally:
        os._exit(status)


async def _serve(connection: socket.socket) -> None:
    """Make calls until the connection closes, so that none outlives the process that wanted it."""
    reader, writer = await asyncio.open_connection(sock=connection)
    calls = Calls(writer)
    beat = asyncio.create_task(calls.beat())
    while (message := await messages.read(reader, messages.TO_PROCESS)) is not None:
        match message:
            case Setup():
                calls.set_up(message)
            case ModelCall():
                calls.start(message)
            case CallCancel(id=number):
                calls.cancel(number)
    beat.cancel()


@dataclass(slots=True)
class Calls:
    """The calls of one connection."""

    writer: asyncio.StreamWriter
    _open: OpenModel | None = None
    _tasks: dict[int, asyncio.Task[None]] = field(default_factory=dict)

    def set_up(self, setup: Setup) -> None:
        """Replace the environment, and open further models with the message's settings."""
        os.environb.clear()
        os.environb.update(setup.env)
        lifecycle.load()  # it is loaded; this removes variables that litellm must not see
        settings = replace(Settings(), api_base=setup.api_base, call_timeout=setup.call_timeout)
        self._open = cache(model_opener(settings, Capabilities(Path(setup.capabilities))))
        self._send(Ready(os.getpid(), [find_problem(name) for name in setup.check]))

    def start(self, call: ModelCall) -> None:
        """Start a call."""
        self._tasks[call.id] = asyncio.create_task(self._make(call))

    def cancel(self, number: int) -> None:
        """Cancel a call if it is in flight."""
        if (task := self._tasks.pop(number, None)) is not None:
            task.cancel()

    async def beat(self) -> None:
        """Send heartbeats while calls are in flight."""
        while True:
            await asyncio.sleep(BEAT)
            if self._tasks:
                self._send(Beat())

    async def _make(self, call: ModelCall) -> None:
        request = call.request
        if call.stream:
            request = replace(request, on_text=lambda text: self._send(CallText(call.id, text)))
        try:
            assert self._open is not None  # noqa: S101 - Setup came first
            self._send(CallReply(call.id, await self._open(call.model).complete(request)))
        except GoalwrightError as error:
            self._send(CallFailure.of(call.id, error))
        except Exception as error:  # noqa: BLE001 - the caller must get an answer
            text = f"unexpected error, please report it: {type(error).__name__}: {error}"
            self._send(CallFailure.of(call.id, GoalwrightError(text)))
        finally:
            self._tasks.pop(call.id, None)

    def _send(self, message: Struct) -> None:
        if not self.writer.is_closing():
            self.writer.write(messages.frame(message))
