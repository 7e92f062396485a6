"""An open journal: a store, the process's writer, and a log for each run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from goalwright_executor.journal.log import Log
from goalwright_executor.journal.open_store import open_store
from goalwright_executor.journal.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from goalwright_executor.capture.capture import Capture
    from goalwright_executor.stores.lease import StopRequest
    from goalwright_executor.stores.row import RunSummary
    from goalwright_executor.stores.store import Store


class RunIndexer(Protocol):
    """Indexes ended runs in the background."""

    def add(self, run_ids: Sequence[str]) -> None:
        """Accept released runs; must not block."""

    def close(self) -> None:
        """Finish within a short time."""


class Journal:
    """An open journal; raises at once if it cannot be used. `index` creates the indexer of its runs, if any."""

    def __init__(self, url: str, index: Callable[[Store], RunIndexer] | None = None) -> None:
        self.store: Store = open_store(url)
        self._indexer = index(self.store) if index is not None else None
        self._writer = Writer(self.store, self._indexer.add if self._indexer is not None else None)

    @property
    def url(self) -> str:
        """The URL by which it can be opened again."""
        return self.store.url

    @property
    def commit_seconds(self) -> float:
        """The duration of the last commit, or of the current one if it is longer."""
        return self._writer.commit_seconds

    def begin(self, run_id: str, capture: Capture) -> Log:
        """Return the log of a new run."""
        return Log(self._writer, run_id, capture)

    def resume(self, summary: RunSummary, capture: Capture, after: int) -> Log:
        """Return the log of a stored run that this process has claimed; `after` is the number of its last event."""
        log = Log(self._writer, summary.run_id, capture, after=after)
        log.resume(summary)
        return log

    def add_to(self, summary: RunSummary, capture: Capture, after: int) -> Log:
        """Return the log of an ended and claimed run, to add tags and notes."""
        log = Log(self._writer, summary.run_id, capture, after=after)
        log.add_to(summary)
        return log

    def take(self, run_id: str) -> None:
        """Take the lease of a new run; it is taken once the log has settled."""
        self._writer.take(run_id)

    def claim(self, run_id: str) -> None:
        """Take the lease of a stored run; raises if another live process has it."""
        self._writer.claim(run_id)

    def release(self, run_id: str) -> None:
        """Release a run; it is released once the log has settled."""
        self._writer.release(run_id)

    def listen(self, run_id: str, listener: Callable[[StopRequest], None] | None) -> None:
        """Call `listener`, in another thread, when another process requests a stop of the run; None unsubscribes."""
        self._writer.listen(run_id, listener)

    def settle(self) -> Awaitable[None]:
        """Wait until all entries and lease changes so far are on disk."""
        return self._writer.settle()

    def close(self) -> None:
        """Write all pending entries and close."""
        self._writer.close()
        if self._indexer is not None:
            self._indexer.close()
        self.store.close()
