"""The journal in one SQLite file: every commit is on disk, and several processes may use it at once."""

from __future__ import annotations

import sqlite3
import time
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from goalwright_executor.capture.json_text import encode
from goalwright_executor.stores import texts
from goalwright_executor.stores.columns import SUMMARY, clean, encoded, index_condition, missing
from goalwright_executor.stores.errors import LeaseLost, NotRunning, RunHeld, StoreFailed, UnknownRun
from goalwright_executor.stores.lease import Holder
from goalwright_executor.stores.row import Row, StoreStatus
from goalwright_executor.stores.run_lists import LIST_RUNS, only_match
from goalwright_executor.stores.sqlite import run_list, search, statements
from goalwright_executor.stores.sqlite.database import Database
from goalwright_executor.stores.sqlite.schema import VERSION
from goalwright_executor.stores.sqlite.statements import (
    MAX_ROWS,
    copy_runs,
    hand_over,
    run_keys,
    write_events,
    write_summaries,
    write_texts,
    written_by_others,
)
from goalwright_executor.stores.urls import url_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from typing import Unpack

    from goalwright_executor.stores.lease import Handover, StopRequest
    from goalwright_executor.stores.row import (
        BatchCount,
        ConversationSummary,
        EncodedRows,
        RunCount,
        RunIndex,
        RunSummary,
    )
    from goalwright_executor.stores.run_lists import CountedBy, RunFilter


