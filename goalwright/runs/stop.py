"""A request to end a run early."""

from __future__ import annotations

import asyncio


class Stop:
    """A flag that a signal handler or another part of the program sets; the run then ends cleanly."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self.by_user = False

    def set(self, *, by_user: bool = False) -> None:
        """Ask the run to end; `by_user` if a person asked for it."""
        self.by_user = self.by_user or by_user
        self._event.set()

    def is_set(self) -> bool:
        """Return whether the run was asked to end."""
        return self._event.is_set()

    async def wait(self) -> None:
        """Return once the run is asked to end."""
        await self._event.wait()
