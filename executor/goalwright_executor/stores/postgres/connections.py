"""Connections to a journal's database: one writes, two read, and what breaks is repaired and repeated."""

from __future__ import annotations

import logging
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg

from goalwright_executor.stores.lease import BEAT
from goalwright_executor.stores.postgres import messages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from goalwright_executor.stores.postgres.address import Address

Connection = psycopg.Connection[Any]
T = TypeVar("T")

# How long a server that restarts or cannot be reached is waited for, in seconds: as long as for a model's provider.
PATIENCE = 15 * 60.0
# The longest silence after which the server still counts as having answered without a break.
_GAP = 2 * BEAT
_READERS = 2
# A process that is frozen in the middle of a commit would keep others from its runs, and from texts that it writes:
# after so many seconds the server ends its transaction.
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
        # psycopg says there what it also raises; without a handler, Python would print it.
        logging.getLogger("psycopg").addHandler(logging.NullHandler())

    @property
    def steady(self) -> float:
        """For how many seconds the server has answered this process without a break."""
        return time.monotonic() - self._steady_since if self._steady_since > float("-inf") else 0.0

    def connect(self) -> Connection:
        """A new connection, on which every statement is a transaction unless it begins one."""
        given = self.address.parameters
        idle = f"-c idle_in_transaction_session_timeout={int(IDLE * 1000)}"
        options = f"{idle} {given.get('options', '')} -c search_path={self.address.schema}"
        return psycopg.connect(**{**_DEFAULTS, **given, "options": options}, autocommit=True)

    def write(self, work: Callable[[Connection, bool], T]) -> T:
        """Do it with the connection that writes; the flag says that it may have been done before, and cut off."""

        def attempt(again: bool) -> T:
            if self._writer is None or self._writer.closed:
                self._writer = self.connect()
            with _tidied(self._writer):
                return work(self._writer, again)

        with self._lock:
            try:
                return self._patiently(attempt)
            except psycopg.Error as error:
                raise messages.store_failed(self.address.url, error) from error

    def read(self, work: Callable[[Connection], T]) -> T:
        """Do it with a connection that reads."""

        def attempt(_: bool) -> T:
            connection = self._readers.pop() if self._readers else self.connect()
            try:
                with _tidied(connection):
                    return work(connection)
            finally:
                if self._closed.is_set():
                    connection.close()
                elif not connection.closed:
                    self._readers.append(connection)

        with self._reading:
            try:
                return self._patiently(attempt)
            except (psycopg.Error, ValueError) as error:  # ValueError: a stored body is not JSON
                raise messages.bad_store(self.address.url, "read", error) from error

    def pause(self, seconds: float) -> bool:
        """Wait; whether the store was closed meanwhile."""
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

    def _patiently(self, attempt: Callable[[bool], T]) -> T:
        began, pause, again = time.monotonic(), 0.05, False
        while True:
            try:
                done = attempt(again)
            except psycopg.Error as error:
                collided = isinstance(error, psycopg.errors.TransactionRollback)
                if not collided:
                    self._answered = float("-inf")
                tired = time.monotonic() - began > self.patience  # which may change meanwhile
                if not messages.is_passing(error) or tired or self.pause(pause):
                    raise
                again, pause = True, min(pause * 2, 2.0)
            else:
                now = time.monotonic()
                if now - self._answered > _GAP:
                    self._steady_since = now
                self._answered = now
                return done


@contextmanager
def _tidied(connection: Connection) -> Iterator[None]:
    """Leave no transaction open after an error; a connection that cannot be cleared is closed."""
    try:
        yield
    except BaseException:
        # Outside of a pipeline: one that failed passes over whatever follows in it, ROLLBACK too.
        with suppress(psycopg.Error):
            connection.rollback()
        if not connection.closed and connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            connection.close()
        raise
