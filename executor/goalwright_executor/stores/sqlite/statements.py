"""The statements that write to a journal's SQLite file: many rows at a time, deletions and imports."""

from __future__ import annotations

import sqlite3
import time
from contextlib import suppress
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

from goalwright_executor.stores.columns import CHANGING, SUMMARY, clean, summary_values
from goalwright_executor.stores.errors import LeaseLost, RunExists
from goalwright_executor.stores.sqlite import run_list, search
from goalwright_executor.stores.sqlite.schema import transaction

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from goalwright_executor.stores.lease import Handover
    from goalwright_executor.stores.row import EncodedRows, RunSummary

_SUMMARIES = (
    f"INSERT INTO runs ({SUMMARY}) VALUES ({', '.join('?' * (SUMMARY.count(',') + 1))}) "  # noqa: S608 - no input
    f"ON CONFLICT (run_id) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in CHANGING)}, indexed = NULL"
)
_EVENTS = "INTO events (run, seq, at, type, body)"
_RESULTS = "OR REPLACE INTO results (run, seq, key)"
_TEXTS = "OR IGNORE INTO texts (sha, text)"
_USES = "OR IGNORE INTO uses (run, sha)"

# The most rows in one statement. Each statement releases Python's lock and waits to get it back, which takes long
# while the run itself is busy: one statement per row would be far slower. Statements are cached by size.
MAX_ROWS = 128
_MAX_NAMES = 500
# Runs and texts per deleting transaction, and the pause between two of these for writers, in seconds: SQLite retries
# every tenth of a second.
DELETED_RUNS, DELETED_TEXTS = 500, 5_000
PAUSE = 0.12

# Each file has its own primary keys: rows are matched by the run's id.
_BY_RUN = "JOIN gathered.runs g ON g.id = one.run JOIN main.runs m ON m.run_id = g.run_id"
_EVENT = "seq, at, type, body"
_EVENTS_BY_RUN = f"FROM gathered.events one {_BY_RUN} ORDER BY one.id"
_RESULTS_BY_RUN = f"FROM gathered.results one {_BY_RUN}"
_COPY = (
    f"INSERT INTO main.runs ({SUMMARY}, imported) SELECT {SUMMARY}, 1 FROM gathered.runs ORDER BY id",  # noqa: S608
    "INSERT OR IGNORE INTO main.texts (sha, text) SELECT sha, text FROM gathered.texts ORDER BY id",
    f"INSERT INTO main.uses (run, sha) SELECT m.id, one.sha FROM gathered.uses one {_BY_RUN}",  # noqa: S608
    f"INSERT INTO main.events (run, {_EVENT}) SELECT m.id, {_EVENT} {_EVENTS_BY_RUN}",
    f"INSERT INTO main.results (run, seq, key) SELECT m.id, one.seq, one.key {_RESULTS_BY_RUN}",
)


def write_summaries(connection: sqlite3.Connection, summaries: Iterable[RunSummary]) -> None:
    """Write new or changed summaries."""
    connection.executemany(_SUMMARIES, [summary_values(summary) for summary in summaries])


def write_texts(connection: sqlite3.Connection, rows: EncodedRows, run: Mapping[str, int]) -> None:
    """Write large texts that are not stored yet, and record which runs use them."""
    texts = {sha: text for large in rows.texts.values() for sha, text in large.items()}
    _insert(connection, _TEXTS, 2, ((sha, clean(text)) for sha, text in texts.items()))
    _insert(connection, _USES, 2, ((run[run_id], sha) for run_id, large in rows.texts.items() for sha in large))


def write_events(connection: sqlite3.Connection, rows: EncodedRows, run: Mapping[str, int]) -> None:
    """Write events, and the keys of results that other runs may use."""
    runs = [run[run_id] for run_id in rows.run_ids]
    _insert(connection, _EVENTS, 5, zip(runs, rows.seqs, rows.times, rows.types, rows.bodies, strict=True))
    if any(rows.keys):
        keyed = zip(runs, rows.seqs, rows.keys, strict=True)
        _insert(connection, _RESULTS, 3, (row for row in keyed if row[2] is not None))


def run_keys(connection: sqlite3.Connection, run_ids: Sequence[str]) -> Iterator[tuple[str, int]]:
    """The primary keys of runs, which the other tables refer to."""
    for offset in range(0, len(run_ids), _MAX_NAMES):
        names = run_ids[offset : offset + _MAX_NAMES]
        marks = ", ".join("?" * len(names))
        yield from connection.execute(f"SELECT run_id, id FROM runs WHERE run_id IN ({marks})", names)  # noqa: S608


