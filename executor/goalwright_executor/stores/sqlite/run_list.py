"""Queries for lists and counts of runs in SQLite."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from goalwright_executor.stores.columns import SUMMARY, clean
from goalwright_executor.stores.lease import Holder, is_gone
from goalwright_executor.stores.row import BatchCount, ConversationSummary, RunSummary
from goalwright_executor.stores.run_lists import (
    CONVERSATIONS,
    TIMES,
    RunFilter,
    as_conversation,
    by_batch,
    conditions,
    count_query,
    read_summary,
    run_counts,
    stored_statuses,
)
from goalwright_executor.stores.sqlite import search

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence
    from typing import Unpack

    from goalwright_executor.stores.row import RunCount
    from goalwright_executor.stores.run_lists import CountedBy


def summaries(connection: sqlite3.Connection, **wanted: Unpack[RunFilter]) -> Iterator[RunSummary]:
    """The runs that match a filter, newest first."""
    clauses, values = conditions(wanted)
    if status := wanted.get("status"):
        stored = stored_statuses(status)
        clauses.append(f"status IN ({', '.join('?' * len(stored))})")
        values += stored
    if tag := wanted.get("tag"):
        clauses.append("instr(char(10) || tags || char(10), char(10) || ? || char(10))")
        values.append(tag)
    if text := wanted.get("text"):
        clause, text_values = search.condition(connection, text)
        clauses.append(clause)
        values += text_values
    where = " AND ".join(["1", *clauses])
    query = f"SELECT {SUMMARY}, holder, beat FROM runs r WHERE {where} ORDER BY run_id DESC"  # noqa: S608
    for row in connection.execute(query, [clean(value) for value in values]):
        run = summary(row)
        if not status or run.status in status:
            yield run


def summary(row: Sequence[object]) -> RunSummary:
    """The summary in a row of `SUMMARY, holder, beat`."""
    *columns, holder, beat = row
    return read_summary(columns, leased=is_leased(holder, beat))  # type: ignore[arg-type]


def is_leased(holder: str | None, beat: float | None) -> bool:
    """Whether a live process holds the run."""
    return holder is not None and not is_gone(Holder.from_json(holder), time.time() - (beat or 0.0))


def batches(connection: sqlite3.Connection) -> list[BatchCount]:
    """Count the runs of each batch by status, newest batch first."""
    ended = connection.execute(
        "SELECT batch, status, count(*), CASE WHEN count(cost_usd) = count(*) THEN sum(cost_usd) END, "
        "total(seconds), min(run_id), max(run_id) FROM runs "
        "WHERE batch IS NOT NULL AND status != 'running' GROUP BY batch, status"
    )
    running = f"SELECT {SUMMARY}, holder, beat FROM runs WHERE batch IS NOT NULL AND status = 'running'"  # noqa: S608
    return by_batch((BatchCount(*row) for row in ended), map(summary, connection.execute(running)))


def conversations(connection: sqlite3.Connection, conversation: str | None) -> Iterator[ConversationSummary]:
    """The conversations, newest turn first, or only one."""
    which, values = ("IS NOT NULL", []) if conversation is None else ("= ?", [clean(conversation)])
    counted = connection.execute(CONVERSATIONS.format(which=f"conversation {which}"), values)
    query = f"SELECT {SUMMARY}, holder, beat FROM runs WHERE run_id = ?"  # noqa: S608 - no input
    for *columns, first, last in counted:
        ends = [summary(connection.execute(query, (run_id,)).fetchone()) for run_id in (first, last)]
        yield as_conversation(columns, *ends)


def counts(connection: sqlite3.Connection, by: CountedBy, since: str) -> list[RunCount]:
    """Count the runs that started since a time."""
    query = f"SELECT {SUMMARY}, holder, beat FROM runs WHERE status = 'running' AND started >= ?"  # noqa: S608
    running = map(summary, connection.execute(query, (since,)))
    return list(run_counts(by, connection.execute(count_query(by, "started >= ?"), (since,)), running))


def times(connection: sqlite3.Connection, since: str) -> list[tuple[str, float]]:
    """The day and duration of each finished run since a time."""
    return connection.execute(TIMES.format(since="started >= ?"), (since,)).fetchall()
