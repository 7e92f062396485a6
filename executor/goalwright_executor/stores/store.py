"""The store port: the operations that a journal needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Unpack

    from goalwright_executor.stores.lease import Handover, Holder, StopRequest
    from goalwright_executor.stores.row import (
        BatchCount,
        ConversationSummary,
        EncodedRows,
        Row,
        RunCount,
        RunIndex,
        RunSummary,
        StoreStatus,
    )
    from goalwright_executor.stores.run_lists import CountedBy, RunFilter


class Store(Protocol):
    """Stores rows durably: they are on disk when `append` returns. Failures raise `StoreFailed`."""

    @property
    def url(self) -> str:
        """The URL, without a password."""

    @property
    def poll_seconds(self) -> float:
        """Seconds between two polls of `changed`."""

    def append(
        self, rows: Sequence[Row] | EncodedRows, summaries: Mapping[str, RunSummary], handover: Handover | None = None
    ) -> None:
        """Store rows in order, new or changed summaries, and lease changes; all or nothing.

        Raises `LeaseLost` with the runs that another process took over.
        """

    def import_runs(self, pieces: Iterable[tuple[Sequence[Row], Mapping[str, RunSummary]]]) -> None:
        """Store whole runs that arrive in pieces, all or nothing; raises `RunExists` if one is already stored."""

    def summaries(self, most: int | None = None, **wanted: Unpack[RunFilter]) -> Iterator[RunSummary]:
        """The runs that match a filter, newest first.

        `text` is searched in the index, and for runs that are not indexed yet in goals, skills, tags and notes.
        """

    def unindexed(self, most: int, run_ids: Collection[str] = ()) -> Sequence[tuple[RunSummary, int]]:
        """Unleased runs that are not indexed or have changed since, each with the number of its last event.

        `run_ids` restricts them.
        """

    def index(self, runs: Sequence[RunIndex]) -> None:
        """Index runs, except those that changed since they were read."""

    def counts(self, by: CountedBy, since: str) -> Iterator[RunCount]:
        """Count the runs that started since a time, by day and status, by cause of failure, and so on."""

    def times(self, since: str) -> Iterator[tuple[str, float]]:
        """The day and duration of each finished run since a time."""

    def batches(self) -> Iterator[BatchCount]:
        """Count the runs of each batch by status, newest batch first."""

    def conversations(self, most: int | None = None, conversation: str | None = None) -> Iterator[ConversationSummary]:
        """The conversations, newest turn first, or only one."""

    def find(self, run: str) -> RunSummary:
        """Return the run with that id or unique prefix, or for `last` the newest that was not imported, if any."""

    def rows(
        self, run_id: str, *, types: Collection[str] = (), task: str | None = None, after: int = 0
    ) -> Iterator[Row]:
        """A run's rows in order: all, or those of some types, of one task, or after a number."""

    def last_event(self, run_id: str) -> int:
        """The number of a run's last event; 0 if it has none."""

    def changed(self) -> int:
        """Return a number that changes when any process writes; cheap enough to poll."""

    def rows_of_all(self, types: Collection[str]) -> Iterator[Row]:
        """The rows of some types of every run, run by run."""

    def result(self, key: str, since: str, *, apart_from: str) -> Row | None:
        """The newest `task_finished` with this key since a time, in any run but `apart_from`; None if there is none.

        Imported runs are ignored, because they may come from anyone.
        """

    def claim(self, run_id: str, holder: Holder) -> None:
        """Take the lease of a stored run; raises `RunHeld` if another live process has it."""

    def renew(self, run_ids: Collection[str], holder: Holder) -> None:
        """Renew leases; raises `LeaseLost` with the runs that another process took over, after renewing the others."""

    def request_stop(self, run_id: str, request: StopRequest) -> None:
        """Request a stop from the process that holds a run; raises `NotRunning` if there is none."""

    def stop_requests(self) -> Mapping[str, StopRequest]:
        """The pending stop requests by run."""

    def delete(self, run_ids: Collection[str]) -> Sequence[str]:
        """Delete runs that are not leased and texts that only they used; returns the deleted ids."""

    def status(self) -> StoreStatus:
        """The size of the store and the number of its runs and users."""

    def close(self) -> None:
        """Close the store."""
