"""The journal in a PostgreSQL database: every commit is on disk, and many machines may use it at once."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import psycopg

from goalwright_executor.stores.columns import encoded, index_condition
from goalwright_executor.stores.errors import LeaseLost, RunExists, RunHeld
from goalwright_executor.stores.postgres import leases, retention, run_list, schema, search
from goalwright_executor.stores.postgres.address import address_of
from goalwright_executor.stores.postgres.connections import Connections, bad_store, store_failed
from goalwright_executor.stores.postgres.statements import Append, WriteCache
from goalwright_executor.stores.row import StoreStatus
from goalwright_skills.errors import GoalwrightError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Unpack

    from goalwright_executor.stores.lease import Handover, Holder, StopRequest
    from goalwright_executor.stores.postgres.connections import Connection
    from goalwright_executor.stores.row import (
        BatchCount,
        ConversationSummary,
        EncodedRows,
        Row,
        RunCount,
        RunIndex,
        RunSummary,
    )
    from goalwright_executor.stores.run_lists import CountedBy, RunFilter


class PostgresStore:
    """A journal in a database; interrupted commits are retried without loss or duplicates."""

    poll_seconds = 0.5

    def __init__(self, url: str, *, create: bool = True) -> None:
        address = address_of(url)
        self.url = address.url
        self._connections = Connections(address)
        self._known = WriteCache()
        self._partition = 0
        self._beaten: set[Holder] = set()
        try:
            with self._connections.connect() as connection:
                schema.check(connection, address, create=create)
        except psycopg.Error as error:
            raise bad_store(self.url, "used", error) from error

    def append(
        self, rows: Sequence[Row] | EncodedRows, summaries: Mapping[str, RunSummary], handover: Handover | None = None
    ) -> None:
        """Store rows, summaries and lease changes in one transaction, in two round trips."""
        commit = Append(encoded(rows), summaries, handover)
        keys = self._connections.write(lambda connection, again: self._commit(connection, commit, again=again))
        self._known.note(keys, set(commit.rows.run_ids), commit.texts())
        for run_id in handover.released if handover else ():
            self._known.keys.pop(run_id, None)
        if handover and handover.taken:
            self._beaten.add(handover.holder)
        ahead = (max(keys.values(), default=0) + schema.PARTITION // 2) // schema.PARTITION
        if ahead > self._partition:  # long before the first run needs it
            self._connections.write(lambda connection, _: _add_partition(connection, ahead))
            self._partition = ahead

    def import_runs(self, pieces: Iterable[tuple[Sequence[Row], Mapping[str, RunSummary]]]) -> None:
        """Store whole runs that arrive in pieces, in one transaction on a connection of its own."""
        seen: set[str] = set()
        try:
            with self._connections.connect() as connection, connection.transaction():
                connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")  # reading a piece may be slow
                for rows, summaries in pieces:
                    new = sorted(set(summaries) - seen)
                    duplicates = connection.execute("SELECT run_id FROM runs WHERE run_id = ANY(%s) LIMIT 1", (new,))
                    if (duplicate := duplicates.fetchone()) is not None:
                        raise RunExists(duplicate[0])
                    seen.update(new)
                    Append(encoded(rows), summaries, None).write(connection)
                connection.execute("UPDATE runs SET imported = TRUE WHERE run_id = ANY(%s)", (sorted(seen),))
        except psycopg.Error as error:
            raise store_failed(self.url, error) from error

    def summaries(self, most: int | None = None, **wanted: Unpack[RunFilter]) -> Iterator[RunSummary]:
        """The runs, newest first; a run whose process died is interrupted."""
        return run_list.summaries(self._connections, most, **wanted)

    def unindexed(self, most: int, run_ids: Collection[str] = ()) -> list[tuple[RunSummary, int]]:
        """Unleased runs that are not indexed or have changed since, each with the number of its last event."""
        rows = self._connections.read(lambda connection: search.unindexed(connection, most, run_ids))
        return [(run_list.summary(row[:-1]), row[-1] or 0) for row in rows if not leases.is_leased(*row[-3:-1])]

    def index(self, runs: Sequence[RunIndex]) -> None:
        """Index runs."""

        def attempt(connection: Connection, _: bool) -> None:
            with connection.transaction():
                connection.execute("SET LOCAL synchronous_commit = off")  # the index can be rebuilt
                search.write(connection, runs)

        self._connections.write(attempt)

    def counts(self, by: CountedBy, since: str) -> Iterator[RunCount]:
        """Count the runs that started since a time."""
        return iter(run_list.counts(self._connections, by, since))

    def times(self, since: str) -> Iterator[tuple[str, float]]:
        """The day and duration of each finished run since a time."""
        return ((day, seconds) for day, seconds in run_list.times(self._connections, since))

    def batches(self) -> Iterator[BatchCount]:
        """Count the runs of each batch by status."""
        return iter(run_list.batches(self._connections))

    def conversations(self, most: int | None = None, conversation: str | None = None) -> Iterator[ConversationSummary]:
        """The conversations, newest turn first, or only one."""
        return run_list.conversations(self._connections, most, conversation)

    def find(self, run: str) -> RunSummary:
        """Return the run with that id or unique prefix, or the newest run for `last`."""
        return run_list.find(self._connections, run)

    def rows(
        self, run_id: str, *, types: Collection[str] = (), task: str | None = None, after: int = 0
    ) -> Iterator[Row]:
        """A run's rows in order."""
        clauses, values = ["r.run_id = %(run_id)s"], dict[str, Any](run_id=run_id)
        if after:
            clauses.append("e.seq > %(after)s")
            values["after"] = after
        if types:
            clauses.append("e.type = ANY(%(types)s)")
            values["types"] = list(types)
        if task is not None:
            clauses.append("e.task = %(task)s")
            values["task"] = task
        return run_list.rows(self._connections, " AND ".join(clauses), values)

    def rows_of_all(self, types: Collection[str]) -> Iterator[Row]:
        """The rows of some types of every run."""
        clause = f"{index_condition(types)}e.type = ANY(%(types)s)"
        return run_list.rows(self._connections, clause, {"types": list(types)})

    def last_event(self, run_id: str) -> int:
        """The number of a run's last event."""
        last = "SELECT max(e.seq) FROM events e JOIN runs r ON r.id = e.run WHERE r.run_id = %s"
        row = self._connections.read(lambda connection: connection.execute(last, (run_id,)).fetchone())
        return int(row[0] or 0) if row else 0

    def changed(self) -> int:
        """Return a hash of the server's snapshot, which changes when a writing transaction begins or ends."""
        snapshot = "SELECT pg_current_snapshot()::text"
        return hash(self._connections.read(lambda connection: connection.execute(snapshot).fetchone()))

    def result(self, key: str, since: str, *, apart_from: str) -> Row | None:
        """The newest result with this key from another run that was not imported."""
        clause = (
            "WHERE e.key IS NOT NULL AND e.key = %(key)s AND e.at >= %(since)s AND r.run_id <> %(run_id)s "
            "AND NOT r.imported ORDER BY e.at DESC LIMIT 1"
        )
        return run_list.first_row(self._connections, clause, {"key": key, "since": since, "run_id": apart_from})

    def claim(self, run_id: str, holder: Holder) -> None:
        """Take the lease of a run; waits until this process can know that a silent holder elsewhere is dead."""

        def attempt(connection: Connection, again: bool) -> tuple[int, float]:
            return leases.claim(connection, run_id, holder, self._connections.steady, again=again)

        key, pause = self._connections.write(attempt)
        while pause:
            if self._connections.pause(min(pause, 1.0)):
                raise RunHeld(f"run {run_id} may still be in use on another machine", hint="try again in a minute")
            key, pause = self._connections.write(attempt)
        self._beaten.add(holder)
        self._known.note({run_id: key})

    def renew(self, run_ids: Collection[str], holder: Holder) -> None:
        """Send this process's heartbeat; raises `LeaseLost` with the runs that another process took over."""
        self._connections.write(lambda connection, _: leases.renew(connection, run_ids, holder))
        self._beaten.add(holder)

    def request_stop(self, run_id: str, request: StopRequest) -> None:
        """Store a stop request for the process that holds a run."""
        self._connections.write(lambda connection, _: leases.request_stop(connection, run_id, request))

    def stop_requests(self) -> dict[str, StopRequest]:
        """The pending stop requests by run."""
        requests = "SELECT run_id, stop_request FROM runs WHERE stop_request IS NOT NULL"
        return dict(self._connections.read(lambda connection: connection.execute(requests).fetchall()))

    def delete(self, run_ids: Collection[str]) -> list[str]:
        """Delete runs that are not leased; their texts stay until all runs of their era are deleted."""
        names, deleted = list(run_ids), dict[str, int]()
        whole = self._connections.read(lambda connection: retention.whole_partitions(connection, names))
        for offset in range(0, len(names), retention.CHUNK):
            chunk = names[offset : offset + retention.CHUNK]

            def attempt(connection: Connection, _: bool, chunk: Sequence[str] = chunk) -> None:
                retention.delete_runs(connection, chunk, whole, self._connections.steady, deleted)

            self._connections.write(attempt)
        for run_id in deleted:
            self._known.keys.pop(run_id, None)
        if deleted:
            self._connections.write(lambda connection, _: retention.clean(connection))
        return [run_id for run_id in names if run_id in deleted]

    def status(self) -> StoreStatus:
        """The size of the database and the number of its runs and live workers."""
        return self._connections.read(
            lambda connection: _status(connection, self.url, self._connections.address.schema)
        )

    def close(self) -> None:
        """Close the connections and delete this worker's heartbeat."""
        if self._beaten:
            self._connections.patience = 0.0
            names = [holder.to_json() for holder in self._beaten]
            gone = "DELETE FROM workers w WHERE id = ANY(%s) AND NOT EXISTS (SELECT 1 FROM runs WHERE holder = w.id)"
            with suppress(GoalwrightError):
                self._connections.write(lambda connection, _: connection.execute(gone, (names,)).rowcount)
        self._connections.close()

    def _commit(self, connection: Connection, commit: Append, *, again: bool) -> dict[str, int]:
        if again and commit.is_there(connection):
            return {}
        try:
            return commit.send(connection, self._known, again=again)
        except psycopg.errors.CheckViolation:  # a new run has no partition
            connection.rollback()
            (last,) = connection.execute("SELECT last_value FROM runs_id_seq").fetchone() or (0,)
            _add_partition(connection, last // schema.PARTITION)
            _add_partition(connection, last // schema.PARTITION + 1)
            return commit.send(connection, self._known, again=again)
        except LeaseLost:
            connection.rollback()
            if again and commit.is_there(connection):  # this commit itself has released the run
                return {}
            raise
        except psycopg.errors.UniqueViolation as error:
            connection.rollback()
            failed = store_failed(self.url, error)
            raise LeaseLost(failed.message, commit.runs_written_elsewhere(connection), failed.hint) from error


def migrate(url: str) -> tuple[int, int]:
    """Migrate the tables of a journal to this version; returns the version before and after."""
    address = address_of(url)
    try:
        with Connections(address).connect() as connection:
            return schema.migrate(connection, address)
    except psycopg.Error as error:
        raise bad_store(address.url, "used", error) from error


def _add_partition(connection: Connection, number: int) -> None:
    connection.execute("SELECT add_partition(%s)", (number,))


def _status(connection: Connection, url: str, name: str) -> StoreStatus:
    row = connection.execute(
        "SELECT (SELECT max(version) FROM goalwright_version), (SELECT count(*) FROM runs), "
        "(SELECT min(started) FROM runs), "
        "(SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c "
        "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relkind = 'r')",
        (name,),
    ).fetchone()
    assert row is not None  # noqa: S101 - it has no FROM, so there is one
    version, runs, oldest, size = row
    held = connection.execute(
        f"SELECT r.holder, {leases.AGE} FROM {leases.JOINED} WHERE r.status = 'running'"  # noqa: S608
    ).fetchall()
    beats = connection.execute(f"SELECT w.id, {leases.AGE} FROM workers w").fetchall()  # noqa: S608
    running, workers = (sum(leases.is_leased(*lease) for lease in found) for found in (held, beats))
    parts = len(retention.partitions(connection))
    return StoreStatus(url, "postgresql", version, schema.VERSION, runs, running, oldest, size, parts, workers)
