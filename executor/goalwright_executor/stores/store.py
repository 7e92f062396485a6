"""The store port: what a journal needs from whatever stores its rows."""

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
    """Stores rows durably: what `append` was given is on disk when it returns. Failures are `StoreFailed`."""

    @property
    def url(self) -> str:
        """The URL by which it can be opened again; a password is left out."""

    @property
    def look(self) -> float:
        """Seconds between two questions whether it has `changed`."""

    def append(
        self, rows: Sequence[Row] | EncodedRows, summaries: Mapping[str, RunSummary], handover: Handover | None = None
    ) -> None:
        """Store rows in order, new or changed summaries, and lease changes; all or nothing.

        Raises `LeaseLost` with the runs that this process has lost to another one.
        """

    def import_runs(self, pieces: Iterable[tuple[Sequence[Row], Mapping[str, RunSummary]]]) -> None:
        """Store whole runs that arrive in pieces, all or nothing; raises `RunExists` if one is already stored."""

    def summaries(self, most: int | None = None, **wanted: Unpack[RunFilter]) -> Iterator[RunSummary]:
        """The runs, newest first, that a filter lets through.

        The words of `text` are looked for in the index, and of runs that are not in it yet in goals, skills, tags and
        notes.
        """

    def unindexed(self, most: int, run_ids: Collection[str] = ()) -> Sequence[tuple[RunSummary, int]]:
        """Runs that no process holds and that the index has not, or not as they are now; some of these, or any.

        Each comes with the number of its last event.
        """

    def index(self, runs: Sequence[RunIndex]) -> None:
        """Put runs into the index, except those that were written to since they were read."""

    def counts(self, by: CountedBy, since: str) -> Iterator[RunCount]:
        """How many runs have started since a time, by day and status, by cause of failure, and so on."""

    def times(self, since: str) -> Iterator[tuple[str, float]]:
        """The day and the seconds of each run that is done, since a time."""

    def batches(self) -> Iterator[BatchCount]:
        """How many runs each batch has in each status, newest batch first."""

    def conversations(self, most: int | None = None, conversation: str | None = None) -> Iterator[ConversationSummary]:
        """The conversations, that with the newest turn first; or only one."""

    def find(self, run: str) -> RunSummary:
        """The run of that id, of the only id that starts with it, or `last`: of those made here, if there are any."""

    def rows(
        self, run_id: str, *, types: Collection[str] = (), task: str | None = None, after: int = 0
    ) -> Iterator[Row]:
        """A run's rows in order: all of them, or those of some types, of one task, or after a number."""

    def last_event(self, run_id: str) -> int:
        """The number of a run's last event; 0 if it has none."""

    def changed(self) -> int:
        """A number that differs from the last one if any process has written since; cheap enough to ask often."""

    def rows_of_all(self, types: Collection[str]) -> Iterator[Row]:
        """The rows of some types of every run, run by run."""

    def result(self, key: str, since: str, *, apart_from: str) -> Row | None:
        """The newest `task_finished` with this key, recorded since a time in any run but one; None if there is none.

        Imported runs do not count: anyone may have written them.
        """

    def claim(self, run_id: str, holder: Holder) -> None:
        """Take the lease of a stored run; raises `RunHeld` if another live process has it."""

    def renew(self, run_ids: Collection[str], holder: Holder) -> None:
        """Renew leases; raises `LeaseLost` with those that were lost to another process, and renews the others."""

    def request_stop(self, run_id: str, request: StopRequest) -> None:
        """Ask the process that holds a run for something; raises `NotRunning` if no live process does."""

    def stop_requests(self) -> Mapping[str, StopRequest]:
        """The stop requests that have not been met, by run."""

    def delete(self, run_ids: Collection[str]) -> Sequence[str]:
        """Delete runs that are not leased and texts that only they used; returns the ids of those deleted."""

    def status(self) -> StoreStatus:
        """How large it is, and who uses it."""

    def close(self) -> None:
        """Close it."""
