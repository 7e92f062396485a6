"""Connections to a journal's database, one for writing and two for reading, with retries; errors in plain words."""

from __future__ import annotations

import logging
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg
from psycopg import errors as pg

from goalwright_executor.stores.errors import BadStore, StoreFailed
from goalwright_executor.stores.lease import BEAT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from goalwright_executor.stores.postgres.address import Address

Connection = psycopg.Connection[Any]
T = TypeVar("T")

# Seconds to retry while the server cannot be reached: as long as for a model's provider.
PATIENCE = 15 * 60.0
# The longest gap between two answers that counts as no interruption.
_GAP = 2 * BEAT
_READERS = 2
# Seconds after which the server ends an idle transaction: a process that freezes during a commit must not block others.
IDLE = 2 * BEAT
_DEFAULTS: dict[str, Any] = {
    "application_name": "goalwright",
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}


class Connections:
    """The connections of one process, at most three; PostgreSQL's errors become `BadStore` or `StoreFailed`."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.patience = PATIENCE
        self._lock = threading.Lock()
        self._writer: Connection | None = None
        self._readers: list[Connection] = []
        self._reading = threading.BoundedSemaphore(_READERS)
        self._closed = threading.Event()
        self._steady_since = self._answered = float("-inf")
        # psycopg also logs the errors that it raises; without a handler, Python would print them.
        logging.getLogger("psycopg").addHandler(logging.NullHandler())

    @property
    def steady(self) -> float:
        """Seconds for which the server has answered this process without an interruption."""
        return time.monotonic() - self._steady_since if self._steady_since > float("-inf") else 0.0

    def connect(self) -> Connection:
        """Open a connection in autocommit mode."""
        parameters = self.address.parameters
        idle = f"-c idle_in_transaction_session_timeout={int(IDLE * 1000)}"
        options = f"{idle} {parameters.get('options', '')} -c search_path={self.address.schema}"
        return psycopg.connect(**{**_DEFAULTS, **parameters, "options": options}, autocommit=True)

    def write(self, work: Callable[[Connection, bool], T]) -> T:
        """Run `work` on the writing connection; its flag is set on a retry, when a commit may have succeeded."""

        def attempt(again: bool) -> T:
            if self._writer is None or self._writer.closed:
                self._writer = self.connect()
            with _rolled_back(self._writer):
                return work(self._writer, again)

        with self._lock:
            try:
                return self._retry(attempt)
            except psycopg.Error as error:
                raise store_failed(self.address.url, error) from error

    def read(self, work: Callable[[Connection], T]) -> T:
        """Run `work` on a reading connection."""

        def attempt(_: bool) -> T:
            connection = self._readers.pop() if self._readers else self.connect()
            try:
                with _rolled_back(connection):
                    return work(connection)
            finally:
                if self._closed.is_set():
                    connection.close()
                elif not connection.closed:
                    self._readers.append(connection)

        with self._reading:
            try:
                return self._retry(attempt)
            except (psycopg.Error, ValueError) as error:  # ValueError: a stored body is not JSON
                raise bad_store(self.address.url, "read", error) from error

    def pause(self, seconds: float) -> bool:
        """Wait; return whether the store was closed meanwhile."""
        return self._closed.wait(seconds)

    def close(self) -> None:
        """Close all connections."""
        self._closed.set()
        with self._lock:
            for connection in (*self._readers, *((self._writer,) if self._writer else ())):
                with suppress(psycopg.Error):
                    connection.close()
            self._readers.clear()
            self._writer = None

    def _retry(self, attempt: Callable[[bool], T]) -> T:
        began, pause, again = time.monotonic(), 0.05, False
        while True:
            try:
                done = attempt(again)
            except psycopg.Error as error:
                if not isinstance(error, pg.TransactionRollback):  # a conflict is an answer of the server
                    self._answered = float("-inf")
                timed_out = time.monotonic() - began > self.patience  # `patience` may change meanwhile
                if not is_passing(error) or timed_out or self.pause(pause):
                    raise
                again, pause = True, min(pause * 2, 2.0)
            else:
                now = time.monotonic()
                if now - self._answered > _GAP:
                    self._steady_since = now
                self._answered = now
                return done


@contextmanager
def _rolled_back(connection: Connection) -> Iterator[None]:
    """Roll back after an error; a connection that stays in a transaction is closed."""
    try:
        yield
    except BaseException:
        # Outside of the pipeline: a failed pipeline skips its remaining statements, including ROLLBACK.
        with suppress(psycopg.Error):
            connection.rollback()
        if not connection.closed and connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            connection.close()
        raise


# Operational errors of psycopg that a retry does not cure.
_LASTING = (pg.DiskFull, pg.OutOfMemory, pg.QueryCanceled, pg.ConfigurationLimitExceeded)
_PASSING = (psycopg.OperationalError, psycopg.InterfaceError, pg.IdleInTransactionSessionTimeout)


def is_passing(error: Exception) -> bool:
    """Whether a retry may help: the connection broke, the server restarts, or two transactions collided."""
    return isinstance(error, _PASSING) and not isinstance(error, _LASTING)


def bad_store(journal: str, use: str, error: Exception) -> BadStore:
    """Return the error of a journal that cannot be `use`: used or read."""
    reason, remedy = _explained(error)
    return BadStore(f"the journal {journal} cannot be {use}: {reason}", hint=remedy)


def store_failed(journal: str, error: Exception) -> StoreFailed:
    """Return the error of a journal that can no longer be written."""
    reason, remedy = _explained(error)
    return StoreFailed(f"the journal {journal} cannot be written: {reason}", hint=remedy)


def _explained(error: Exception) -> tuple[str, str]:
    """What went wrong, in one line, and what to do about it."""
    lines = str(error).strip().splitlines()
    reason = lines[0] if lines else type(error).__name__
    match error:
        case pg.UniqueViolation():
            reason = "another process has taken over the run and written to it"
            return reason, "leave the run to that process, or resume it later"
        case pg.UndefinedTable() | pg.UndefinedColumn() | pg.UndefinedFunction():
            reason = "its tables have another schema version than this goalwright"
            return reason, "upgrade them with `goalwright journal migrate`"
        case pg.InsufficientPrivilege():
            return reason, "grant its role what docs/postgres.md names, or use another role"
        case pg.DiskFull():
            return reason, "free disk space on the database's server, then continue with goalwright resume"
        case ValueError():
            reason = "it is damaged: a text in it cannot be read"
    reach = "check that the database can be reached with this URL; the password comes from PGPASSWORD or PGPASSFILE"
    return reason, reach
