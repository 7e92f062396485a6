"""A journal's SQLite file: opening, checking and locking it, and SQLite's errors in plain words."""

from __future__ import annotations

import sqlite3
import sys
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from goalwright_executor.stores.errors import BadStore, NoJournal, NotAJournal, StoreFailed
from goalwright_executor.stores.sqlite.schema import check, migrate, transaction
from goalwright_executor.stores.sqlite.statements import MAX_ROWS
from goalwright_skills import untrusted_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

# Seconds that SQLite waits for other processes.
_BUSY = 60.0
# The largest file that is checked for damage when it is opened.
_SMALL = 8 * 2**20


class _Damaged(sqlite3.DatabaseError):
    """SQLite's check found damage."""


class Database:
    """The open file. One connection writes, under a lock; each read opens its own.

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
            raise NoJournal(str(path))
        try:
            if create:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = self._open(create=create)
        except (sqlite3.Error, OSError, UnicodeDecodeError) as error:
            raise _bad_store(path, "used", error) from error

    @contextmanager
    def transaction(self, on_rollback: Callable[[], None]) -> Iterator[sqlite3.Connection]:
        """Yield the writing connection in a transaction that is rolled back on any error."""
        with self.writing() as connection:
            try:
                with transaction(connection):
                    yield connection
            except BaseException:
                on_rollback()  # under the lock: the next writer must not see reverted changes
                raise

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Yield the writing connection for one statement or for a transaction of the caller."""
        with self._lock:
            try:
                yield self._connection
            except (sqlite3.Error, OSError) as error:
                raise _store_failed(self.path, error) from error

    @contextmanager
    def indexing(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection in a transaction without fsync; writers wait for it, so it must be short."""
        with self._lock:
            try:
                if self._indexer is None:
                    self._indexer = self._connect("rw")
                    self._indexer.execute("PRAGMA synchronous = NORMAL")
                with transaction(self._indexer):
                    yield self._indexer
            except (sqlite3.Error, OSError) as error:
                raise _store_failed(self.path, error) from error

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection for one read."""
        try:
            connection = self._connect(self._read_mode)
            try:
                yield connection
            finally:
                connection.close()
        except (sqlite3.Error, ValueError) as error:  # ValueError: a stored text is not UTF-8 or not JSON
            raise _bad_store(self.path, "read", error) from error

    def changed(self) -> int:
        """Return SQLite's count of commits by other connections, read on a connection that never writes."""
        with self._watching:
            try:
                if self._watcher is None:
                    self._watcher = self._connect(self._read_mode)
                return int(self._watcher.execute("PRAGMA data_version").fetchone()[0])
            except sqlite3.Error as error:
                raise _bad_store(self.path, "read", error) from error

    def vacuum(self) -> None:
        """Return free space to the disk; does nothing while another process is reading."""
        with self._lock, suppress(sqlite3.OperationalError):
            self._connection.execute("VACUUM")

    def close(self) -> None:
        """Close the connections; SQLite merges the write-ahead log into the file."""
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
        _check_regular(self.path)
        try:
            connection = self._connect(mode)
            check(connection, str(self.path))  # before any change: the file may belong to another program
            _enable_wal(connection)
            connection.execute("PRAGMA synchronous = FULL")
            migrate(connection, str(self.path))
        except sqlite3.OperationalError as error:
            if create or ("readonly" not in str(error) and "unable to open" not in str(error)):
                raise
            self._writable = False  # a journal on a read-only disk can be read
            self._refuse_unread_log(error)
            return self._connect("ro&immutable=1")
        if self.path.stat().st_size < _SMALL:
            (damage,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            if damage != "ok":
                raise _Damaged(f"it is damaged: {damage}")
        return connection

    def _refuse_unread_log(self, error: Exception) -> None:
        """Raise if the newest events are in the write-ahead log, which is not read from a read-only disk."""
        log = self.path.with_name(f"{self.path.name}-wal")
        if log.exists() and log.stat().st_size:
            raise BadStore(
                f"the journal {self.path} cannot be read here: {error}, and its newest events are in {log.name}",
                hint="copy both files to a writable folder, and name that copy as another journal",
                journal=str(self.path),
            ) from error

    def _connect(self, mode: str) -> sqlite3.Connection:
        return sqlite3.connect(
            f"{self.path.as_uri()}?mode={mode}",
            uri=True,
            timeout=_BUSY,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=2 * MAX_ROWS,
        )


def _check_regular(path: Path) -> None:
    """Raise if a path is a folder or a device; the file is not opened.

    Closing a file drops all POSIX locks of the process on it, including those of its open SQLite connections, and then
    the next process that closes the journal would discard their newest events. Only SQLite may open a journal.
    """
    with suppress(FileNotFoundError):
        untrusted_files.check_regular(path, sys.maxsize)


def version_of(path: Path) -> int:
    """Return the schema version of a file without changing it; 0 if there is no file."""
    if not path.is_file():
        return 0
    _check_regular(path)
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    try:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])
    except sqlite3.Error as error:
        raise _bad_store(path, "used", error) from error
    finally:
        connection.close()


def _enable_wal(connection: sqlite3.Connection) -> None:
    """Switch to write-ahead logging; SQLite refuses instead of waiting if several processes open a new file."""
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


def _bad_store(path: Path, use: str, error: Exception) -> BadStore:
    """Return the error of a journal that cannot be `use`: used or read."""
    message = f"the journal {path} cannot be {use}: {_explained(error)}"
    kind = NotAJournal if _code(error) == sqlite3.SQLITE_NOTADB else BadStore
    return kind(message, hint=_remedy(error), journal="" if _is_locked(error) else str(path))


def _store_failed(path: Path, error: Exception) -> StoreFailed:
    """Return the error of a journal that can no longer be written."""
    message = f"the journal {path} cannot be written: {_explained(error)}"
    names_other = not (_is_locked(error) or _is_taken_over(error))
    return StoreFailed(message, hint=_remedy(error), journal=str(path) if names_other else "")


def _explained(error: Exception) -> str:
    if _is_unreadable(error):
        return "it is damaged: a text in it cannot be read"  # the text is not quoted
    if _is_taken_over(error):
        return "another process has taken over the run and written to it"
    return str((isinstance(error, OSError) and error.strerror) or error)


def _remedy(error: Exception) -> str:
    if _is_taken_over(error):
        return "leave the run to that process, or resume it later"
    if _is_locked(error):
        return "another process keeps it locked: wait for it to end, then continue with goalwright resume"
    damaged = isinstance(error, _Damaged) or _code(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
    if damaged or _is_unreadable(error):
        return "move the file away (its runs cannot be resumed), or name another journal"
    return "free disk space or fix the folder, or name another journal"


def _code(error: Exception) -> int:
    """SQLite's primary result code; 0 for other errors."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _is_unreadable(error: Exception) -> bool:
    return isinstance(error, ValueError) or "Could not decode" in str(error)


def _is_taken_over(error: Exception) -> bool:
    return isinstance(error, sqlite3.IntegrityError)


def _is_locked(error: Exception) -> bool:
    return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
