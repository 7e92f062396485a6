"""The statements that write to a journal's SQLite file, many rows at a time."""

from __future__ import annotations

import time
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

from goalwright_executor.stores.columns import CHANGING, SUMMARY, clean, summary_values
from goalwright_executor.stores.errors import LeaseLost

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Mapping, Sequence

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


def write_summaries(connection: sqlite3.Connection, summaries: Iterable[RunSummary]) -> None:
    """Write new or changed summaries."""
    connection.executemany(_SUMMARIES, [summary_values(summary) for summary in summaries])


def write_texts(connection: sqlite3.Connection, rows: EncodedRows, run: Mapping[str, int]) -> None:
    """Write large texts that are not stored yet, and which runs use them."""
    texts = {sha: text for large in rows.texts.values() for sha, text in large.items()}
    _insert(connection, _TEXTS, 2, ((sha, clean(text)) for sha, text in texts.items()))
    _insert(connection, _USES, 2, ((run[run_id], sha) for run_id, large in rows.texts.items() for sha in large))


def write_events(connection: sqlite3.Connection, rows: EncodedRows, run: Mapping[str, int]) -> None:
    """Write events, and which of them are results that other runs may use."""
    runs = [run[run_id] for run_id in rows.run_ids]
    _insert(connection, _EVENTS, 5, zip(runs, rows.seqs, rows.times, rows.types, rows.bodies, strict=True))
    if any(rows.keys):
        keyed = zip(runs, rows.seqs, rows.keys, strict=True)
        _insert(connection, _RESULTS, 3, (row for row in keyed if row[2] is not None))


def run_keys(connection: sqlite3.Connection, run_ids: Sequence[str]) -> Iterator[tuple[str, int]]:
    """The primary keys of runs, which the other tables refer to."""
    for at in range(0, len(run_ids), _MAX_NAMES):
        some = run_ids[at : at + _MAX_NAMES]
        marks = ", ".join("?" * len(some))
        yield from connection.execute(f"SELECT run_id, id FROM runs WHERE run_id IN ({marks})", some)  # noqa: S608


def written_by_others(connection: sqlite3.Connection, rows: EncodedRows) -> set[str]:
    """The runs of rows whose place is taken already."""
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


def _insert(connection: sqlite3.Connection, into: str, width: int, rows: Iterable[tuple[object, ...]]) -> None:
    """Insert rows of `width` columns, up to `MAX_ROWS` in one statement."""
    values = list(chain.from_iterable(rows))
    begin = 0
    for size in _sizes(len(values) // width):
        end = begin + size * width
        connection.execute(_statement(into, width, size), values[begin:end])
        begin = end


def _sizes(rows: int) -> Iterator[int]:
    """How many rows each statement writes: all of them or, of very many, powers of two, so that few are prepared."""
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
