"""Group commit: a waiter continues once its entries are on disk, or raises if they cannot be written."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from goalwright_executor.capture.capture import Capture
from goalwright_executor.journal.journal import Journal
from goalwright_executor.journal.log import Log
from goalwright_executor.journal.writer import COHORT, Waiter, Writer
from goalwright_executor.stores.errors import StoreFailed
from goalwright_executor.stores.lease import BEAT, myself
from goalwright_executor.stores.sqlite.store import SqliteStore
from goalwright_executor.stores.urls import url_of
from goalwright_planner.events import RunStarted, TextStreamed, Warned

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from goalwright_executor.stores.lease import Handover, Holder
    from goalwright_executor.stores.row import EncodedRows, Row, RunSummary


class Counting(SqliteStore):
    """Counts commits, fails after some of them, and always fails to renew a lease."""

    commits = 0
    fails_after = 10**9

    def renew(self, run_ids: Collection[str], holder: Holder) -> None:
        raise ValueError("an unexpected error")

    def append(
        self, rows: Sequence[Row] | EncodedRows, summaries: Mapping[str, RunSummary], handover: Handover | None = None
    ) -> None:
        if self.commits >= self.fails_after:
            raise StoreFailed("the disk is full")
        super().append(rows, summaries, handover)
        self.commits += 1


@pytest.fixture
def store(tmp_path: Path) -> Counting:
    return Counting(tmp_path / "j.sqlite")


@pytest.fixture
def writer(store: Counting) -> Iterator[Writer]:
    writer = Writer(store)
    yield writer
    writer.close()
    store.close()


async def test_settled_entries_can_be_read(writer: Writer, store: Counting) -> None:
    log = Log(writer, "r", Capture())
    log.record(RunStarted("r", "goal", "/w", {}))
    await log.settle()
    assert [row.type for row in store.rows("r")] == ["run_started"]
    assert store.find("r").goal == "goal"


async def test_many_producers_share_commits(writer: Writer, store: Counting) -> None:
    async def produce(number: int) -> None:
        log = Log(writer, f"r{number}", Capture())
        log.record(Warned("w"))
        await log.settle()

    await asyncio.gather(*(produce(number) for number in range(100)))
    assert store.commits < 100  # a hundred without sharing
    assert sum(len(list(store.rows(f"r{number}"))) for number in range(100)) == 100


async def test_waiters_of_later_commits_find_their_rows_on_disk(writer: Writer, store: Counting) -> None:
    async def produce(number: int) -> None:
        log = Log(writer, f"r{number:03d}", Capture())
        for seq in range(1, 4):
            log.record(Warned(f"{number}: {seq}"))
            await log.settle()
            assert [row.seq for row in store.rows(log.run_id)] == list(range(1, seq + 1))

    many = 2 * COHORT + COHORT // 2
    await asyncio.gather(*(produce(number) for number in range(many)))
    assert store.commits >= 3 * many / COHORT
    for number in range(many):
        messages = [row.body["message"] for row in store.rows(f"r{number:03d}")]
        assert messages == [f"{number}: {seq}" for seq in (1, 2, 3)]


async def test_waiters_behind_a_failed_commit_are_notified(writer: Writer, store: Counting) -> None:
    store.fails_after = 1
    log = Log(writer, "r", Capture())
    waiting = []
    for number in range(3 * COHORT):
        log.record(Warned(f"{number}"))
        waiting.append(log.settle())
    outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    succeeded = outcomes.count(None)
    assert outcomes[:succeeded] == [None] * succeeded
    assert succeeded <= len(list(store.rows("r"))), (
        "a waiter may be notified of a later failure although its row is stored"
    )
    assert len(outcomes[succeeded:]) >= 2 * COHORT
    assert all(isinstance(outcome, StoreFailed) for outcome in outcomes[succeeded:])


async def test_pieces_of_a_streamed_answer_are_not_recorded(writer: Writer, store: Counting) -> None:
    log = Log(writer, "r", Capture())
    log.record(TextStreamed("synthesis", None, "piece"))
    log.record(Warned("w"))
    await log.settle()
    assert [(row.seq, row.type) for row in store.rows("r")] == [(1, "warned")]


async def test_after_a_failed_write_every_settle_raises(writer: Writer, store: Counting) -> None:
    store.fails_after = 0
    log = Log(writer, "r", Capture())
    for _ in range(2):
        log.record(Warned("w"))
        with pytest.raises(StoreFailed, match="disk is full"):
            await log.settle()


async def test_closing_writes_entries_without_waiters(tmp_path: Path) -> None:
    journal = Journal(url_of(tmp_path / "j.sqlite"))
    log = journal.begin("r", Capture())
    for number in range(100):
        log.record(Warned(f"{number}"))
    journal.close()
    assert len(list(SqliteStore(tmp_path / "j.sqlite").rows("r"))) == 100


async def test_concurrent_runs_share_commits_for_leases(writer: Writer, store: Counting) -> None:
    async def run(number: int) -> None:
        log = Log(writer, f"r{number}", Capture())
        log.record(RunStarted(f"r{number}", "goal", "/w", {}))
        writer.take(f"r{number}")
        await log.settle()
        assert store.find(f"r{number}").status == "running"
        log.record(Warned("the end"))
        writer.release(f"r{number}")
        await log.settle()

    await asyncio.gather(*(run(number) for number in range(50)))
    assert store.commits < 100  # a hundred without sharing
    assert {run.status for run in store.summaries()} == {"interrupted"}
    assert writer.leases == set()


async def test_closing_releases_runs(tmp_path: Path) -> None:
    journal = Journal(url_of(tmp_path / "j.sqlite"))
    log = journal.begin("r", Capture())
    log.record(Warned("w"))
    journal.take("r")
    journal.release("r")
    journal.close()
    SqliteStore(tmp_path / "j.sqlite").claim("r", replace(myself(), pid=1))


async def test_settling_a_closed_journal_raises(tmp_path: Path) -> None:
    journal = Journal(url_of(tmp_path / "journal.sqlite"))
    log = journal.begin("r", Capture())
    journal.close()
    with pytest.raises(StoreFailed, match="closed"):
        await asyncio.wait_for(asyncio.ensure_future(log.settle()), 60)


class Overtaken(Writer):
    """A writer that another thread closes right after `settle` sees it open."""

    _has_ended = False

    @property
    def _ended(self) -> bool:
        seen = self._has_ended
        if not seen:
            closer = threading.Thread(target=self.close)
            closer.start()
            closer.join()
        return seen

    @_ended.setter
    def _ended(self, ended: bool) -> None:
        self._has_ended = ended


async def test_a_waiter_at_the_moment_of_closing_is_notified(store: Counting) -> None:
    writer = Overtaken(store)
    log = Log(writer, "r", Capture())
    log.record(Warned("w"))
    await asyncio.wait_for(asyncio.ensure_future(log.settle()), 60)
    assert len(list(store.rows("r"))) == 1
    with pytest.raises(StoreFailed, match="closed"):
        await asyncio.wait_for(asyncio.ensure_future(log.settle()), 60)
    store.close()


class Late(Writer):
    """A writer with a waiter that is queued after the last commit, before the end of the thread."""

    waiter: asyncio.Future[None] | None = None

    def _dismiss(self) -> None:
        if self.waiter is not None:
            self._queue.append(Waiter(self.waiter))
        super()._dismiss()


async def test_a_waiter_after_the_last_commit_gets_an_error(store: Counting) -> None:
    writer = Late(store)
    writer.waiter = asyncio.get_running_loop().create_future()
    await asyncio.to_thread(writer.close)
    with pytest.raises(StoreFailed, match="closed"):
        await asyncio.wait_for(writer.waiter, 60)
    store.close()


async def test_waiters_are_notified_of_any_error_that_ends_the_writer(writer: Writer) -> None:
    log = Log(writer, "r", Capture())
    log.record(RunStarted("r", "goal", "/w", {}))
    writer.take("r")
    writer._last_beat = -BEAT  # a heartbeat is due
    await log.settle()
    writer._thread.join(60)
    log.record(Warned("w"))
    with pytest.raises(StoreFailed, match="an unexpected error"):
        await asyncio.wait_for(asyncio.ensure_future(log.settle()), 60)


async def test_closing_a_failed_journal_releases_its_runs(tmp_path: Path) -> None:
    store = Counting(tmp_path / "j.sqlite")
    writer = Writer(store)
    log = Log(writer, "r", Capture())
    log.record(RunStarted("r", "goal", "/w", {}))
    writer.take("r")
    await log.settle()
    store.fails_after = 0
    log.record(Warned("w"))
    with pytest.raises(StoreFailed, match="disk is full"):
        await log.settle()
    store.fails_after = 10**9  # there is space again
    writer.close()
    store.claim("r", replace(myself(), pid=1))
    store.close()
