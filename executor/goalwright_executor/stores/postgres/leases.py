"""Leases of runs: a worker's heartbeat counts for all its runs, and ages are measured by the server's clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright_executor.stores.errors import LeaseLost, NotRunning, RunHeld, UnknownRun
from goalwright_executor.stores.lease import SHARED_EXPIRY, Holder, is_gone_for_all
from goalwright_executor.stores.postgres.connections import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Collection

    from goalwright_executor.stores.lease import StopRequest
    from goalwright_executor.stores.postgres.connections import Connection

# Seconds since a worker's last heartbeat, for queries on `JOINED`.
AGE = "extract(epoch FROM clock_timestamp() - w.beat)::float8"
JOINED = "runs r LEFT JOIN workers w ON w.id = r.holder"
BEAT = (
    "INSERT INTO workers (id, beat) VALUES (%s, clock_timestamp()) ON CONFLICT (id) DO UPDATE SET beat = excluded.beat"
)
_LEASE = f"SELECT r.id, r.holder, {AGE} FROM {JOINED} WHERE r.run_id = %s FOR UPDATE OF r"  # noqa: S608 - no input
# A worker that was silent for longer has given up by itself.
_GIVEN_UP = PATIENCE + SHARED_EXPIRY


def is_leased(holder: str | None, age: float | None) -> bool:
    """Whether a worker whose last heartbeat has this age is alive and holds the run."""
    return holder is not None and age is not None and not is_gone_for_all(Holder.from_json(holder), age)


def wait(holder: str | None, age: float | None, steady: float) -> float | None:
    """Return the seconds to wait before a run may be taken over; None if its holder is alive.

    During an outage of the server no worker can send a heartbeat. A process may take over a run only after the server
    has answered it without interruption (`steady`) for as long as live workers need to be heard.
    """
    if is_leased(holder, age):
        return None
    by_age = holder is not None and age is not None and not is_gone_for_all(Holder.from_json(holder), 0.0)
    if not by_age or (age or 0.0) > _GIVEN_UP:
        return 0.0
    return max(SHARED_EXPIRY - steady, 0.0)


def claim(connection: Connection, run_id: str, holder: Holder, steady: float, *, again: bool) -> tuple[int, float]:
    """Take the lease of a run; returns its key, and the seconds to wait first if it may not be taken yet."""
    me = holder.to_json()
    with connection.transaction():
        lease = connection.execute(_LEASE, (run_id,)).fetchone()
        if lease is None:
            raise UnknownRun(f"run {run_id!r} is no longer in the journal", hint="it was pruned; run its goal again")
        key, other, age = lease
        pause = 0.0 if again and other == me else wait(other, age, steady)
        if pause is None:
            raise RunHeld(
                f"run {run_id} is in use by {Holder.from_json(other)}",
                hint="wait until that process ends, or stop it first",
            )
        if not pause:
            connection.execute(BEAT, (me,))
            connection.execute("UPDATE runs SET holder = %s, stop_request = NULL WHERE id = %s", (me, key))
    return key, pause


def renew(connection: Connection, run_ids: Collection[str], holder: Holder) -> None:
    """Send the worker's heartbeat, which renews all its leases; raises `LeaseLost` with the runs it no longer holds."""
    me = holder.to_json()
    connection.execute(BEAT, (me,))
    kept = connection.execute("SELECT run_id FROM runs WHERE run_id = ANY(%s) AND holder = %s", (list(run_ids), me))
    lost = sorted(set(run_ids) - {run_id for (run_id,) in kept})
    if lost:
        raise LeaseLost(f"another process has taken over run {', '.join(lost)}", lost)


def request_stop(connection: Connection, run_id: str, request: StopRequest) -> None:
    """Store a stop request for the process that holds a run."""
    with connection.transaction():
        lease = connection.execute(_LEASE, (run_id,)).fetchone()
        if lease is None:
            raise UnknownRun(
                f"there is no run {run_id!r} in the journal", hint="list runs with `goalwright trace list`"
            )
        key, other, age = lease
        if not is_leased(other, age):
            raise NotRunning(
                f"run {run_id} is not running", hint="resume it with `goalwright resume`, if it is not done"
            )
        connection.execute("UPDATE runs SET stop_request = %s WHERE id = %s", (request, key))
