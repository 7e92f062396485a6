"""The helper: loads litellm, then forks for each run that connects; the fork makes that run's calls and ends with it.

{"env", "api_base", "call_timeout", "capabilities"} → {"ready": its process id}
{"id", "model", "request"} → {"id", "text"}… → {"id", "reply"} or {"id", "error"}
{"id", "cancel": true} cancels a call; {"beat": true} comes every few seconds while the fork is well
"""

from __future__ import annotations

import asyncio
import fcntl
import gc
import os
import signal
import socket
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.models.open import model_opener
from weft.models.warm import place, wire
from weft.providers import litellm_model
from weft.providers.capabilities import Capabilities
from weft.settings.settings import Settings
from weft_skills.errors import WeftError

if TYPE_CHECKING:
    from weft_planner.model import Model

BEAT = 2.0
_LOOK = 1.0  # seconds between two looks at how long it has been idle


def main(cache: str, idle: float) -> None:
    """Serve until no run has been connected for `idle` seconds."""
    os.chdir("/")
    where = place.Place.of(Path(cache))
    where.make()
    descriptor = os.open(where.lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return  # another helper serves already
    os.truncate(descriptor, 0)
    os.write(descriptor, str(os.getpid()).encode())
    listener = _listen(where)
    try:
        _load()  # runs that connect meanwhile wait for it
        _serve(listener, idle)
    finally:
        with suppress(OSError):
            where.socket.unlink()


def _load() -> None:
    """Load litellm and what it imports at its first call, and keep it out of the forks' garbage collections."""
    litellm_model.load()
    with suppress(ImportError):
        import_module("openai.resources")
    gc.collect()
    gc.freeze()


def _listen(where: place.Place) -> socket.socket:
    where.socket.unlink(missing_ok=True)  # a helper that was killed left it
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        listener.bind(str(where.socket))
    finally:
        os.umask(before)
    listener.listen(16)
    return listener


def _serve(listener: socket.socket, idle: float) -> None:
    listener.settimeout(_LOOK)
    forks: set[int] = set()
    last = time.monotonic()
    while forks or time.monotonic() - last < idle:
        forks -= {pid for pid in forks if _ended(pid)}
        try:
            connection, _ = listener.accept()
        except TimeoutError:
            last = time.monotonic() if forks else last
            continue
        with connection:
            if place.is_mine(connection):
                forks.add(_fork(listener, connection))
                last = time.monotonic()


def _ended(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return True


def _fork(listener: socket.socket, connection: socket.socket) -> int:
    """Serve a connection in a process of its own, which has the litellm of this one and nothing of other runs."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        listener.close()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for weft
        connection.settimeout(None)
        asyncio.run(_converse(connection.dup()))
        status = 0
    finally:
        os._exit(status)


async def _converse(connection: socket.socket) -> None:
    reader, writer = await asyncio.open_connection(sock=connection)
    hello = await wire.read(reader)
    if hello is None:
        return
    os.environ.clear()
    os.environ.update(hello["env"])
    litellm_model.load()  # it is loaded; this clears what litellm must not see
    settings = replace(Settings(), api_base=hello["api_base"], call_timeout=hello["call_timeout"])
    calls = Calls(settings, Path(hello["capabilities"]), writer)
    writer.write(wire.frame({"ready": os.getpid()}))
    beat = asyncio.create_task(calls.beat())
    try:
        while (message := await wire.read(reader)) is not None:
            calls.take(message)
    finally:
        beat.cancel()


@dataclass(slots=True)
class Calls:
    """The calls of one run."""

    settings: Settings
    capabilities: Path
    writer: asyncio.StreamWriter
    _models: dict[str, Model] = field(default_factory=dict)
    _tasks: dict[int, asyncio.Task[None]] = field(default_factory=dict)

    def take(self, message: dict[str, Any]) -> None:
        """Start or cancel a call."""
        number = message["id"]
        if message.get("cancel"):
            task = self._tasks.pop(number, None)
            if task is not None:
                task.cancel()
            return
        self._tasks[number] = asyncio.create_task(self._make(number, message))

    async def beat(self) -> None:
        """Tell the other end, again and again, that this process is well."""
        while True:
            await asyncio.sleep(BEAT)
            self._send({"beat": True})

    async def _make(self, number: int, message: dict[str, Any]) -> None:
        try:
            request = wire.to_request(message["request"])
            if message["stream"]:
                request = replace(request, on_text=lambda text: self._send({"id": number, "text": text}))
            reply = await self._model(message["model"]).complete(request)
            self._send({"id": number, "reply": wire.from_reply(reply)})
        except WeftError as error:
            self._send({"id": number, "error": wire.from_error(error)})
        except Exception as error:  # noqa: BLE001 - the run must get an answer, whatever happens
            text = f"unexpected error, please report it: {type(error).__name__}: {error}"
            self._send({"id": number, "error": wire.from_error(WeftError(text))})
        finally:
            self._tasks.pop(number, None)

    def _model(self, name: str) -> Model:
        if name not in self._models:
            self._models[name] = model_opener(self.settings, Capabilities(self.capabilities))(name)
        return self._models[name]

    def _send(self, message: dict[str, Any]) -> None:
        if not self.writer.is_closing():
            self.writer.write(wire.frame(message))


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
