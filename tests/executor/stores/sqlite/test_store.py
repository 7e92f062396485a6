"""The SQLite store: rows and runs, written, read, found and deleted."""

from __future__ import annotations

import sqlite3
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from tests.executor.stores.runs import filled, line, row
from weft_executor.stores.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from pathlib import Path
    from types import FrameType


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite"


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
