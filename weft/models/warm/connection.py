"""The run's end of the helper: start one if none is there, connect, and notice when it is lost."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import signal
import socket
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.models.warm import place, wire
from weft_planner.errors import ModelError

if TYPE_CHECKING:
    from weft.models.warm.place import Place
    from weft.settings.settings import Settings
    from weft_planner.model import OnText, Reply, Request

_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from weft.models.warm.server import main; main(sys.argv[2], float(sys.argv[3]))"
)
# What a helper needs before a run connects; keys and proxies are not among them.
_PASSED = ("HOME", "LANG", "LC_ALL", "PATH", "TMPDIR", "USER", "XDG_CACHE_HOME")
_POLL = 0.02
_START = 60.0  # seconds for a helper to load litellm, on a busy machine
SILENCE = 15.0  # seconds without a beat after which a helper counts as hung


class HelperLost(Exception):
    """The helper ended, hangs, or cannot be used; the run makes the call itself."""


def start(where: Place, idle: float) -> int:
    """Start a helper in the background, in a session of its own; it ends at once if another one serves already."""
    search = [path for path in sys.path if Path(path).is_absolute()]
    arguments = [json.dumps(search), str(where.folder.parent), str(idle)]
    silent = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
    env = {name: os.environ[name] for name in _PASSED if name in os.environ}
    command = [sys.executable, "-I", "-c", _PROGRAM, *arguments]
    return os.posix_spawn(sys.executable, command, env, file_actions=silent, setsid=True)


@dataclass(slots=True)
class Connection:
    """A run's calls through the helper."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    pid: int
    _waiting: dict[int, tuple[asyncio.Future[Reply], OnText | None]] = field(default_factory=dict)
    _numbers: itertools.count[int] = field(default_factory=itertools.count)
    _listening: asyncio.Task[None] | None = None
    lost: bool = False

    @classmethod
    async def open(cls, where: Place, settings: Settings, capabilities: Path) -> Connection:
        """Connect to the helper; raises HelperLost if there is none within reach."""
        try:
            async with asyncio.timeout(_START):
                return await cls._open(where, settings, capabilities)
        except TimeoutError as error:
            raise HelperLost("it did not start in time") from error

    @classmethod
    async def _open(cls, where: Place, settings: Settings, capabilities: Path) -> Connection:
        try:
            where.check()
            reader, writer = await asyncio.open_connection(sock=await _connected(where))
        except OSError as error:
            raise HelperLost(str(error)) from error
        hello = {
            "env": dict(os.environ),
            "api_base": settings.api_base,
            "call_timeout": settings.call_timeout,
            "capabilities": str(capabilities),
        }
        writer.write(wire.frame(hello))
        ready = await wire.read(reader)
        if ready is None or not isinstance(ready.get("ready"), int):
            writer.transport.abort()
            raise HelperLost("it ended at once")
        connection = cls(reader, writer, ready["ready"])
        connection._listening = asyncio.create_task(connection._listen())
        return connection

    async def ask(self, name: str, request: Request) -> Reply:
        """The reply of a model; raises HelperLost if it cannot come any more."""
        if self.lost:
            raise HelperLost("it is gone")
        number = next(self._numbers)
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._waiting[number] = (future, request.on_text)
        message = {"id": number, "model": name, "request": wire.from_request(request), "stream": bool(request.on_text)}
        try:
            self.writer.write(wire.frame(message))
            return await future
        except asyncio.CancelledError:
            if not self.lost:
                self.writer.write(wire.frame({"id": number, "cancel": True}))
            raise
        finally:
            self._waiting.pop(number, None)

    async def _listen(self) -> None:
        try:
            while True:
                async with asyncio.timeout(SILENCE):
                    message = await wire.read(self.reader)
                if message is None:
                    break
                self._answer(message)
        except TimeoutError:
            pass
        finally:
            self._lose()

    def _answer(self, message: dict[str, Any]) -> None:
        future, on_text = self._waiting.get(message.get("id", -1), (None, None))
        if future is None or future.done():
            return
        try:
            if "text" in message:
                (on_text or _ignore)(message["text"])
            elif "error" in message:
                future.set_exception(wire.to_error(message["error"]))
            else:
                future.set_result(wire.to_reply(message["reply"]))
        except (KeyError, TypeError, AttributeError) as error:
            future.set_exception(ModelError(f"the helper sent an answer that cannot be read: {error}"))

    def _lose(self) -> None:
        """End the fork, so that no call of it is still under way when the run makes the call itself."""
        self.lost = True
        self.writer.transport.abort()
        with suppress(OSError):
            os.kill(self.pid, signal.SIGKILL)
        for future, _ in self._waiting.values():
            if not future.done():
                future.set_exception(HelperLost("it ended"))


async def _connected(where: Place) -> socket.socket:
    """A connection to the socket, waiting for a helper that is just starting to open it."""
    while True:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.connect(str(where.socket))
        except (FileNotFoundError, ConnectionRefusedError):
            connection.close()
            await asyncio.sleep(_POLL)
            continue
        except OSError:
            connection.close()
            raise
        if not place.is_mine(connection):
            connection.close()
            raise place.NoPlace("the helper at this socket is another user's")
        connection.setblocking(False)
        return connection


def _ignore(text: str) -> None:
    """For a piece of an answer that nobody asked to see."""
