"""The SQLite store: deletion, lookup, durability and threads."""

from __future__ import annotations

import sqlite3
import sys
import threading
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from goalwright_executor.stores.errors import UnknownRun
from goalwright_executor.stores.lease import Handover, myself
from goalwright_executor.stores.sqlite import database, statements
from goalwright_executor.stores.sqlite.database import Database
from goalwright_executor.stores.sqlite.store import SqliteStore
from tests.executor.stores.runs import filled, line, row

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


def test_a_deletion_of_many_runs_lets_other_writers_in(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "_BUSY", 0.0)  # a writer that finds it locked fails at once
    monkeypatch.setattr(statements, "DELETED_RUNS", 2)
    monkeypatch.setattr(statements, "DELETED_TEXTS", 1)
    old = [f"r{number}" for number in range(5)]
    store, other = filled(path, *old), filled(path, "held")
    store.append([row(name, 3, message=f"only of {name} " * 100) for name in old], {name: line(name) for name in old})
    other.claim("held", myself())
    written = iter(range(3, 100))

    def write(_: float) -> None:
        other.append([row("held", next(written), message="y" * 1000)], {"held": line("held", "running")})

    monkeypatch.setattr("goalwright_executor.stores.sqlite.store.time.sleep", write)
    assert store.delete([*old, "held"]) == old
    assert next(written) > 3 + 3, "it wrote between the deletions of runs and of texts"
    assert [one.body["message"] for one in other.rows("held", types=("warned",))][-1] == "y" * 1000
    assert free_pages(path) > 0, "the file is not vacuumed while a run is in progress"
    other.append([], {}, Handover(myself(), released=["held"]))
    assert store.delete(["held"]) == ["held"]
    assert free_pages(path) == 0
    store.close()
    other.close()


def free_pages(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA freelist_count").fetchone()[0])


def test_a_run_is_found_by_an_index(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, connect, steps = filled(path, *(f"r{number:03}" for number in range(200))), Database._connect, list[int]()

    def counted(self: Database, mode: str) -> sqlite3.Connection:
        connection = connect(self, mode)
        connection.set_progress_handler(lambda: steps.append(1), 10)
        return connection

    monkeypatch.setattr(Database, "_connect", counted)
    assert store.find("r150").run_id == "r150"
    assert store.find("last").run_id == "r199"
    with pytest.raises(UnknownRun, match="r019, r018, r017"):
        store.find("r01")
    assert len(steps) < 100
    store.close()


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
    """Return the names of the functions on a thread's stack."""
    names = []
    while frame is not None:
        names.append(frame.f_code.co_name)
        frame = frame.f_back
    return names
