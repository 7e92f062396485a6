"""The runs of a journal in PostgreSQL: lists, a page at a time, and the rows of events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft_executor.capture.json_text import decode
from weft_executor.stores import texts
from weft_executor.stores.columns import SUMMARY, missing
from weft_executor.stores.postgres.leases import AGE, JOINED, is_leased
from weft_executor.stores.row import BatchCount, ConversationSummary, Row, RunSummary
from weft_executor.stores.run_lists import as_conversation, by_batch, literal, only_match, read_summary, stored_statuses

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from weft_executor.stores.postgres.connections import Connection, Connections

_SELECT = f"SELECT {SUMMARY}, holder, {AGE} FROM {JOINED}"  # noqa: S608 - no input
_ROWS = "SELECT e.run, r.run_id, e.seq, e.at, e.type, e.body FROM events e JOIN runs r ON r.id = e.run"
# How many runs or rows are read at once. Each page is a query of its own, so that a connection that breaks between two
# of them costs nothing, and no transaction stays open while someone reads.
PAGE = 500


def summaries(
    connections: Connections,
    most: int | None,
    *,
    before: str = "",
    status: Collection[str] = (),
    text: str = "",
    batch: str | None = None,
    conversation: str | None = None,
) -> Iterator[RunSummary]:
    """The runs that fit, newest first."""
    clauses, given = ["TRUE"], dict[str, Any]()
    if batch is not None:
        clauses.append("batch = %(batch)s")
        given["batch"] = batch
    if conversation is not None:
        clauses.append("conversation = %(conversation)s")
        given["conversation"] = conversation
    if status:
        clauses.append("status = ANY(%(status)s)")
        given["status"] = stored_statuses(status)
    if text:
        clauses.append("(goal ILIKE %(within)s OR run_id ILIKE %(start)s OR skills ILIKE %(within)s)")
        given |= {"within": f"%{literal(text)}%", "start": f"{literal(text)}%"}
    left = most
    while left is None or left > 0:
        bound = [*clauses, "run_id < %(before)s"] if before else clauses
        size = PAGE if left is None else min(PAGE, left)
        query = f"{_SELECT} WHERE {' AND '.join(bound)} ORDER BY run_id DESC LIMIT {size}"
        page = _all(connections, query, given | {"before": before})
        for row in page:
            found = summary(row)
            if not status or found.status in status:
                yield found
                left = None if left is None else left - 1
        if len(page) < size:
            return
        before = page[-1][0]


def batches(connections: Connections) -> list[BatchCount]:
    """The runs of each batch, counted by status; the newest batch first."""
    counted = _all(
        connections,
        "SELECT batch, status, count(*), CASE WHEN count(cost_usd) = count(*) THEN sum(cost_usd) END, "
        "coalesce(sum(seconds), 0), min(run_id), max(run_id) FROM runs "
        "WHERE batch IS NOT NULL AND status <> 'running' GROUP BY batch, status",
    )
    running = _all(connections, f"{_SELECT} WHERE batch IS NOT NULL AND status = 'running'")
    return by_batch((BatchCount(*row) for row in counted), map(summary, running))


def conversations(connections: Connections, most: int | None) -> Iterator[ConversationSummary]:
    """The conversations, that with the newest turn first."""
    counted = _all(
        connections,
        "SELECT conversation, count(*), CASE WHEN count(cost_usd) = count(*) THEN sum(cost_usd) END, min(run_id), "
        "max(run_id) FROM runs WHERE conversation IS NOT NULL GROUP BY conversation ORDER BY max(run_id) DESC "
        "LIMIT %(most)s",
        {"most": most},
    )
    wanted = [run_id for *_, first, last in counted for run_id in (first, last)]
    ends = {
        row[0]: summary(row) for row in _all(connections, f"{_SELECT} WHERE run_id = ANY(%(runs)s)", {"runs": wanted})
    }
    for *columns, first, last in counted:
        yield as_conversation(columns, ends[first], ends[last])


def find(connections: Connections, run: str) -> RunSummary:
    """The run of that id, of the only id that starts with it, or `last`; names the candidates if ambiguous."""
    name = run.replace("\0", "").encode("utf-8", "replace").decode()
    if run == "last":
        rows = _all(connections, f"{_SELECT} ORDER BY run_id DESC LIMIT 1")
    else:
        # Ids compare by their bytes, and no text sorts behind this character.
        rows = _all(
            connections,
            f"({_SELECT} WHERE run_id = %(run)s) UNION ALL ({_SELECT} WHERE run_id > %(run)s "
            "AND run_id < %(run)s::text || U&'\\+10FFFF' ORDER BY run_id DESC LIMIT 5)",
            {"run": name},
        )
    return summary(only_match(run, rows, connections.address.url))


def rows(connections: Connections, clause: str, given: dict[str, Any]) -> Iterator[Row]:
    """The rows that fit a condition, by run and number."""
    query = f"{_ROWS} WHERE {clause} AND (e.run, e.seq) > (%(run)s, %(seq)s) ORDER BY e.run, e.seq LIMIT {PAGE}"
    run, seq = -1, 0
    while True:
        page = connections.read(lambda connection: _joined(connection, query, {**given, "run": run, "seq": seq}))  # noqa: B023
        for _, row in page:
            yield row
        if len(page) < PAGE:
            return
        run, seq = page[-1][0], page[-1][1].seq


def first_row(connections: Connections, clause: str, given: dict[str, Any]) -> Row | None:
    """The first row in the order that a clause ends with."""
    query = f"{_ROWS} {clause}"
    return next((row for _, row in connections.read(lambda connection: _joined(connection, query, given))), None)


def summary(row: Sequence[Any]) -> RunSummary:
    """The summary in a row of `_SELECT`."""
    *columns, holder, age = row
    return read_summary(columns, leased=is_leased(holder, age))


def _all(connections: Connections, query: str, given: dict[str, Any] | None = None) -> list[tuple[Any, ...]]:
    return connections.read(lambda connection: connection.execute(query, given).fetchall())


def _joined(connection: Connection, query: str, given: dict[str, Any]) -> list[tuple[int, Row]]:
    """Rows with their large texts put back."""
    found = connection.execute(query, given).fetchall()
    bodies = [decode(body) for *_, body in found]
    wanted = [bytes.fromhex(sha) for sha in {sha for body in bodies for sha in texts.hashes(body)}]
    large: dict[str, str] = {}
    if wanted:
        stored = connection.execute("SELECT sha, text FROM texts WHERE sha = ANY(%s)", (wanted,), binary=True)
        large = {sha.hex(): bytes(text).decode("utf-8", "surrogatepass") for sha, text in stored}
    return [
        (run, Row(run_id, seq, at, kind, texts.join(body, lambda sha: large.get(sha) or missing(sha))))
        for (run, run_id, seq, at, kind, _), body in zip(found, bodies, strict=True)
    ]
