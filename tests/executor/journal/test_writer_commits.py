"""Leases in the writer, and the content of its commits."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

import msgspec
import pytest

from goalwright_executor.capture.capture import Capture
from goalwright_executor.journal.log import Log
from goalwright_executor.journal.writer import COHORT, Writer
from goalwright_executor.stores.errors import RunHeld, StoreFailed
from goalwright_executor.stores.lease import BEAT, myself
from goalwright_planner.events import RunFinished, Warned
from tests.executor.journal.faulty_store import SOON, STARTED, Commit, FaultyStore, begun, eventually, settled

# Leases


async def test_closing_releases_runs_after_a_failure(store: FaultyStore) -> None:
    writer = Writer(store)
    for name in ("b", "a"):
        log = Log(writer, name, Capture())
        log.record(msgspec.structs.replace(STARTED, run_id=name))
        writer.take(name)
        await settled(log)
    store.faults.append = StoreFailed("the disk is full")
    log.record(Warned("w"))
    with pytest.raises(StoreFailed):
        await settled(log)
    store.faults.append = None
    writer.close()
    assert store.faults.commits[-1] == Commit([], {}, [], ["a", "b"])
    assert writer.leases == set()
    store.claim("a", replace(myself(), pid=1))
    store.close()


async def test_closing_does_not_raise_if_releasing_fails(store: FaultyStore) -> None:
    writer = Writer(store)
    await begun(writer, Log(writer, "r", Capture()))
    store.faults.append = StoreFailed("the disk is full")
    writer.close()
    assert writer.leases == set()
    store.close()


async def test_closing_without_leases_writes_nothing(store: FaultyStore) -> None:
    writer = Writer(store)
    log = Log(writer, "r", Capture())
    await begun(writer, log)
    writer.release("r")
    await settled(log)
    commits = len(store.faults.commits)
    writer.close()
    assert len(store.faults.commits) == commits
    store.close()


async def test_a_claimed_run_is_leased_and_a_refused_run_is_not(writer: Writer, store: FaultyStore, log: Log) -> None:
    await begun(writer, log)
    writer.release("r")
    await settled(log)
    writer.claim("r")
    assert writer.leases == {"r"}
    writer.release("r")
    await settled(log)
    store.claim("r", replace(myself(), host="another-host"))
    with pytest.raises(RunHeld):
        writer.claim("r")
    assert writer.leases == set()


async def test_leases_are_renewed_when_a_heartbeat_is_due(writer: Writer, store: FaultyStore, log: Log) -> None:
    writer._last_beat = -BEAT  # due, but there is nothing to renew
    log.record(STARTED)
    await settled(log)
    assert store.faults.renewed == []
    writer._last_beat = time.monotonic()
    writer.take("r")
    await settled(log)
    log.record(Warned("not due"))
    await settled(log)
    assert store.faults.renewed == []
    writer._last_beat = time.monotonic() - BEAT
    log.record(Warned("due"))
    await settled(log)
    eventually(lambda: store.faults.renewed == [["r"]])
    log.record(Warned("not due again"))
    await settled(log)
    assert store.faults.renewed == [["r"]]


# Commits


def test_entries_without_waiters_are_written_soon(writer: Writer, store: FaultyStore, log: Log) -> None:
    log.record(STARTED)
    eventually(lambda: [commit.rows for commit in store.faults.commits] == [[("r", 1)]])
    writer.take("r")
    eventually(lambda: writer.leases == {"r"})
    writer.release("r")
    eventually(lambda: writer.leases == set())


async def test_settling_without_entries_is_quick(writer: Writer, store: FaultyStore, log: Log) -> None:
    await settled(log)
    assert store.faults.commits == []


async def test_entries_with_a_waiter_are_written_at_once(
    writer: Writer, store: FaultyStore, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("goalwright_executor.journal.writer.LINGER", 60.0)
    log.record(STARTED)
    await settled(log)
    assert [row.seq for row in store.rows("r")] == [1]
    assert log.url == store.url


def test_entries_without_waiters_are_written_together(
    writer: Writer, store: FaultyStore, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("goalwright_executor.journal.writer.LINGER", 1.0)
    log.record(STARTED)
    time.sleep(0.05)  # long enough for a commit that does not wait
    log.record(Warned("a"))
    log.record(Warned("b"))
    eventually(lambda: store.faults.commits)
    assert [commit.rows for commit in store.faults.commits] == [[("r", 1), ("r", 2), ("r", 3)]]


class Watched(Writer):
    """Counts how often its thread wakes up."""

    wakeups = 0

    def _commit(self) -> None:
        self.wakeups += 1
        super()._commit()


async def test_the_thread_sleeps_while_there_is_nothing_to_write(store: FaultyStore) -> None:
    writer = Watched(store)
    log = Log(writer, "r", Capture())
    log.record(STARTED)
    await settled(log)
    await asyncio.sleep(0.1)
    assert writer.wakeups < 5
    writer.close()
    store.close()


async def test_a_commit_serves_one_cohort_and_the_next_follows_at_once(writer: Writer, store: FaultyStore) -> None:
    logs = [Log(writer, f"r{number:03d}", Capture()) for number in range(2 * COHORT + 1)]
    with store._database._lock:  # the first commit waits, and the others queue up behind it
        logs[0].record(Warned("first"))
        waiting = [logs[0].settle()]
        eventually(lambda: store.faults.commits)
        for log in logs[1:]:
            log.record(Warned("w"))
            waiting.append(log.settle())
    await asyncio.wait_for(asyncio.gather(*waiting), SOON)
    assert [len(commit.rows) for commit in store.faults.commits] == [1, COHORT, COHORT]


async def test_only_changed_summaries_are_written(writer: Writer, store: FaultyStore, log: Log) -> None:
    for event in (STARTED, Warned("w"), RunFinished("done", seconds=1.0)):
        log.record(event)
        await settled(log)
    written = [{run: summary.status for run, summary in commit.summaries.items()} for commit in store.faults.commits]
    assert written == [{"r": "running"}, {}, {"r": "done"}]