def written_by_others(connection: sqlite3.Connection, rows: EncodedRows) -> set[str]:
    """The runs that have an event with the number of one of these rows."""
    taken = "SELECT 1 FROM events e JOIN runs r ON r.id = e.run WHERE r.run_id = ? AND e.seq = ?"
    places = zip(rows.run_ids, rows.seqs, strict=True)
    return {place[0] for place in places if connection.execute(taken, place).fetchone()}


def hand_over(connection: sqlite3.Connection, handover: Handover) -> None:
    """Take runs that nobody holds, and release runs of this holder."""
    holder = handover.holder.to_json()
    lost = []
    for run_id in handover.taken:
        taken = connection.execute(
            "UPDATE runs SET holder = ?, beat = ?, stop_request = NULL WHERE run_id = ? AND holder IS NULL",
            (holder, time.time(), run_id),
        )
        if not taken.rowcount:
            lost.append(run_id)
    if lost:
        raise LeaseLost(f"run {', '.join(lost)} is in use by another process", lost, "leave it to that process")
    connection.executemany(
        "UPDATE runs SET holder = NULL, beat = NULL, stop_request = NULL WHERE run_id = ? AND holder = ?",
        [(run_id, holder) for run_id in handover.released],
    )


def is_in_use(connection: sqlite3.Connection) -> bool:
    """Whether a live process works on a run."""
    holders = connection.execute("SELECT holder, beat FROM runs WHERE holder IS NOT NULL")
    return any(run_list.is_leased(holder, beat) for holder, beat in holders)


def delete_runs(connection: sqlite3.Connection, run_ids: Sequence[str]) -> list[str]:
    """Delete the runs that are not leased; returns their ids."""
    indexed = (("run_words", "rowid"),) if search.has_table(connection) else ()
    deleted = []
    for run_id in run_ids:
        # Checked inside the transaction: a process may have claimed the run since it was chosen.
        run = connection.execute("SELECT id, holder, beat FROM runs WHERE run_id = ?", (run_id,)).fetchone()
        if run is None or run_list.is_leased(run[1], run[2]):
            continue
        for table, key in (("events", "run"), ("results", "run"), ("uses", "run"), *indexed, ("runs", "id")):
            connection.execute(f"DELETE FROM {table} WHERE {key} = ?", (run[0],))  # noqa: S608 - no input
        deleted.append(run_id)
    return deleted


def unused_texts(connection: sqlite3.Connection) -> list[int]:
    """The keys of the texts that no run uses."""
    return [key for (key,) in connection.execute("SELECT id FROM texts WHERE sha NOT IN (SELECT sha FROM uses)")]


def delete_texts(connection: sqlite3.Connection, keys: Sequence[int]) -> None:
    """Delete texts, except those that a run has come to use since."""
    marks = ", ".join("?" * len(keys))
    unused = "sha NOT IN (SELECT sha FROM uses)"
    connection.execute(f"DELETE FROM texts WHERE id IN ({marks}) AND {unused}", keys)  # noqa: S608 - no input


def copy_runs(connection: sqlite3.Connection, gathered: Path) -> None:
    """Copy the runs of the journal file `gathered` into this one; all or nothing."""
    connection.execute("ATTACH ? AS gathered", (gathered.as_uri(),))
    try:
        with transaction(connection):
            duplicates = "SELECT run_id FROM gathered.runs WHERE run_id IN (SELECT run_id FROM main.runs) ORDER BY id"
            if (duplicate := connection.execute(duplicates).fetchone()) is not None:
                raise RunExists(duplicate[0])
            for statement in _COPY:
                connection.execute(statement)
    finally:
        with suppress(sqlite3.OperationalError):
            connection.execute("DETACH gathered")


def _insert(connection: sqlite3.Connection, into: str, width: int, rows: Iterable[tuple[object, ...]]) -> None:
    """Insert rows of `width` columns, up to `MAX_ROWS` in one statement."""
    values = list(chain.from_iterable(rows))
    begin = 0
    for size in _sizes(len(values) // width):
        end = begin + size * width
        connection.execute(_statement(into, width, size), values[begin:end])
        begin = end


def _sizes(rows: int) -> Iterator[int]:
    """The number of rows of each statement: powers of two for many rows, so that few statements are prepared."""
    if rows <= MAX_ROWS:
        yield from (rows,) if rows else ()
        return
    while rows:
        yield (size := min(MAX_ROWS, 1 << rows.bit_length() - 1))
        rows -= size


@cache
def _statement(into: str, width: int, size: int) -> str:
    row = f"({', '.join('?' * width)})"
    return f"INSERT {into} VALUES {', '.join([row] * size)}"  # noqa: S608 - no input
