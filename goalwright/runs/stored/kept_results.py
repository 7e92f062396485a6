"""Finds results of other runs in the same journal by the hash of the request: the setting `cache`."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goalwright.runs.stored import records
from goalwright_executor.journal.log import stamp

if TYPE_CHECKING:
    from goalwright.settings.paths import Paths
    from goalwright_executor.stores.store import Store

_DAY = 86_400 * 1_000_000_000  # nanoseconds


@dataclass(frozen=True, slots=True)
class JournalResults:
    """Results that other runs than `run_id` finished in the last `days`."""

    store: Store
    paths: Paths
    run_id: str
    days: float

    async def find(self, key: str) -> str | None:
        """Return the newest output for the same request that is not too old."""
        return await asyncio.to_thread(self._find, key)

    def _find(self, key: str) -> str | None:
        since = stamp(max(time.time_ns() - int(self.days * _DAY), 0))
        row = self.store.result(key, since, apart_from=self.run_id)
        if row is None or not isinstance(row.body.get("output"), str):
            return None
        # Paths in the folder of the other run stay there.
        return str(records.capture(self.paths, row.run_id).local(row.body["output"]))
