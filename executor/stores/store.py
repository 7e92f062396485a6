"""The port of storage: what a journal asks of whoever keeps it, and how a URL names one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from executor.stores.lease import Handover, Holder
    from executor.stores.row import Row, RunSummary


class Store(Protocol):
    """Keeps rows. What `append` was given is on disk when it returns. Failures are `StoreFailed`."""

    @property
    def url(self) -> str:
        """The name by which it is opened again."""

    def append(
        self, rows: Sequence[Row], summaries: Mapping[str, RunSummary], handover: Handover | None = None
    ) -> None:
        """Keep rows, in order, and each run's line as it stands, and change hands of runs; all or nothing."""

    def take_in(self, pieces: Iterable[tuple[Sequence[Row], Mapping[str, RunSummary]]]) -> None:
        """Keep whole runs that come in pieces, all or nothing; raises `RunThere` where one of them is kept already."""

    def summaries(self, most: int | None = None) -> Iterator[RunSummary]:
        """The runs, newest first."""

    def find(self, run: str) -> RunSummary:
        """The run of that id, of the only id that begins so, or `last`."""

    def rows(self, run_id: str, *, types: Collection[str] = (), task: str | None = None) -> Iterator[Row]:
        """A run's rows in order: all, or those of some types, or those that concern a task."""

    def rows_of_all(self, types: Collection[str]) -> Iterator[Row]:
        """The rows of some types of every run, run by run."""

    def claim(self, run_id: str, holder: Holder) -> None:
        """Take a run that was made before for a process; raises `RunHeld` where another that still lives has it."""

    def renew(self, run_ids: Collection[str], holder: Holder) -> None:
        """Say that the holder still lives; raises where it lost a run to another."""

    def delete(self, run_ids: Collection[str]) -> Sequence[str]:
        """Forget runs, and the texts that only they had, save those that a process is at; gives those forgotten."""

    def close(self) -> None:
        """Close it."""
