"""A journal's SQLite file: opened, checked and migrated, written by one connection, read by many."""

from __future__ import annotations

import sqlite3
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from goalwright_executor.stores.errors import BadStore, UnknownRun
from goalwright_executor.stores.sqlite import messages
from goalwright_executor.stores.sqlite.schema import check, migrate, refuse_earlier, show_as_current, transaction
from goalwright_executor.stores.sqlite.statements import MAX_ROWS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

# How long SQLite waits for other processes, in seconds.
_BUSY = 60.0
# Files up to this size are checked for damage when they are opened.
_SMALL = 8 * 2**20


class Database:
    """The open file. One connection writes, under a lock; every read has a connection of its own.

    SQLite's errors become `BadStore` when opening or reading, and `StoreFailed` when writing.
    """

    def __init__(self, path: Path, *, create: bool = True) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._writable = True
        self._indexer: sqlite3.Connection | None = None
        self._watcher: sqlite3.Connection | None = None
        self._watching = threading.Lock()
        if not create and not path.is_file():
            raise UnknownRun(
                f"there is no journal {path}",
                hint="nothing has been run here; use --workspace or --journal to name another",
            )
        try:
            if create:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = self._open(create=create)
        except (sqlite3.Error, OSError, UnicodeDecodeError) as error:
            raise messages.bad_store(path, "used", error) from error

    @contextmanager
    def transaction(self, on_rollback: Callable[[], None]) -> Iterator[sqlite3.Connection]:
        """The writing connection, inside a transaction that is rolled back on any error."""
        with self.writing() as connection:
            try:
                with transaction(connection):
                    yield connection
            except BaseException:
                on_rollback()  # under the lock: the next writer must not see what was undone
                raise

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """The writing connection, for a single statement or a transaction of the caller's own."""
        with self._lock:
            try:
                yield self._connection
            except (sqlite3.Error, OSError) as error:
                raise messages.store_failed(self.path, error) from error

    @contextmanager
    def indexing(self) -> Iterator[sqlite3.Connection]:
        """A transaction that need not be on disk when it ends; those who write wait for it, so it has to be short."""
        with self._lock:
            try:
                if self._indexer is None:
                    self._indexer = self._connect("rw")
                    self._indexer.execute("PRAGMA synchronous = NORMAL")
                with transaction(self._indexer):
                    yield self._indexer
            except (sqlite3.Error, OSError) as error:
                raise messages.store_failed(self.path, error) from error

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection for one read."""
        try:
            connection = self._connect(self._read_mode)
            try:
                yield connection
            finally:
                connection.close()
        except (sqlite3.Error, ValueError) as error:  # ValueError: a stored text is not UTF-8 or not JSON
            raise messages.bad_store(self.path, "read", error) from error

    def changed(self) -> int:
        """SQLite's own count of commits by others, as one connection sees it that is kept for this and never writes."""
        with self._watching:
            try:
                if self._watcher is None:
                    self._watcher = self._connect(self._read_mode)
                return int(self._watcher.execute("PRAGMA data_version").fetchone()[0])
            except sqlite3.Error as error:
                raise messages.bad_store(self.path, "read", error) from error

    def vacuum(self) -> None:
        """Give free space back to the disk, unless another process is reading: then a later call will."""
        with self._lock, suppress(sqlite3.OperationalError):
            self._connection.execute("VACUUM")

    def close(self) -> None:
        """Close it; SQLite folds the write-ahead log into the file."""
        with self._watching, suppress(sqlite3.Error):
            if self._watcher is not None:
                self._watcher.close()
                self._watcher = None
        with self._lock, suppress(sqlite3.Error):
            if self._indexer is not None:
                self._indexer.close()
                self._indexer = None
            self._connection.close()

    @property
    def _read_mode(self) -> str:
        return "rw" if self._writable else "ro&immutable=1"

    def _open(self, *, create: bool) -> sqlite3.Connection:
        mode = "rwc" if create else "rw"
        refuse_earlier(self.path)
        try:
            connection = self._connect(mode)
            check(connection, str(self.path))  # before anything is changed: the file may be another program's
            _enable_wal(connection)
            connection.execute("PRAGMA synchronous = FULL")
            migrate(connection, str(self.path))
        except sqlite3.OperationalError as error:
            if create or ("readonly" not in str(error) and "unable to open" not in str(error)):
                raise
            self._writable = False  # a journal on a read-only disk can still be read
            self._refuse_unread_log(error)
            return self._connect("ro&immutable=1")
        if self.path.stat().st_size < _SMALL:
            (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            if found != "ok":
                raise sqlite3.DatabaseError(f"it is damaged: {found}")
        return connection

    def _refuse_unread_log(self, error: Exception) -> None:
        """Raise if the newest events are in the write-ahead log, which a read-only open does not see."""
        log = self.path.with_name(f"{self.path.name}-wal")
        if log.exists() and log.stat().st_size:
            raise BadStore(
                f"the journal {self.path} cannot be read here: {error}, and its newest events are in {log.name}",
                hint="copy both files to a writable folder, and name the copy with --journal",
            ) from error

    def _connect(self, mode: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{self.path.as_uri()}?mode={mode}",
            uri=True,
            timeout=_BUSY,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=2 * MAX_ROWS,
        )
        if not self._writable:
            show_as_current(connection)
        return connection


def version_of(path: Path) -> int:
    """The version of a file's tables, before anything is changed; 0 if there is no file."""
    if not path.is_file():
        return 0
    refuse_earlier(path)
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    try:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])
    except sqlite3.Error as error:
        raise messages.bad_store(path, "used", error) from error
    finally:
        connection.close()


def _enable_wal(connection: sqlite3.Connection) -> None:
    """Switch to write-ahead logging; if several processes open a new file, SQLite refuses instead of waiting."""
    give_up = time.monotonic() + _BUSY
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > give_up:
                raise
            time.sleep(0.01)
        else:
            return
