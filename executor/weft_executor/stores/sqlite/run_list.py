"""The runs of a journal's SQLite file as lists: filtered, a page at a time, and counted by batch."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from weft_executor.stores.columns import SUMMARY
from weft_executor.stores.lease import Holder, is_gone
from weft_executor.stores.row import BatchCount, ConversationSummary, RunSummary
from weft_executor.stores.run_lists import as_conversation, by_batch, literal, read_summary, stored_statuses

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterator, Sequence


def summaries(
    connection: sqlite3.Connection,
    *,
    before: str = "",
    status: Collection[str] = (),
    text: str = "",
    batch: str | None = None,
    conversation: str | None = None,
) -> Iterator[RunSummary]:
    """The runs that fit, newest first."""
    clauses, given = ["1"], list[str]()
    if before:
        clauses.append("run_id < ?")
        given.append(before)
    if batch is not None:
        clauses.append("batch = ?")
        given.append(batch)
    if conversation is not None:
        clauses.append("conversation = ?")
        given.append(conversation)
    if status:
        stored = stored_statuses(status)
        clauses.append(f"status IN ({', '.join('?' * len(stored))})")
        given += stored
    if text:
        clauses.append("(goal LIKE ? ESCAPE '\\' OR run_id LIKE ? ESCAPE '\\' OR skills LIKE ? ESCAPE '\\')")
        given += [f"%{literal(text)}%", f"{literal(text)}%", f"%{literal(text)}%"]
    query = f"SELECT {SUMMARY}, holder, beat FROM runs WHERE {' AND '.join(clauses)} ORDER BY run_id DESC"  # noqa: S608
    for row in connection.execute(query, given):
        found = summary(row)
        if not status or found.status in status:
            yield found


def summary(row: Sequence[object]) -> RunSummary:
    """The summary in a row of `SUMMARY, holder, beat`."""
    *columns, holder, beat = row
    return read_summary(columns, leased=is_leased(holder, beat))  # type: ignore[arg-type]


def is_leased(holder: str | None, beat: float | None) -> bool:
    """Whether a live process holds the run."""
    return holder is not None and not is_gone(Holder.from_json(holder), time.time() - (beat or 0.0))


def batches(connection: sqlite3.Connection) -> list[BatchCount]:
    """The runs of each batch, counted by status; the newest batch first."""
    counted = connection.execute(
        "SELECT batch, status, count(*), CASE WHEN count(cost_usd) = count(*) THEN sum(cost_usd) END, "
        "total(seconds), min(run_id), max(run_id) FROM runs "
        "WHERE batch IS NOT NULL AND status != 'running' GROUP BY batch, status"
    )
    running = f"SELECT {SUMMARY}, holder, beat FROM runs WHERE batch IS NOT NULL AND status = 'running'"  # noqa: S608
    return by_batch((BatchCount(*row) for row in counted), map(summary, connection.execute(running)))


def conversations(connection: sqlite3.Connection) -> Iterator[ConversationSummary]:
    """The conversations, that with the newest turn first."""
    counted = connection.execute(
        "SELECT conversation, count(*), CASE WHEN count(cost_usd) = count(*) THEN sum(cost_usd) END, min(run_id), "
        "max(run_id) FROM runs WHERE conversation IS NOT NULL GROUP BY conversation ORDER BY max(run_id) DESC"
    )
    query = f"SELECT {SUMMARY}, holder, beat FROM runs WHERE run_id = ?"  # noqa: S608 - no input
    for *columns, first, last in counted:
        ends = [summary(connection.execute(query, (run_id,)).fetchone()) for run_id in (first, last)]
        yield as_conversation(columns, *ends)
