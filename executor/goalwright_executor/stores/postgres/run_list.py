"""Queries for runs and events in PostgreSQL, read page by page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goalwright_executor.capture.json_text import decode
from goalwright_executor.stores import texts
from goalwright_executor.stores.columns import SUMMARY, clean, missing
from goalwright_executor.stores.postgres import search
from goalwright_executor.stores.postgres.leases import AGE, JOINED, is_leased
from goalwright_executor.stores.row import BatchCount, ConversationSummary, Row, RunSummary
from goalwright_executor.stores.run_lists import (
    CONVERSATIONS,
    TIMES,
    RunFilter,
    as_conversation,
    by_batch,
    conditions,
    count_query,
    only_match,
    read_summary,
    run_counts,
    stored_statuses,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Unpack

    from goalwright_executor.stores.postgres.connections import Connection, Connections
    from goalwright_executor.stores.row import RunCount
    from goalwright_executor.stores.run_lists import CountedBy

_SELECT = f"SELECT {SUMMARY}, holder, {AGE} FROM {JOINED}"  # noqa: S608 - no input
_ROWS = "SELECT e.run, r.run_id, e.seq, e.at, e.type, e.body FROM events e JOIN runs r ON r.id = e.run"
# Runs or rows per page. Each page is its own query, so that no transaction stays open while the caller reads, and a
# broken connection between two pages does no harm.
PAGE = 500


def summaries(connections: Connections, most: int | None, **wanted: Unpack[RunFilter]) -> Iterator[RunSummary]:
    """The runs that match a filter, newest first."""
    clauses, values = _conditions(wanted)
    before, status = wanted.get("before", ""), wanted.get("status", ())
    remaining = most
    while remaining is None or remaining > 0:
        bound = [*clauses, "run_id < %(before)s"] if before else clauses
        size = PAGE if remaining is None else min(PAGE, remaining)
        query = f"{_SELECT} WHERE {' AND '.join(bound)} ORDER BY run_id DESC LIMIT {size}"
        page = _all(connections, query, values | {"before": before})
        for row in page:
            run = summary(row)
            if not status or run.status in status:
                yield run
                remaining = None if remaining is None else remaining - 1
        if len(page) < size:
            return
        before = page[-1][0]


def _conditions(wanted: RunFilter) -> tuple[list[str], dict[str, Any]]:
    """The conditions of a filter except `before`, which changes from page to page, and their values."""
    common, arguments = conditions({name: value for name, value in wanted.items() if name != "before"})
    values: dict[str, Any] = {f"value{number}": _plain(value) for number, value in enumerate(arguments)}
    clauses = ["TRUE", *(sql.replace("?", f"%(value{number})s") for number, sql in enumerate(common))]
    if status := wanted.get("status"):
        clauses.append("status = ANY(%(status)s)")
        values["status"] = [_plain(name) for name in stored_statuses(status)]
    if tag := wanted.get("tag"):
        clauses.append("%(tag)s = ANY(string_to_array(tags, E'\\n'))")
        values["tag"] = _plain(tag)
    if text := wanted.get("text"):
        clause, text_values = search.condition(text)
        clauses.append(clause)
        values |= text_values
    return clauses, values


def _plain(value: Any) -> Any:
    """A value that PostgreSQL accepts."""
    return clean(value.replace("\0", "")) if isinstance(value, str) else value


def counts(connections: Connections, by: CountedBy, since: str) -> list[RunCount]:
    """Count the runs that started since a time."""
    values = {"since": since}
    running = _all(connections, f"{_SELECT} WHERE status = 'running' AND started >= %(since)s", values)
    ended = _all(connections, count_query(by, "started >= %(since)s"), values)
    return list(run_counts(by, ended, map(summary, running)))


def times(connections: Connections, since: str) -> list[tuple[Any, ...]]:
    """The day and duration of each finished run since a time."""
    return _all(connections, TIMES.format(since="started >= %(since)s"), {"since": since})


def batches(connections: Connections) -> list[BatchCount]:
    """Count the runs of each batch by status, newest batch first."""
    ended = _all(
        connections,
        "SELECT batch, status, count(*), CASE WHEN count(cost_usd) = count(*) THEN sum(cost_usd) END, "
        "coalesce(sum(seconds), 0), min(run_id), max(run_id) FROM runs "
        "WHERE batch IS NOT NULL AND status <> 'running' GROUP BY batch, status",
    )
    running = _all(connections, f"{_SELECT} WHERE batch IS NOT NULL AND status = 'running'")
    return by_batch((BatchCount(*row) for row in ended), map(summary, running))


def conversations(
    connections: Connections, most: int | None, conversation: str | None
) -> Iterator[ConversationSummary]:
    """The conversations, newest turn first, or only one."""
    which = "conversation IS NOT NULL" if conversation is None else "conversation = %(conversation)s"
    query = f"{CONVERSATIONS.format(which=which)} LIMIT %(most)s"
    counted = _all(connections, query, {"most": most, "conversation": _plain(conversation)})
    wanted = [run_id for *_, first, last in counted for run_id in (first, last)]
    ends = {
        row[0]: summary(row) for row in _all(connections, f"{_SELECT} WHERE run_id = ANY(%(runs)s)", {"runs": wanted})
    }
    for *columns, first, last in counted:
        yield as_conversation(columns, ends[first], ends[last])


def find(connections: Connections, run: str) -> RunSummary:
    """Return the run with that id or unique prefix, or for `last` the newest that was not imported, if any."""
    name = run.replace("\0", "").encode("utf-8", "replace").decode()
    if run == "last":
        newest = "ORDER BY run_id DESC LIMIT 1"
        rows = _all(connections, f"{_SELECT} WHERE NOT imported {newest}")
        rows = rows or _all(connections, f"{_SELECT} {newest}")
    else:
        # Ids compare by bytes, and no text sorts after this character.
        rows = _all(
            connections,
            f"({_SELECT} WHERE run_id = %(run)s) UNION ALL ({_SELECT} WHERE run_id > %(run)s "
            "AND run_id < %(run)s::text || U&'\\+10FFFF' ORDER BY run_id DESC LIMIT 5)",
            {"run": name},
        )
    return summary(only_match(run, rows, connections.address.url))


def rows(connections: Connections, clause: str, values: dict[str, Any]) -> Iterator[Row]:
    """The rows that match a condition, by run and number."""
    query = f"{_ROWS} WHERE {clause} AND (e.run, e.seq) > (%(run)s, %(seq)s) ORDER BY e.run, e.seq LIMIT {PAGE}"
    run, seq = -1, 0
    while True:
        position = {"run": run, "seq": seq}
        page = connections.read(lambda connection: _joined(connection, query, values | position))  # noqa: B023
        for _, row in page:
            yield row
        if len(page) < PAGE:
            return
        run, seq = page[-1][0], page[-1][1].seq


def first_row(connections: Connections, clause: str, values: dict[str, Any]) -> Row | None:
    """The first row in the order of a clause."""
    query = f"{_ROWS} {clause}"
    return next((row for _, row in connections.read(lambda connection: _joined(connection, query, values))), None)


def summary(row: Sequence[Any]) -> RunSummary:
    """The summary in a row of `_SELECT`."""
    *columns, holder, age = row
    return read_summary(columns, leased=is_leased(holder, age))


def _all(connections: Connections, query: str, values: dict[str, Any] | None = None) -> list[tuple[Any, ...]]:
    return connections.read(lambda connection: connection.execute(query, values).fetchall())


def _joined(connection: Connection, query: str, values: dict[str, Any]) -> list[tuple[int, Row]]:
    """Read rows with their large texts."""
    stored = connection.execute(query, values).fetchall()
    bodies = [decode(body) for *_, body in stored]
    hashes = [bytes.fromhex(sha) for sha in {sha for body in bodies for sha in texts.hashes(body)}]
    large: dict[str, str] = {}
    if hashes:
        found = connection.execute("SELECT sha, text FROM texts WHERE sha = ANY(%s)", (hashes,), binary=True)
        large = {sha.hex(): bytes(text).decode("utf-8", "surrogatepass") for sha, text in found}
    return [
        (run, Row(run_id, seq, at, kind, texts.join(body, lambda sha: large.get(sha) or missing(sha))))
        for (run, run_id, seq, at, kind, _), body in zip(stored, bodies, strict=True)
    ]
