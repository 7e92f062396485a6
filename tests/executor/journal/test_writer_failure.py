"""After a failed write nothing more is written, and every waiter is notified."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from contextlib import suppress

import pytest
from msgspec.structs import replace

from goalwright_executor.capture.capture import Capture
from goalwright_executor.journal.log import Log
from goalwright_executor.journal.writer import COHORT, Waiter, Writer
from goalwright_executor.stores.errors import LeaseLost, StoreFailed
from goalwright_executor.stores.lease import BEAT
from goalwright_planner.events import Warned
from tests.executor.journal.faulty_store import SOON, STARTED, FaultyStore, begun, eventually, settled

# Failures


async def test_after_a_failed_commit_nothing_is_written(writer: Writer, store: FaultyStore, log: Log) -> None:
    await begun(writer, log)
    store.faults.append = failure = StoreFailed("the disk is full")
    log.record(Warned("lost"))
    with pytest.raises(StoreFailed):
        await settled(log)
    store.faults.append = None  # writing would succeed again, but the log must not have gaps
    tried = len(store.faults.commits)
    log.record(Warned("after it"))
    writer.take("other")
    writer.release("r")
    with pytest.raises(StoreFailed) as caught:
        await settled(log)
    assert caught.value is failure
    assert writer.failure is failure
    assert len(store.faults.commits) == tried
    assert [row.seq for row in store.rows("r")] == [1]
    assert writer.leases == {"r"}, "lease changes during and after the failed commit are ignored"


async def test_a_lease_of_a_failed_commit_is_not_taken(writer: Writer, store: FaultyStore, log: Log) -> None:
    store.faults.append = StoreFailed("the disk is full")
    with pytest.raises(StoreFailed):
        await begun(writer, log)
    assert writer.leases == set()


async def test_a_lost_run_fails_alone(writer: Writer, store: FaultyStore, log: Log) -> None:
    await begun(writer, log)
    other = Log(writer, "other", Capture())
    other.record(replace(STARTED, run_id="other"))
    writer.take("other")
    await settled(other)
    with sqlite3.connect(store._database.path) as connection:  # another machine took over the run and continued it
        connection.execute("UPDATE runs SET holder = '{}' WHERE run_id = 'r'")
        connection.execute("INSERT INTO events (run, seq, at, type, body) VALUES (1, 2, '', 'warned', '{}')")
    connection.close()
    for run_log in (log, other):
        run_log.record(Warned("late"))
    outcomes = await asyncio.gather(log.settle(), other.settle(), writer.settle(), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [LeaseLost, type(None), type(None)]
    assert writer.leases == {"other"}
    log.record(Warned("later still"))
    writer.release("r")
    with pytest.raises(LeaseLost, match="taken over the run"):
        await settled(log)
    assert [row.seq for row in store.rows("other")] == [1, 2]
    assert store.rows("r", after=1).__next__().body == {}
    assert writer.failure is None


async def test_a_heartbeat_fails_only_lost_runs(writer: Writer, store: FaultyStore, log: Log) -> None:
    await begun(writer, log)
    other = Log(writer, "other", Capture())
    other.record(replace(STARTED, run_id="other"))
    writer.take("other")
    await settled(other)
    with sqlite3.connect(store._database.path) as connection:
        connection.execute("UPDATE runs SET holder = NULL WHERE run_id = 'r'")
    connection.close()
    writer._last_beat = -BEAT
    other.record(Warned("wakes the thread"))
    eventually(lambda: writer.lost)
    await settled(other)
    with pytest.raises(LeaseLost, match="taken over run r"):
        await settled(log)
    assert writer.leases == {"other"}
    writer.claim("r")
    await settled(log)


async def test_after_a_failed_renewal_nothing_is_written(writer: Writer, store: FaultyStore, log: Log) -> None:
    await begun(writer, log)
    store.faults.renew = StoreFailed("another process has taken over run r")
    log.record(Warned("before the heartbeat"))
    writer._last_beat = -BEAT
    with suppress(StoreFailed):  # the heartbeat may precede or follow this commit
        await settled(log)
    eventually(lambda: writer.failure)
    commits = len(store.faults.commits)
    writer._last_beat = -BEAT
    log.record(Warned("after it"))
    with pytest.raises(StoreFailed, match="taken over"):
        await settled(log)
    assert len(store.faults.commits) == commits
    assert store.faults.renewed == [["r"]], "a lost lease is not renewed again"
    assert writer._thread.is_alive()


# Waiters


async def test_all_waiters_behind_a_failed_commit_get_the_failure(writer: Writer, store: FaultyStore) -> None:
    store.faults.append = failure = StoreFailed("the disk is full")
    logs = [Log(writer, f"r{number}", Capture()) for number in range(3 * COHORT)]
    waiting = []
    for log in logs:
        log.record(Warned("w"))
        waiting.append(log.settle())
    outcomes = await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), SOON)
    assert all(outcome is failure for outcome in outcomes)
    assert len(store.faults.commits) == 1


async def test_an_unexpected_error_of_a_commit_has_a_cause_and_a_hint(
    writer: Writer, store: FaultyStore, log: Log
) -> None:
    store.faults.append = ZeroDivisionError("by zero")
    log.record(Warned("w"))
    with pytest.raises(StoreFailed, match="the journal failed: ZeroDivisionError: by zero") as caught:
        await settled(log)
    assert "goalwright resume" in caught.value.hint
    assert writer._thread.is_alive()
    with pytest.raises(StoreFailed, match="by zero"):
        await settled(log)


async def test_waiters_are_notified_when_the_thread_dies(writer: Writer, store: FaultyStore, log: Log) -> None:
    await begun(writer, log)
    beating, may_fail = threading.Event(), threading.Event()
    store.faults.renew = ZeroDivisionError("by zero")

    def before_renew() -> None:
        beating.set()
        may_fail.wait(60)

    store.faults.before_renew = before_renew
    writer._last_beat = -BEAT
    log.record(Warned("the last commit"))  # before or after the heartbeat
    await asyncio.to_thread(beating.wait, 60)
    waiting = []
    for _ in range(2 * COHORT + 1):
        log.record(Warned("lost"))
        waiting.append(log.settle())
    may_fail.set()
    outcomes = await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), SOON)
    assert {str(outcome) for outcome in outcomes} == {"the journal failed: ZeroDivisionError: by zero"}
    writer._thread.join(60)
    with pytest.raises(StoreFailed, match="by zero"):
        await settled(log)
    assert [row.seq for row in store.rows("r")] in ([1], [1, 2]), "no lost entry is stored"


async def test_a_closed_failed_writer_raises_its_failure(store: FaultyStore) -> None:
    writer = Writer(store)
    log = Log(writer, "r", Capture())
    store.faults.append = StoreFailed("the disk is full")
    log.record(Warned("w"))
    writer.close()
    with pytest.raises(StoreFailed, match="disk is full"):
        await settled(log)
    store.close()


async def test_a_cancelled_waiter_does_not_block_others(writer: Writer, log: Log) -> None:
    first, second = writer.settle(), writer.settle()
    first.cancel()
    await asyncio.wait_for(second, SOON)
    assert second.result() is None


async def test_a_waiter_of_a_closed_loop_does_not_block_others(writer: Writer, store: FaultyStore, log: Log) -> None:
    def abandon() -> None:
        loop = asyncio.new_event_loop()
        writer._queue.append(Waiter(loop.create_future()))
        loop.close()

    await asyncio.to_thread(abandon)
    log.record(Warned("w"))
    await settled(log)
    assert writer.failure is None
