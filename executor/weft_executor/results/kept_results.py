"""Results of other runs that may be used again: the port through which a task finds one."""

from __future__ import annotations

from typing import Protocol


class KeptResults(Protocol):
    """Finds results of tasks in other runs, by the hash of what their model was asked."""

    async def find(self, key: str) -> str | None:
        """The newest output that was given to the same request, if there is one that is not too old."""
