"""The store port: what a journal needs from whatever stores its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from executor.stores.lease import Handover, Holder
    from executor.stores.row import Row, RunSummary


class Store(Protocol):
    """Stores rows durably: what `append` was given is on disk when it returns. Failures are `StoreFailed`."""

    @property
    def url(self) -> str:
        """The URL by which it can be opened again."""

    def append(
        self, rows: Sequence[Row], summaries: Mapping[str, RunSummary], handover: Handover | None = None
    ) -> None:
        """Store rows in order, new or changed summaries, and lease changes; all or nothing."""

    def import_runs(self, pieces: Iterable[tuple[Sequence[Row], Mapping[str, RunSummary]]]) -> None:
        """Store whole runs that arrive in pieces, all or nothing; raises `RunExists` if one is already stored."""

    def summaries(self, limit: int | None = None) -> Iterator[RunSummary]:
        """The runs, newest first."""

    def find(self, run: str) -> RunSummary:
        """The run of that id, of the only id that starts with it, or `last`."""

    def rows(self, run_id: str, *, types: Collection[str] = (), task: str | None = None) -> Iterator[Row]:
        """A run's rows in order: all of them, or those of some types or of one task."""

    def rows_of_all(self, types: Collection[str]) -> Iterator[Row]:
        """The rows of some types of every run, run by run."""

    def claim(self, run_id: str, holder: Holder) -> None:
        """Take the lease of a stored run; raises `RunHeld` if another live process has it."""

    def renew(self, run_ids: Collection[str], holder: Holder) -> None:
        """Renew leases; raises if one of them was lost to another process."""

    def delete(self, run_ids: Collection[str]) -> Sequence[str]:
        """Delete runs that are not leased and texts that only they used; returns the ids of those deleted."""

    def close(self) -> None:
        """Close it."""
