"""Models called through the helper; if it is lost, the run loads litellm and makes the call itself."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from weft.models.open import model_opener
from weft.models.warm.connection import Connection, HelperLost, start
from weft.models.warm.place import Place
from weft.providers.capabilities import Capabilities
from weft.settings.default_model import is_local

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from weft.models.open import OpenModel
    from weft.settings.settings import Settings
    from weft_planner.model import Model, Reply, Request

_CI = ("CI", "GITHUB_ACTIONS", "BUILD_NUMBER")


def is_wanted(settings: Settings, models: Iterable[str], env: Mapping[str, str], *, terminal: bool) -> bool:
    """Whether a run may use the helper: a person waits, the setting is on, and one of the models is a provider's.

    A budget asks litellm for prices before each call, and some variables count when litellm is imported: then it is
    loaded in the run itself.
    """
    if not (terminal and settings.helper_minutes and hasattr(socket, "SO_PEERCRED")):
        return False
    own = settings.max_cost is not None or any(name.startswith("LITELLM_") for name in env)
    in_ci = any(env.get(name) for name in _CI)
    return not (own or in_ci or all(map(is_local, models)))


@dataclass(slots=True)
class Helper:
    """The helper as one run sees it: started early, connected when first needed."""

    settings: Settings
    cache: Path
    _connecting: asyncio.Task[Connection] | None = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def capabilities(self) -> Path:
        """The file that remembers what models support."""
        return self.cache / "models.json"

    def begin(self) -> bool:
        """Start a helper if none is running; returns whether one can be used."""
        where = Place.of(self.cache)
        try:
            where.make()
            if where.served_by() is None:
                start(where, self.settings.helper_minutes * 60)
        except OSError:
            return False
        return True

    async def connection(self) -> Connection:
        """The connection of this run, opened once."""
        async with self._lock:
            if self._connecting is None:
                opening = Connection.open(Place.of(self.cache), self.settings, self.capabilities)
                self._connecting = asyncio.create_task(opening)
        return await asyncio.shield(self._connecting)

    @property
    def connected(self) -> bool:
        """Whether calls can be made at once."""
        task = self._connecting
        return task is not None and task.done() and not task.cancelled() and task.exception() is None

    def opener(self) -> OpenModel:
        """Opens models that are called through the helper."""
        own = model_opener(self.settings, Capabilities(self.capabilities))

        def open_model(name: str) -> Model:
            return own(name) if is_local(name) else WarmModel(name, self, own(name))

        return open_model


@dataclass(frozen=True, slots=True)
class WarmModel:
    """A model called through the helper; `own` is the same model, called from this process."""

    name: str
    helper: Helper
    own: Model

    @property
    def needs(self) -> str:
        """litellm, until the helper has it loaded."""
        return "" if self.helper.connected else "litellm"

    async def load(self) -> None:
        """Wait until the helper can make calls."""
        with suppress(HelperLost):  # then the first call loads litellm here
            await self.helper.connection()

    async def complete(self, request: Request) -> Reply:
        """Answer the request."""
        try:
            connection = await self.helper.connection()
            return await connection.ask(self.name, request)
        except HelperLost:
            return await self.own.complete(request)
