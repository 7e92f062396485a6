"""The journal as a program uses it: a store, the writer before it, and a log for each run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from executor.journal.log import Log
from executor.journal.open_store import open_store
from executor.journal.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from executor.capture.capture import Capture
    from executor.stores.row import RunSummary
    from executor.stores.store import Store


class Journal:
    """An open journal. Opening it says at once where it cannot be used."""

    def __init__(self, url: str) -> None:
        self.store: Store = open_store(url)
        self._writer = Writer(self.store)

    @property
    def url(self) -> str:
        """Where it is."""
        return self.store.url

    def begin(self, run_id: str, capture: Capture) -> Log:
        """The log of a new run."""
        return Log(self._writer, run_id, capture)

    def take_up(self, summary: RunSummary, capture: Capture, after: int) -> Log:
        """The log of a run that had stopped and is held by this process."""
        log = Log(self._writer, summary.run_id, capture, after=after)
        log.take_up(summary)
        return log

    def take(self, run_id: str) -> None:
        """Take a run that this process has just begun; who settles its log knows that it is taken."""
        self._writer.take(run_id)

    def claim(self, run_id: str) -> None:
        """Take a run that was begun before; raises where another process that lives has it."""
        self._writer.claim(run_id)

    def release(self, run_id: str) -> None:
        """Let a run go; who settles its log knows that it is free."""
        self._writer.release(run_id)

    def settle(self) -> Awaitable[None]:
        """Wait until everything handed over so far is on disk, and runs have changed hands."""
        return self._writer.settle()

    def close(self) -> None:
        """Write what is left and close."""
        self._writer.close()
        self.store.close()
