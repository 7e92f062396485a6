"""Makes calls through the process that runs at a terminal share; if it is lost, the run makes them itself."""

from __future__ import annotations

import asyncio
import os
import socket
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goalwright.models.call_process import socket_folder, spawn
from goalwright.models.call_process.connection import Connection, ProcessLost, setup_of
from goalwright.models.call_process.socket_folder import SocketFolder, UnsafeFolder
from goalwright.models.litellm.capabilities import Capabilities
from goalwright.models.open import model_opener
from goalwright.settings.default_model import is_local

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from goalwright.models.open import OpenModel
    from goalwright.settings.settings import Settings
    from goalwright_planner.model import Model, Reply, Request

_CI = ("CI", "GITHUB_ACTIONS", "BUILD_NUMBER")
_POLL = 0.02
_START = 60.0  # seconds to load litellm, on a busy machine


def is_wanted(settings: Settings, models: Iterable[str], env: Mapping[str, str], *, terminal: bool) -> bool:
    """Whether a run uses the shared process: at a terminal, with a provider's model, unless it is turned off.

    A limit on cost needs litellm's prices in the run itself, and LITELLM_* variables take effect when it is imported.
    """
    if not (terminal and settings.helper_minutes and hasattr(socket, "SO_PEERCRED")):
        return False
    own = settings.max_cost is not None or any(name.startswith("LITELLM_") for name in env)
    in_ci = any(env.get(name) for name in _CI)
    return not (own or in_ci or all(map(is_local, models)))


@dataclass(slots=True)
class SharedProcess:
    """The shared process of one run: started early, connected at the first call."""

    settings: Settings
    cache: Path
    _started: int | None = None
    _connecting: asyncio.Task[Connection] | None = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def capabilities(self) -> Path:
        """The file that remembers what models support."""
        return self.cache / "models.json"

    def start(self) -> bool:
        """Start the process if none is running; returns whether one can be used."""
        folder = SocketFolder.of(self.cache)
        try:
            folder.make()
            if folder.served_by() is None:
                self._started = spawn.shared(self.cache, self.settings.helper_minutes * 60)
        except OSError:
            return False
        return True

    async def connection(self) -> Connection:
        """The connection of this run, opened once; raises ProcessLost if that fails."""
        async with self._lock:
            if self._connecting is None:
                self._connecting = asyncio.create_task(self._connect())
        return await asyncio.shield(self._connecting)

    @property
    def connected(self) -> bool:
        """Whether the connection is open."""
        task = self._connecting
        return task is not None and task.done() and not task.cancelled() and task.exception() is None

    def opener(self) -> OpenModel:
        """Return a function that opens models called through the process."""
        own = model_opener(self.settings, Capabilities(self.capabilities))

        def open_model(name: str) -> Model:
            return own(name) if is_local(name) else SharedModel(name, self, own(name))

        return open_model

    async def _connect(self) -> Connection:
        try:
            async with asyncio.timeout(_START):
                while (end := _connected(SocketFolder.of(self.cache))) is None:
                    if self._has_failed():
                        raise ProcessLost("the process could not start")
                    await asyncio.sleep(_POLL)
                return await Connection.open(end, setup_of(self.settings, self.capabilities))
        except TimeoutError as error:
            raise ProcessLost("the process did not start in time") from error
        except OSError as error:
            raise ProcessLost(str(error)) from error

    def _has_failed(self) -> bool:
        """Whether the process started here failed; it ends without an error if another one already serves."""
        if self._started is not None:
            with suppress(ChildProcessError):
                return os.waitpid(self._started, os.WNOHANG)[1] != 0
        return False


@dataclass(frozen=True, slots=True)
class SharedModel:
    """A model called through the shared process; `own` is the same model in this process."""

    name: str
    process: SharedProcess
    own: Model

    @property
    def needs(self) -> str:
        """The package that is still to be loaded: litellm, or nothing."""
        return "" if self.process.connected else "litellm"

    async def load(self) -> str:
        """Wait until the process is connected."""
        with suppress(ProcessLost):  # the first call then loads litellm here
            await self.process.connection()
        return ""

    async def complete(self, request: Request) -> Reply:
        """Answer the request."""
        try:
            connection = await self.process.connection()
            return await connection.ask(self.name, request)
        except ProcessLost:
            return await self.own.complete(request)


def _connected(folder: SocketFolder) -> socket.socket | None:
    """Connect to the process's socket; None while the process is starting."""
    folder.check()
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(str(folder.address))
        if not socket_folder.is_mine(connection):
            raise UnsafeFolder("the process at this socket is another user's")
    except (FileNotFoundError, ConnectionRefusedError):
        connection.close()
        return None
    except OSError:
        connection.close()
        raise
    return connection
