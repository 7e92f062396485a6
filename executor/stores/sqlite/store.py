"""The journal in one SQLite file: write-ahead log, every commit on disk, several processes at once."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from executor.stores import texts
from executor.stores.errors import BadStore, RunHeld, StoreFailed, UnknownRun
from executor.stores.lease import Holder, is_gone
from executor.stores.row import Row, RunSummary
from executor.stores.sqlite import intake, messages
from executor.stores.sqlite.schema import SELECTIONS, check, migrate
from executor.stores.sqlite.statements import (
    LINE,
    MOST_ROWS,
    body_of,
    hand_over,
    numbers,
    write_events,
    write_lines,
    write_texts,
)
from executor.stores.urls import url_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from executor.stores.lease import Handover

_BUSY = 60.0
_SMALL = 8 * 2**20


class SqliteStore:
    """A journal in a file. One connection writes, under a lock; every reading has its own."""

    def __init__(self, path: Path, *, create: bool = True) -> None:
        self._path = path
        self.url = url_of(path)
        self._lock = threading.Lock()
        self._numbers: dict[str, int] = {}
        self._writable = True
        if not create and not path.is_file():
            raise UnknownRun(
                f"there is no journal {path}", hint="no run was made here; --workspace or --journal name another"
            )
        try:
            if create:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = self._open(create=create)
        except (sqlite3.Error, OSError, UnicodeDecodeError) as error:
            raise BadStore(
                f"the journal {path} cannot be used: {messages.said(error)}", hint=messages.hint(error)
            ) from error

    def append(
        self, rows: Sequence[Row], summaries: Mapping[str, RunSummary], handover: Handover | None = None
    ) -> None:
        """Keep rows, summaries and who is at which run in one transaction."""
        bodies = [body_of(row) for row in rows]  # before the transaction, whose end other processes may wait for
        runs = {row.run_id for row in rows}
        alone = len(rows) <= MOST_ROWS and runs <= self._numbers.keys() and not any(large for _, large in bodies)
        if alone and not summaries and not handover:
            with self._writing() as connection:  # one statement is a transaction by itself
                write_events(connection, rows, bodies, self._numbers)
            return
        with self._transaction() as connection:
            write_lines(connection, summaries.values())
            if handover:
                hand_over(connection, handover)
            self._numbers.update(numbers(connection, list(runs - self._numbers.keys())))
            write_texts(connection, rows, bodies, self._numbers)
            write_events(connection, rows, bodies, self._numbers)
        for run_id in handover.released if handover else ():
            self._numbers.pop(run_id, None)  # it may be pruned from now on, and its number become another's

    def take_in(self, pieces: Iterable[tuple[Sequence[Row], Mapping[str, RunSummary]]]) -> None:
        """Keep runs that come in pieces: in a file of their own until they are whole, others write here meanwhile."""
        import tempfile  # not sooner: few processes take runs in

        with tempfile.TemporaryDirectory(prefix="weft-runs-") as folder:
            gathered = SqliteStore(Path(folder).resolve() / "runs.sqlite")
            try:
                for rows, summaries in pieces:
                    gathered.append(rows, summaries)
            finally:
                gathered.close()
            with self._writing() as connection:
                intake.copy(connection, gathered._path)

    def summaries(self, most: int | None = None) -> Iterator[RunSummary]:
        """The runs, newest first; one whose process died counts as interrupted."""
        with self._reading() as connection:
            found = connection.execute(
                f"SELECT {LINE}, holder, beat FROM runs ORDER BY run_id DESC LIMIT ?",  # noqa: S608 - no input
                (-1 if most is None else most,),
            )
            for *fields, holder, beat in found:
                yield _summary(fields, holder, beat)

    def find(self, run: str) -> RunSummary:
        """The run meant; all candidates are named where there are several."""
        if not run:  # every id begins with nothing
            raise UnknownRun("no run is named", hint="`weft trace list` shows those there are")
        with self._reading() as connection:
            where = "?1 = 'last'" if run == "last" else "substr(run_id, 1, length(?1)) = ?1"
            found = connection.execute(
                f"SELECT {LINE}, holder, beat FROM runs WHERE {where} ORDER BY run_id = ?1 DESC, run_id DESC LIMIT 5",  # noqa: S608
                (run,),
            ).fetchall()
        exact = [row for row in found if row[0] == run] or (found[:1] if run == "last" else found)
        if len(exact) == 1:
            *fields, holder, beat = exact[0]
            return _summary(fields, holder, beat)
        if not exact:
            raise UnknownRun(f"there is no run {run!r} in {self._path}", hint="`weft trace list` shows those there are")
        raise UnknownRun(f"{run!r} may be any of {', '.join(row[0] for row in exact)}", hint="give more of the id")

    def rows(self, run_id: str, *, types: Collection[str] = (), task: str | None = None) -> Iterator[Row]:
        """A run's rows in order."""
        clauses, given = ["r.run_id = ?"], [run_id]
        if types:
            clauses.append(f"e.type IN ({', '.join('?' * len(types))})")
            given += types
        if task is not None:
            clauses.append("e.task = ?")
            given.append(task)
        yield from self._rows(" AND ".join(clauses) + " ORDER BY e.seq", given)

    def rows_of_all(self, types: Collection[str]) -> Iterator[Row]:
        """The rows of some types of every run."""
        # Word for word the condition of the partial index, without which SQLite does not see that it may be used.
        indexed = f"e.{SELECTIONS} AND " if set(types) <= {"run_started", "skills_selected"} else ""
        wanted = ", ".join("?" * len(types))
        yield from self._rows(f"{indexed}e.type IN ({wanted}) ORDER BY e.run, e.seq", list(types))

    def claim(self, run_id: str, holder: Holder) -> None:
        """Take a run, from a dead holder at once."""
        with self._transaction() as connection:
            found = connection.execute("SELECT holder, beat FROM runs WHERE run_id = ?", (run_id,)).fetchone()
            if found is None:
                raise UnknownRun(
                    f"there is no run {run_id!r} in {self._path} any more", hint="it was pruned; run its goal anew"
                )
            if _is_held(*found):
                raise RunHeld(
                    f"{Holder.from_json(found[0])} is at run {run_id}", hint="wait until it ends, or stop it first"
                )
            mark = (holder.to_json(), time.time(), run_id)
            connection.execute("UPDATE runs SET holder = ?, beat = ? WHERE run_id = ?", mark)

    def renew(self, run_ids: Collection[str], holder: Holder) -> None:
        """Say that the holder still lives."""
        name = holder.to_json()
        with self._transaction() as connection:
            for run_id in run_ids:
                mark = (time.time(), run_id, name)
                changed = connection.execute("UPDATE runs SET beat = ? WHERE run_id = ? AND holder = ?", mark)
                if not changed.rowcount:
                    raise StoreFailed(
                        f"another process has taken over run {run_id}", hint="leave it to that one, or resume it later"
                    )

    def delete(self, run_ids: Collection[str]) -> list[str]:
        """Forget runs and the texts that only they had, and give the room back; one that is held stays."""
        gone = []
        with self._transaction() as connection:
            for run_id in run_ids:
                # Looked at here, not before: a process may have taken it up since it was chosen.
                found = connection.execute("SELECT id, holder, beat FROM runs WHERE run_id = ?", (run_id,)).fetchone()
                if found is None or _is_held(found[1], found[2]):
                    continue
                for table, key in (("events", "run"), ("uses", "run"), ("runs", "id")):
                    connection.execute(f"DELETE FROM {table} WHERE {key} = ?", (found[0],))  # noqa: S608 - no input
                self._numbers.pop(run_id, None)
                gone.append(run_id)
            if gone:
                connection.execute("DELETE FROM texts WHERE sha NOT IN (SELECT sha FROM uses)")
        if gone:
            with self._lock, suppress(sqlite3.OperationalError):  # another process reads: the room is given back later
                self._connection.execute("VACUUM")
        return gone

    def close(self) -> None:
        """Close it; the log is folded into the file."""
        with self._lock, suppress(sqlite3.Error):
            self._connection.close()

    def _open(self, *, create: bool) -> sqlite3.Connection:
        mode = "rwc" if create else "rw"
        try:
            connection = self._connect(mode)
            check(connection, str(self._path))  # before anything in it is changed: it may be another program's
            _in_wal(connection)
            connection.execute("PRAGMA synchronous = FULL")
            migrate(connection, str(self._path))
        except sqlite3.OperationalError as error:
            if create or ("readonly" not in str(error) and "unable to open" not in str(error)):
                raise
            self._writable = False  # looking at runs needs no writing: a journal on a read-only disk can be read
            self._refuse_unfolded(error)
            return self._connect("ro&immutable=1")
        if self._path.stat().st_size < _SMALL:
            (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            if found != "ok":
                raise sqlite3.DatabaseError(f"it is damaged: {found}")
        return connection

    def _refuse_unfolded(self, error: Exception) -> None:
        """Where only the file itself can be read, its newest runs must not be in the log beside it."""
        log = self._path.with_name(f"{self._path.name}-wal")
        if log.exists() and log.stat().st_size:
            raise BadStore(
                f"the journal {self._path} cannot be read here: {error}, and its newest events are in {log.name}",
                hint="copy both files to a folder that you may write, and name the copy with --journal",
            ) from error

    def _connect(self, mode: str) -> sqlite3.Connection:
        return sqlite3.connect(
            f"{self._path.as_uri()}?mode={mode}",
            uri=True,
            timeout=_BUSY,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=2 * MOST_ROWS,
        )

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._writing() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                self._numbers.clear()
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                yield self._connection
            except (sqlite3.Error, OSError) as error:
                raise StoreFailed(
                    f"the journal {self._path} cannot be written: {messages.said(error)}", hint=messages.hint(error)
                ) from error

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        try:
            connection = self._connect("rw" if self._writable else "ro&immutable=1")
            try:
                yield connection
            finally:
                connection.close()
        except (sqlite3.Error, ValueError) as error:  # ValueError: what it holds is neither text nor JSON any more
            raise BadStore(
                f"the journal {self._path} cannot be read: {messages.said(error)}", hint=messages.hint(error)
            ) from error

    def _rows(self, clause: str, given: Sequence[str]) -> Iterator[Row]:
        with self._reading() as connection:
            reader = connection.cursor()

            def text_of(sha: str) -> str:
                found = reader.execute("SELECT text FROM texts WHERE sha = ?", (sha,)).fetchone()
                return str(found[0]) if found else f"(the text {sha} is missing from the journal)"

            query = (
                f"SELECT r.run_id, e.seq, e.at, e.type, e.body FROM events e JOIN runs r ON r.id = e.run WHERE {clause}"  # noqa: S608
            )
            found = connection.execute(query, given)
            for run_id, seq, at, kind, body in found:
                yield Row(run_id, seq, at, kind, texts.join(json.loads(body), text_of))


def _summary(fields: Sequence[object], holder: str | None, beat: float | None) -> RunSummary:
    summary = RunSummary(*fields)  # type: ignore[arg-type]  # the columns are in the fields' order
    if summary.status == "running" and not _is_held(holder, beat):
        return replace(summary, status="interrupted")
    return summary


def _is_held(holder: str | None, beat: float | None) -> bool:
    """Whether a process that lives is at a run."""
    return holder is not None and not is_gone(Holder.from_json(holder), time.time() - (beat or 0.0))


def _in_wal(connection: sqlite3.Connection) -> None:
    """Switch to WAL; where several open a new journal at once, SQLite refuses this without waiting, so we wait."""
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
