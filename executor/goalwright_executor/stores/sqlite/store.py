"""The journal in one SQLite file: every commit is on disk, several processes may use it at once."""

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
from goalwright_executor.stores.sqlite import retention, run_import, run_list, search
from goalwright_executor.stores.sqlite.database import Database
from goalwright_executor.stores.sqlite.schema import VERSION
from goalwright_executor.stores.sqlite.statements import (
    MAX_ROWS,
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
    from goalwright_executor.stores.run_filter import RunFilter
    from goalwright_executor.stores.run_lists import CountedBy


class SqliteStore:
    """A journal in a file; `_keys` caches the primary keys of the runs that are being written."""

    look = 0.03

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
            with self._database.writing() as connection:  # a single statement is a transaction of its own
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
            self._keys.pop(run_id, None)  # it may be pruned from now on, and its key given to another run

    def import_runs(self, pieces: Iterable[tuple[Sequence[Row], Mapping[str, RunSummary]]]) -> None:
        """Store whole runs that arrive in pieces: in a file of their own until complete, so that others can write."""
        import tempfile  # here, because few processes import runs

        with tempfile.TemporaryDirectory(prefix="goalwright-runs-") as folder:
            path = Path(folder).resolve() / "runs.sqlite"
            gathered = SqliteStore(path)
            try:
                for rows, summaries in pieces:
                    gathered.append(rows, summaries)
            finally:
                gathered.close()
            with self._database.writing() as connection:
                run_import.copy(connection, path)

    def summaries(self, most: int | None = None, **wanted: Unpack[RunFilter]) -> Iterator[RunSummary]:
        """The runs, newest first; a run whose process died is interrupted."""
        with self._database.reading() as connection:
            yield from islice(run_list.summaries(connection, **wanted), most)

    def unindexed(self, most: int, run_ids: Collection[str] = ()) -> list[tuple[RunSummary, int]]:
        """Runs that no process holds and that the index has not as they are now, with their last events' numbers."""
        with self._database.reading() as connection:
            rows = search.unindexed(connection, most, run_ids)
        return [(run_list.summary(row[:-1]), row[-1] or 0) for row in rows if not run_list.is_leased(*row[-3:-1])]

    def index(self, runs: Sequence[RunIndex]) -> None:
        """Put runs into the index."""
        with self._database.indexing() as connection:
            search.write(connection, runs)

    def counts(self, by: CountedBy, since: str) -> Iterator[RunCount]:
        """How many runs have started since a time, by something."""
        with self._database.reading() as connection:
            yield from run_list.counts(connection, by, since)

    def times(self, since: str) -> Iterator[tuple[str, float]]:
        """The day and the seconds of each run that is done, since a time."""
        with self._database.reading() as connection:
            yield from run_list.times(connection, since)

    def batches(self) -> Iterator[BatchCount]:
        """How many runs each batch has in each status."""
        with self._database.reading() as connection:
            yield from run_list.batches(connection)

    def conversations(self, most: int | None = None, conversation: str | None = None) -> Iterator[ConversationSummary]:
        """The conversations, that with the newest turn first; or only one."""
        with self._database.reading() as connection:
            yield from islice(run_list.conversations(connection, conversation), most)

    def find(self, run: str) -> RunSummary:
        """The run of that id, of the only id that starts with it, or `last`; names the candidates if ambiguous.

        The last run is one that was made here, unless all were imported.
        """
        found, name = f"SELECT {SUMMARY}, holder, beat FROM runs", clean(run)  # noqa: S608 - no input
        # By the index: ids compare by their bytes, and no text sorts behind this character.
        longer = f"{found} WHERE run_id > ? AND run_id < ? || char(0x10FFFF) ORDER BY run_id DESC LIMIT 5"
        with self._database.reading() as connection:
            if run != "last":
                query = f"{found} WHERE run_id = ? UNION ALL SELECT * FROM ({longer})"  # noqa: S608
                rows = connection.execute(query, [name, name, name]).fetchall()
            else:
                newest = "ORDER BY run_id DESC LIMIT 1"
                rows = connection.execute(f"{found} WHERE NOT imported {newest}").fetchall()
                rows = rows or connection.execute(f"{found} {newest}").fetchall()
        return run_list.summary(only_match(run, rows, self._database.path))

    def rows(
        self, run_id: str, *, types: Collection[str] = (), task: str | None = None, after: int = 0
    ) -> Iterator[Row]:
        """A run's rows in order."""
        clauses, given = ["r.run_id = ?"], list[str | int]([run_id])
        if after:
            clauses.append("e.seq > ?")
            given.append(after)
        if types:
            clauses.append(f"e.type IN ({', '.join('?' * len(types))})")
            given += types
        if task is not None:  # no column of its own, which would be written far more often than it is asked for
            clauses.append("instr(e.body, ?)")
            given.append(encode({"task": task})[1:-1])
        rows = self._rows(" AND ".join(clauses) + " ORDER BY e.seq", given)
        yield from (row for row in rows if task is None or row.body.get("task") == task)

    def rows_of_all(self, types: Collection[str]) -> Iterator[Row]:
        """The rows of some types, of every run."""
        wanted = ", ".join("?" * len(types))
        yield from self._rows(f"{index_condition(types)}e.type IN ({wanted}) ORDER BY e.run, e.seq", list(types))

    def last_event(self, run_id: str) -> int:
        """The number of a run's last event."""
        last = "SELECT max(e.seq) FROM events e JOIN runs r ON r.id = e.run WHERE r.run_id = ?"
        with self._database.reading() as connection:
            return int(connection.execute(last, (run_id,)).fetchone()[0] or 0)

    def changed(self) -> int:
        """SQLite's count of commits by others."""
        return self._database.changed()

    def result(self, key: str, since: str, *, apart_from: str) -> Row | None:
        """The newest result with this key, of another run that was not imported."""
        clause = (
            "(e.run, e.seq) IN (SELECT run, seq FROM results WHERE key = ?) AND e.at >= ? AND r.run_id <> ? "
            "AND NOT r.imported ORDER BY e.at DESC LIMIT 1"
        )
        return next(self._rows(clause, [key, since, apart_from]), None)

    def claim(self, run_id: str, holder: Holder) -> None:
        """Take the lease of a run; a dead holder's is taken over at once."""
        with self._transaction() as connection:
            found = connection.execute("SELECT holder, beat FROM runs WHERE run_id = ?", (run_id,)).fetchone()
            if found is None:
                raise UnknownRun(
                    f"run {run_id!r} is no longer in {self._database.path}", hint="it was pruned; run its goal again"
                )
            if run_list.is_leased(*found):
                raise RunHeld(
                    f"run {run_id} is in use by {Holder.from_json(found[0])}",
                    hint="wait until that process ends, or stop it first",
                )
            mark = (holder.to_json(), time.time(), run_id)
            connection.execute("UPDATE runs SET holder = ?, beat = ?, stop_request = NULL WHERE run_id = ?", mark)

    def renew(self, run_ids: Collection[str], holder: Holder) -> None:
        """Renew leases; raises with those that were lost to another process."""
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
        """Leave a stop request for the process that holds a run."""
        with self._transaction() as connection:
            found = connection.execute("SELECT holder, beat FROM runs WHERE run_id = ?", (run_id,)).fetchone()
            if found is None:
                raise UnknownRun(f"there is no run {run_id!r} in {self._database.path}", hint=LIST_RUNS)
            if not run_list.is_leased(*found):
                raise NotRunning(
                    f"run {run_id} is not running", hint="resume it with `goalwright resume`, if it is not done"
                )
            connection.execute("UPDATE runs SET stop_request = ? WHERE run_id = ?", (request, run_id))

    def stop_requests(self) -> dict[str, StopRequest]:
        """The stop requests that have not been met, by run."""
        with self._database.reading() as connection:
            return dict(
                connection.execute("SELECT run_id, stop_request FROM runs WHERE stop_request IS NOT NULL").fetchall()
            )

    def delete(self, run_ids: Collection[str]) -> list[str]:
        """Delete runs that are not leased and texts that only they used; returns the ids of those deleted."""
        chosen, deleted = list(run_ids), list[str]()
        pause = retention.PAUSE if self._is_in_use() else 0.0
        for at in range(0, len(chosen), retention.RUNS):
            with self._transaction() as connection:
                gone = retention.delete_runs(connection, chosen[at : at + retention.RUNS])
            for run_id in gone:
                self._keys.pop(run_id, None)
            deleted += gone
            time.sleep(pause)
        if deleted:
            self._delete_unused_texts(pause)
            if not self._is_in_use():  # it takes as long as copying the file, and nobody could write meanwhile
                self._database.vacuum()
        return deleted

    def _delete_unused_texts(self, pause: float) -> None:
        with self._database.reading() as connection:
            unused = retention.unused_texts(connection)
        for at in range(0, len(unused), retention.TEXTS):
            with self._transaction() as connection:
                retention.delete_texts(connection, unused[at : at + retention.TEXTS])
            time.sleep(pause)

    def _is_in_use(self) -> bool:
        with self._database.reading() as connection:
            return retention.is_in_use(connection)

    def status(self) -> StoreStatus:
        """How large the file is, and how many of its runs are running."""
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

    def _rows(self, clause: str, given: Sequence[str | int]) -> Iterator[Row]:
        with self._database.reading() as connection:
            reader = connection.cursor()

            def text_of(sha: str) -> str:
                found = reader.execute("SELECT text FROM texts WHERE sha = ?", (sha,)).fetchone()
                return str(found[0]) if found else missing(sha)

            query = (
                f"SELECT r.run_id, e.seq, e.at, e.type, e.body FROM events e JOIN runs r ON r.id = e.run WHERE {clause}"  # noqa: S608
            )
            found = connection.execute(query, given)
            for run_id, seq, at, kind, body in found:
                yield Row(run_id, seq, at, kind, texts.read(body, text_of))
