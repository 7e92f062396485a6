"""The SQLite store: rows and runs, written, read, found and deleted."""

from __future__ import annotations

import sqlite3
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from executor.journal.open_store import open_store
from executor.stores.errors import StoreFailed, UnknownRun
from executor.stores.sqlite.store import SqliteStore
from executor.stores.urls import url_of
from tests.executor.stores.runs import filled, line, row

if TYPE_CHECKING:
    from pathlib import Path
    from types import FrameType


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite"


def test_rows_come_back_in_order_whole_and_by_type_and_task(path: Path) -> None:
    store = filled(path, "r1")
    assert [one.body for one in store.rows("r1")] == [{"message": "x" * 1000}, {"task": "a"}]
    assert [one.seq for one in store.rows("r1", types=("task_started",))] == [2]
    assert [one.seq for one in store.rows("r1", task="a")] == [2]
    assert list(store.rows("r2")) == []


def test_runs_are_listed_newest_first_and_found_by_a_prefix_of_their_id(path: Path) -> None:
    store = filled(path, "20260101-a", "20260102-b")
    assert [run.run_id for run in store.summaries()] == ["20260102-b", "20260101-a"]
    assert store.find("20260101").run_id == "20260101-a"
    assert store.find("last").run_id == "20260102-b"
    with pytest.raises(UnknownRun, match="20260102-b, 20260101-a"):
        store.find("2026")
    with pytest.raises(UnknownRun, match="no run 'x%'"):
        store.find("x%")


def test_an_empty_name_finds_no_run(path: Path) -> None:
    store = open_store(url_of(path))
    with pytest.raises(UnknownRun, match="no run was named"):
        store.find("")
    store.close()


def test_an_exact_id_wins_over_longer_ones(path: Path) -> None:
    store = filled(path, "r1", *(f"r1{number}" for number in range(9)))
    assert store.find("r1").run_id == "r1"


def test_an_append_is_all_or_nothing(path: Path) -> None:
    store = filled(path, "r1")
    with pytest.raises(StoreFailed, match="cannot be written"):
        store.append([row("r1", 3, message="new"), row("r1", 2, message="taken already")], {"r1": line("r1")})
    assert [one.seq for one in store.rows("r1")] == [1, 2]


def test_deleting_a_run_deletes_only_its_own_texts(path: Path) -> None:
    store = filled(path, "r1", "r2")
    store.append([row("r1", 3, message="only here " * 100)], {"r1": line("r1")})
    store.delete(["r1"])
    assert [run.run_id for run in store.summaries()] == ["r2"]
    assert next(store.rows("r2")).body == {"message": "x" * 1000}
    store.close()
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM texts").fetchone() == (1,)
    connection.close()


def test_every_commit_is_on_disk_before_it_is_acknowledged(path: Path) -> None:
    store = SqliteStore(path)
    assert store._database._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert store._database._connection.execute("PRAGMA synchronous").fetchone() == (2,)


def test_several_writers_at_once_lose_nothing(path: Path) -> None:
    def write(number: int) -> None:
        store = SqliteStore(path)
        for seq in range(20):
            store.append([row(f"r{number}", seq)], {f"r{number}": line(f"r{number}")})
        store.close()

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(1 for number in range(4) for _ in SqliteStore(path).rows(f"r{number}")) == 80


def test_lone_surrogates_do_no_harm(path: Path) -> None:
    store = SqliteStore(path)
    store.append([row("r", 1, message="a\ud800b"), row("r", 2, message="\ud800" * 900)], {"r": line("r")})
    assert len(list(store.rows("r"))) == 2


def test_a_rollback_in_another_thread_does_not_break_a_waiting_append(path: Path) -> None:
    store = filled(path, "r1", "r2")
    appending = threading.Thread(target=lambda: store.append([row("r1", 3)], {}))
    with store._database._lock:
        appending.start()
        while not (caller := sys._current_frames().get(appending.ident or 0)) or "writing" not in calls(caller):
            time.sleep(0.001)
        store._keys.clear()
    appending.join()
    assert [one.seq for one in store.rows("r1")] == [1, 2, 3]


def calls(frame: FrameType | None) -> list[str]:
    """The names of the functions that a thread is in."""
    names = []
    while frame is not None:
        names.append(frame.f_code.co_name)
        frame = frame.f_back
    return names