class SqliteStore:
    """A journal in a file; `_keys` caches the primary keys of the runs that this process writes."""

    poll_seconds = 0.03

    def __init__(self, path: Path, *, create: bool = True) -> None:
        self.url = url_of(path)
        self._database = Database(path, create=create)
        self._keys: dict[str, int] = {}

    def append(
        self, rows: Sequence[Row] | EncodedRows, summaries: Mapping[str, RunSummary], handover: Handover | None = None
    ) -> None:
        """Store rows, summaries and lease changes in one transaction."""
        written = encoded(rows)  # before the transaction, which other processes may be waiting for
        try:
            self._append(written, summaries, handover)
        except LeaseLost:
            raise
        except StoreFailed as error:
            if not isinstance(error.__cause__, sqlite3.IntegrityError):
                raise
            with self._database.reading() as connection:
                lost = written_by_others(connection, written)
            raise LeaseLost(error.message, lost, error.hint) from error

    def _append(self, rows: EncodedRows, summaries: Mapping[str, RunSummary], handover: Handover | None) -> None:
        runs = set(rows.run_ids)
        # A copy: another thread's rollback may clear the cache before this one gets to write.
        keys = {run_id: key for run_id in runs if (key := self._keys.get(run_id)) is not None}
        events_only = len(rows) <= MAX_ROWS and len(keys) == len(runs) and not rows.texts and not any(rows.keys)
        if events_only and not summaries and not handover:
            with self._database.writing() as connection:  # a single statement is its own transaction
                write_events(connection, rows, keys)
            return
        with self._transaction() as connection:
            write_summaries(connection, summaries.values())
            if handover:
                hand_over(connection, handover)
            self._keys.update(run_keys(connection, list(runs - self._keys.keys())))
            write_texts(connection, rows, self._keys)
            write_events(connection, rows, self._keys)
        for run_id in handover.released if handover else ():
            self._keys.pop(run_id, None)  # it may be pruned now, and its key reused

    def import_runs(self, pieces: Iterable[tuple[Sequence[Row], Mapping[str, RunSummary]]]) -> None:
        """Store whole runs that arrive in pieces; they are gathered in a temporary file, so that others can write."""
        import tempfile  # slow to import and rarely needed

        with tempfile.TemporaryDirectory(prefix="goalwright-runs-") as folder:
            path = Path(folder).resolve() / "runs.sqlite"
            gathered = SqliteStore(path)
            try:
                for rows, summaries in pieces:
                    gathered.append(rows, summaries)
            finally:
                gathered.close()
            with self._database.writing() as connection:
                copy_runs(connection, path)

    def summaries(self, most: int | None = None, **wanted: Unpack[RunFilter]) -> Iterator[RunSummary]:
        """The runs, newest first; a run whose process died is interrupted."""
        with self._database.reading() as connection:
            yield from islice(run_list.summaries(connection, **wanted), most)

    def unindexed(self, most: int, run_ids: Collection[str] = ()) -> list[tuple[RunSummary, int]]:
        """Unleased runs that are not indexed or have changed since, each with the number of its last event."""
        with self._database.reading() as connection:
            rows = search.unindexed(connection, most, run_ids)
        return [(run_list.summary(row[:-1]), row[-1] or 0) for row in rows if not run_list.is_leased(*row[-3:-1])]

    def index(self, runs: Sequence[RunIndex]) -> None:
        """Index runs."""
        with self._database.indexing() as connection:
            search.write(connection, runs)

    def counts(self, by: CountedBy, since: str) -> Iterator[RunCount]:
        """Count the runs that started since a time."""
        with self._database.reading() as connection:
            yield from run_list.counts(connection, by, since)

    def times(self, since: str) -> Iterator[tuple[str, float]]:
        """The day and duration of each finished run since a time."""
        with self._database.reading() as connection:
            yield from run_list.times(connection, since)

    def batches(self) -> Iterator[BatchCount]:
        """Count the runs of each batch by status."""
        with self._database.reading() as connection:
            yield from run_list.batches(connection)

    def conversations(self, most: int | None = None, conversation: str | None = None) -> Iterator[ConversationSummary]:
        """The conversations, newest turn first, or only one."""
        with self._database.reading() as connection:
            yield from islice(run_list.conversations(connection, conversation), most)

    def find(self, run: str) -> RunSummary:
        """Return the run with that id or unique prefix, or for `last` the newest that was not imported, if any."""
        select, name = f"SELECT {SUMMARY}, holder, beat FROM runs", clean(run)  # noqa: S608 - no input
        # Uses the index: ids compare by bytes, and no text sorts after this character.
        longer = f"{select} WHERE run_id > ? AND run_id < ? || char(0x10FFFF) ORDER BY run_id DESC LIMIT 5"
        with self._database.reading() as connection:
            if run != "last":
                query = f"{select} WHERE run_id = ? UNION ALL SELECT * FROM ({longer})"  # noqa: S608
                rows = connection.execute(query, [name, name, name]).fetchall()
            else:
                newest = "ORDER BY run_id DESC LIMIT 1"
                rows = connection.execute(f"{select} WHERE NOT imported {newest}").fetchall()
                rows = rows or connection.execute(f"{select} {newest}").fetchall()
        return run_list.summary(only_match(run, rows, self._database.path))

    def rows(
        self, run_id: str, *, types: Collection[str] = (), task: str | None = None, after: int = 0
    ) -> Iterator[Row]:
        """A run's rows in order."""
        clauses, values = ["r.run_id = ?"], list[str | int]([run_id])
        if after:
            clauses.append("e.seq > ?")
            values.append(after)
        if types:
            clauses.append(f"e.type IN ({', '.join('?' * len(types))})")
            values += types
        if task is not None:  # without a column, which would be written far more often than read
            clauses.append("instr(e.body, ?)")
            values.append(encode({"task": task})[1:-1])
        rows = self._rows(" AND ".join(clauses) + " ORDER BY e.seq", values)
        yield from (row for row in rows if task is None or row.body.get("task") == task)

    def rows_of_all(self, types: Collection[str]) -> Iterator[Row]:
        """The rows of some types of every run."""
        marks = ", ".join("?" * len(types))
        yield from self._rows(f"{index_condition(types)}e.type IN ({marks}) ORDER BY e.run, e.seq", list(types))

    def last_event(self, run_id: str) -> int:
        """The number of a run's last event."""
        last = "SELECT max(e.seq) FROM events e JOIN runs r ON r.id = e.run WHERE r.run_id = ?"
        with self._database.reading() as connection:
            return int(connection.execute(last, (run_id,)).fetchone()[0] or 0)

    def changed(self) -> int:
        """Return SQLite's count of commits by other connections."""
        return self._database.changed()

    def result(self, key: str, since: str, *, apart_from: str) -> Row | None:
        """The newest result with this key from another run that was not imported."""
        clause = (
            "(e.run, e.seq) IN (SELECT run, seq FROM results WHERE key = ?) AND e.at >= ? AND r.run_id <> ? "
            "AND NOT r.imported ORDER BY e.at DESC LIMIT 1"
        )
        return next(self._rows(clause, [key, since, apart_from]), None)

    def claim(self, run_id: str, holder: Holder) -> None:
        """Take the lease of a run; the lease of a dead holder is taken over at once."""
        with self._transaction() as connection:
            lease = connection.execute("SELECT holder, beat FROM runs WHERE run_id = ?", (run_id,)).fetchone()
            if lease is None:
                raise UnknownRun(
                    f"run {run_id!r} is no longer in {self._database.path}", hint="it was pruned; run its goal again"
                )
            if run_list.is_leased(*lease):
                raise RunHeld(
                    f"run {run_id} is in use by {Holder.from_json(lease[0])}",
                    hint="wait until that process ends, or stop it first",
                )
            mark = (holder.to_json(), time.time(), run_id)
            connection.execute("UPDATE runs SET holder = ?, beat = ?, stop_request = NULL WHERE run_id = ?", mark)

    def renew(self, run_ids: Collection[str], holder: Holder) -> None:
        """Renew leases; raises `LeaseLost` with the runs that another process took over."""
        name, lost = holder.to_json(), []
        with self._transaction() as connection:
            for run_id in run_ids:
                mark = (time.time(), run_id, name)
                changed = connection.execute("UPDATE runs SET beat = ? WHERE run_id = ? AND holder = ?", mark)
                if not changed.rowcount:
                    lost.append(run_id)
        if lost:
            raise LeaseLost(f"another process has taken over run {', '.join(lost)}", lost)

    def request_stop(self, run_id: str, request: StopRequest) -> None:
        """Store a stop request for the process that holds a run."""
        with self._transaction() as connection:
            lease = connection.execute("SELECT holder, beat FROM runs WHERE run_id = ?", (run_id,)).fetchone()
            if lease is None:
                raise UnknownRun(f"there is no run {run_id!r} in {self._database.path}", hint=LIST_RUNS)
            if not run_list.is_leased(*lease):
                raise NotRunning(
                    f"run {run_id} is not running", hint="resume it with `goalwright resume`, if it is not done"
                )
            connection.execute("UPDATE runs SET stop_request = ? WHERE run_id = ?", (request, run_id))

    def stop_requests(self) -> dict[str, StopRequest]:
        """The pending stop requests by run."""
        with self._database.reading() as connection:
            return dict(
                connection.execute("SELECT run_id, stop_request FROM runs WHERE stop_request IS NOT NULL").fetchall()
            )

    def delete(self, run_ids: Collection[str]) -> list[str]:
        """Delete runs that are not leased and texts that only they used; returns the deleted ids."""
        run_ids, deleted = list(run_ids), list[str]()
        pause = statements.PAUSE if self._is_in_use() else 0.0
        for offset in range(0, len(run_ids), statements.DELETED_RUNS):
            with self._transaction() as connection:
                gone = statements.delete_runs(connection, run_ids[offset : offset + statements.DELETED_RUNS])
            for run_id in gone:
                self._keys.pop(run_id, None)
            deleted += gone
            time.sleep(pause)
        if deleted:
            self._delete_unused_texts(pause)
            if not self._is_in_use():  # takes as long as copying the file and blocks writers
                self._database.vacuum()
        return deleted

    def _delete_unused_texts(self, pause: float) -> None:
        with self._database.reading() as connection:
            unused = statements.unused_texts(connection)
        for offset in range(0, len(unused), statements.DELETED_TEXTS):
            with self._transaction() as connection:
                statements.delete_texts(connection, unused[offset : offset + statements.DELETED_TEXTS])
            time.sleep(pause)

    def _is_in_use(self) -> bool:
        with self._database.reading() as connection:
            return statements.is_in_use(connection)

    def status(self) -> StoreStatus:
        """The size of the file and the number of its runs."""
        with self._database.reading() as connection:
            runs, oldest = connection.execute("SELECT count(*), min(started) FROM runs").fetchone()
            running = sum(1 for _ in run_list.summaries(connection, status=("running",)))
            (size,) = connection.execute(
                "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
            ).fetchone()
            (schema,) = connection.execute("PRAGMA user_version").fetchone()
        return StoreStatus(self.url, "sqlite", schema, VERSION, runs, running, oldest, size)

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def _transaction(self) -> AbstractContextManager[sqlite3.Connection]:
        return self._database.transaction(on_rollback=self._keys.clear)  # some may be keys of new runs

    def _rows(self, clause: str, values: Sequence[str | int]) -> Iterator[Row]:
        with self._database.reading() as connection:
            reader = connection.cursor()

            def text_of(sha: str) -> str:
                text = reader.execute("SELECT text FROM texts WHERE sha = ?", (sha,)).fetchone()
                return str(text[0]) if text else missing(sha)

            joined = f"events e JOIN runs r ON r.id = e.run WHERE {clause}"
            query = f"SELECT r.run_id, e.seq, e.at, e.type, e.body FROM {joined}"  # noqa: S608
            for run_id, seq, at, kind, body in connection.execute(query, values):
                yield Row(run_id, seq, at, kind, texts.read(body, text_of))
