"""Deletes runs: row by row, or by dropping a partition if all of its runs are deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright_executor.stores.postgres import leases
from goalwright_executor.stores.postgres.schema import PARTITION

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from goalwright_executor.stores.postgres.connections import Connection

# Runs per deleting transaction.
CHUNK = 10_000
_PARTITIONS = (
    "SELECT c.relname, i.inhdetachpending FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid "
    "WHERE i.inhparent = 'events'::regclass"
)


def whole_partitions(connection: Connection, run_ids: Sequence[str]) -> set[int]:
    """The partitions of which all runs are deleted: they are dropped, so their events need no DELETE."""
    if len(run_ids) < CHUNK:
        return set()
    query = f"SELECT id / {PARTITION} FROM runs GROUP BY 1 HAVING bool_and(run_id = ANY(%s))"  # noqa: S608 - no input
    return {number for (number,) in connection.execute(query, (list(run_ids),))}


def delete_runs(
    connection: Connection, run_ids: Sequence[str], whole: Collection[int], steady: float, deleted: dict[str, int]
) -> None:
    """Delete runs that are not leased and add their keys to `deleted`; can be retried after an interruption."""
    with connection.transaction():
        runs = connection.execute(
            f"SELECT r.id, r.run_id, r.holder, {leases.AGE} FROM {leases.JOINED} "  # noqa: S608 - no input
            "WHERE r.run_id = ANY(%s) ORDER BY r.run_id FOR UPDATE OF r",
            (list(run_ids),),
        ).fetchall()
        for key, run_id, holder, age in runs:
            if leases.wait(holder, age, steady) == 0.0:
                deleted[run_id] = key
            else:
                deleted.pop(run_id, None)
        keys = [deleted[run_id] for _, run_id, *_ in runs if run_id in deleted]
        separate = [key for key in keys if key // PARTITION not in whole]
        connection.execute("DELETE FROM events WHERE run = ANY(%s)", (separate,))
        connection.execute("DELETE FROM run_words WHERE run = ANY(%s)", (keys,))
        connection.execute("DELETE FROM runs WHERE id = ANY(%s)", (keys,))


def clean(connection: Connection) -> None:
    """Drop partitions without runs, the texts of their eras, and workers without a heartbeat for a day."""
    kept = set(_drop_empty(connection))
    connection.execute("DELETE FROM texts WHERE era < %s", (min(kept, default=0),))
    connection.execute(
        "DELETE FROM workers w WHERE beat < clock_timestamp() - interval '1 day' "
        "AND NOT EXISTS (SELECT 1 FROM runs WHERE holder = w.id)"
    )


def partitions(connection: Connection) -> list[int]:
    """The numbers of the partitions."""
    return sorted(int(name.removeprefix("events_")) for name, _ in connection.execute(_PARTITIONS))


def _drop_empty(connection: Connection) -> Iterator[int]:
    """Drop the empty partitions before that of the newest run; yields the others.

    They are detached first, so that writers to other partitions do not wait. The next call completes an interrupted
    detachment.
    """
    (newest,) = connection.execute("SELECT coalesce(max(id), 0) FROM runs").fetchone() or (0,)
    for name, pending in connection.execute(_PARTITIONS).fetchall():
        number = int(name.removeprefix("events_"))
        begin = number * PARTITION
        used = "SELECT 1 FROM runs WHERE id >= %s AND id < %s LIMIT 1"
        if begin + PARTITION > newest or connection.execute(used, (begin, begin + PARTITION)).fetchone():
            yield number
            continue
        connection.execute(f"ALTER TABLE events DETACH PARTITION {name} {'FINALIZE' if pending else 'CONCURRENTLY'}")
        connection.execute(f"DROP TABLE {name}")
