"""The port of storage: what a journal asks of whoever keeps it, and how a URL names one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote, unquote

from skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from executor.journal.lease import Handover, Holder
    from executor.journal.row import Row, Summary


class Store(Protocol):
    """Keeps rows. What `append` was given is on disk when it returns. Failures are `StoreFailed`."""

    @property
    def url(self) -> str:
        """The name by which it is opened again."""

    def append(self, rows: Sequence[Row], summaries: Mapping[str, Summary], handover: Handover | None = None) -> None:
        """Keep rows, in order, and each run's line as it stands, and change hands of runs; all or nothing."""

    def take_in(self, pieces: Iterable[tuple[Sequence[Row], Mapping[str, Summary]]]) -> None:
        """Keep whole runs that come in pieces, all or nothing; raises `RunThere` where one of them is kept already."""

    def summaries(self, most: int | None = None) -> Iterator[Summary]:
        """The runs, newest first."""

    def find(self, run: str) -> Summary:
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


def url_of(path: Path) -> str:
    """The URL of a SQLite store in a file: three slashes, then the path."""
    return f"sqlite:///{quote(path.absolute().as_posix(), safe='/:+@,=~ ')}"


def normal(url: str, base: Path) -> str:
    """A URL as it is shown and opened: a bare path counts as a SQLite file, a relative one begins at `base`."""
    if "://" not in url:
        return url_of(base / Path(url).expanduser())
    return url_of(_path(url, base)) if url.startswith("sqlite:") else url


def _path(url: str, base: Path) -> Path:
    """The file that a SQLite URL names. Two slashes and an absolute path, as other URLs have it, are understood too."""
    rest = unquote(url.removeprefix("sqlite:").removeprefix("//").removeprefix("/"))
    absolute = Path("/" + rest.lstrip("/"))
    is_one = rest.startswith("/") or (len(absolute.parts) > 2 and absolute.parent.is_dir())
    return absolute if is_one else base / rest


def open_store(url: str, *, create: bool = True) -> Store:
    """The store that a URL names; without `create` it must be there already."""
    kind = url.partition(":")[0]
    if kind != "sqlite":
        raise InputError(f"the journal is of an unknown kind {kind!r}", hint="use sqlite:///path/to/journal.sqlite")
    from executor.journal.sqlite import SqliteStore

    return SqliteStore(_path(url, Path.cwd()), create=create)
