"""The statements that write to a journal's SQLite file, many rows at a time."""

from __future__ import annotations

import time
from functools import cache
from typing import TYPE_CHECKING

from weft_executor.stores.columns import CHANGING, SUMMARY, clean, summary_values
from weft_executor.stores.errors import LeaseLost
from weft_executor.stores.row import NO_TEXTS

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from weft_executor.stores.lease import Handover
    from weft_executor.stores.row import EncodedRow, Row, RunSummary

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


def write_texts(connection: sqlite3.Connection, rows: Sequence[EncodedRow], run: Mapping[str, int]) -> None:
    """Write large texts that are not stored yet, and which runs use them."""
    texts_of: dict[str, str] = {}
    uses: set[tuple[int, str]] = set()
    for row in rows:
        if row.texts is NO_TEXTS:
            continue
        for sha, text in row.texts.items():
            texts_of[sha] = text
            uses.add((run[row.run_id], sha))
    _insert(connection, _TEXTS, 2, [value for sha, text in texts_of.items() for value in (sha, clean(text))])
    _insert(connection, _USES, 2, [value for use in uses for value in use])


def write_events(connection: sqlite3.Connection, rows: Sequence[EncodedRow], run: Mapping[str, int]) -> None:
    """Write events, up to `MAX_ROWS` in one statement."""
    for at in range(0, len(rows), MAX_ROWS):
        some = rows[at : at + MAX_ROWS]
        values = [value for row in some for value in (run[row.run_id], row.seq, row.at, row.type, row.body)]
        connection.execute(_statement(_EVENTS, 5, len(some)), values)
    results = [value for row in rows if row.key is not None for value in (run[row.run_id], row.seq, row.key)]
    _insert(connection, _RESULTS, 3, results)


def run_keys(connection: sqlite3.Connection, run_ids: Sequence[str]) -> Iterator[tuple[str, int]]:
    """The primary keys of runs, which the other tables refer to."""
    for at in range(0, len(run_ids), _MAX_NAMES):
        some = run_ids[at : at + _MAX_NAMES]
        marks = ", ".join("?" * len(some))
        yield from connection.execute(f"SELECT run_id, id FROM runs WHERE run_id IN ({marks})", some)  # noqa: S608


def written_by_others(connection: sqlite3.Connection, rows: Sequence[Row | EncodedRow]) -> set[str]:
    """The runs of rows whose place is taken already."""
    taken = "SELECT 1 FROM events e JOIN runs r ON r.id = e.run WHERE r.run_id = ? AND e.seq = ?"
    return {row.run_id for row in rows if connection.execute(taken, (row.run_id, row.seq)).fetchone()}


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


def _insert(connection: sqlite3.Connection, into: str, width: int, values: Sequence[object]) -> None:
    """Insert rows of `width` columns; `values` holds all their values in one list."""
    step = MAX_ROWS * width
    for at in range(0, len(values), step):
        some = values[at : at + step]
        connection.execute(_statement(into, width, len(some) // width), some)


@cache
def _statement(into: str, width: int, size: int) -> str:
    row = f"({', '.join('?' * width)})"
    return f"INSERT {into} VALUES {', '.join([row] * size)}"  # noqa: S608 - no input
