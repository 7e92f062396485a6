"""The runs of a journal's SQLite file as lists: filtered, a page at a time, and counted by batch."""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from executor.stores.lease import Holder, is_gone
from executor.stores.row import BatchCount, RunSummary
from executor.stores.sqlite.statements import SUMMARY

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterator, Sequence

_DEAD = "interrupted"  # what a run is whose process died before it could say so


def summaries(
    connection: sqlite3.Connection, *, before: str, status: Collection[str], text: str, batch: str | None
) -> Iterator[RunSummary]:
    """The runs that fit, newest first."""
    clauses, given = ["1"], list[str]()
    if before:
        clauses.append("run_id < ?")
        given.append(before)
    if batch is not None:
        clauses.append("batch = ?")
        given.append(batch)
    if status:
        stored = {*status, *(("running",) if _DEAD in status else ())}
        clauses.append(f"status IN ({', '.join('?' * len(stored))})")
        given += stored
    if text:
        clauses.append("(goal LIKE ? ESCAPE '\\' OR run_id LIKE ? ESCAPE '\\' OR skills LIKE ? ESCAPE '\\')")
        given += [f"%{_literal(text)}%", f"{_literal(text)}%", f"%{_literal(text)}%"]
    query = f"SELECT {SUMMARY}, holder, beat FROM runs WHERE {' AND '.join(clauses)} ORDER BY run_id DESC"  # noqa: S608
    for row in connection.execute(query, given):
        found = summary(row)
        if not status or found.status in status:
            yield found


def summary(row: Sequence[object]) -> RunSummary:
    """The summary in a row of `SUMMARY, holder, beat`; a run whose process died is interrupted."""
    *fields, holder, beat = row
    found = RunSummary(*fields)  # type: ignore[arg-type]  # the columns are in the fields' order
    found = replace(found, skills=tuple(str(found.skills).split()))
    if found.status == "running" and not is_leased(holder, beat):  # type: ignore[arg-type]
        return replace(found, status=_DEAD)
    return found


def is_leased(holder: str | None, beat: float | None) -> bool:
    """Whether a live process holds the run."""
    return holder is not None and not is_gone(Holder.from_json(holder), time.time() - (beat or 0.0))


def batches(connection: sqlite3.Connection) -> Iterator[BatchCount]:
    """The runs of each batch, counted by status; the newest batch first."""
    counted = connection.execute(
        "SELECT batch, status, count(*), CASE WHEN count(cost_usd) = count(*) THEN sum(cost_usd) END, "
        "total(seconds), min(run_id), max(run_id) FROM runs "
        "WHERE batch IS NOT NULL AND status != 'running' GROUP BY batch, status"
    )
    rows = [BatchCount(*row) for row in counted]
    running = f"SELECT {SUMMARY}, holder, beat FROM runs WHERE batch IS NOT NULL AND status = 'running'"  # noqa: S608
    for row in connection.execute(running):
        one = summary(row)
        rows.append(
            BatchCount(one.batch or "", one.status, 1, one.cost_usd, one.seconds or 0.0, one.run_id, one.run_id)
        )
    rows.sort(key=lambda one: (one.batch, one.status))
    merged = [_merged(list(same)) for _, same in groupby(rows, key=lambda one: (one.batch, one.status))]
    newest = {batch: max(one.last for one in same) for batch, same in groupby(merged, key=lambda one: one.batch)}
    yield from sorted(merged, key=lambda one: newest[one.batch], reverse=True)


def _merged(same: list[BatchCount]) -> BatchCount:
    costs = [one.cost_usd for one in same]
    return BatchCount(
        batch=same[0].batch,
        status=same[0].status,
        runs=sum(one.runs for one in same),
        cost_usd=None if None in costs else sum(cost or 0.0 for cost in costs),
        seconds=sum(one.seconds for one in same),
        first=min(one.first for one in same),
        last=max(one.last for one in same),
    )


def _literal(text: str) -> str:
    """A text in which LIKE sees no wildcards."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
