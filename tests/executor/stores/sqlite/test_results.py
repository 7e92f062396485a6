"""Results of other runs by key, in SQLite."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest

from goalwright_executor.stores.columns import APPROVALS
from goalwright_executor.stores.row import Row
from goalwright_executor.stores.sqlite.store import SqliteStore
from tests.executor.stores.runs import line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "journal.sqlite")
    yield opened
    opened.close()


def finished(run: str, seq: int, key: str, output: str, day: int = 1) -> Row:
    body = {"task": "a", "status": "done", "seconds": 0.1, "output": output, "error": None, "key": key}
    return Row(run, seq, f"2026-01-{day:02}T00:00:00.000000Z", "task_finished", body)


def put(store: SqliteStore, *rows: Row) -> None:
    store.append(rows, {row.run_id: line(row.run_id) for row in rows})


def output(store: SqliteStore, key: str, since: str = "2026-01-01", apart_from: str = "mine") -> str | None:
    found = store.result(key, since, apart_from=apart_from)
    return None if found is None else found.body["output"]


def test_a_damaged_row_does_not_hide_other_results(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    before = SqliteStore(path)
    put(before, finished("r1", 1, "k", "old"))
    before.close()
    with sqlite3.connect(path) as connection:
        connection.execute(
            "INSERT INTO events (run, seq, at, type, body) VALUES (1, 2, '2026', 'task_finished', '{broken')"
        )
    connection.close()
    after = SqliteStore(path)
    assert output(after, "k") == "old"
    after.close()


def test_results_and_approvals_are_found_by_an_index(store: SqliteStore, tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "journal.sqlite")
    query = f"SELECT 1 FROM events e WHERE e.{APPROVALS} AND e.type IN (?) ORDER BY e.run, e.seq"  # noqa: S608
    assert "events_by_approval" in str(connection.execute(f"EXPLAIN QUERY PLAN {query}", ("x",)).fetchall())
    steps = connection.execute("EXPLAIN QUERY PLAN SELECT run, seq FROM results WHERE key = ?", ("k",))
    assert "results_by_key" in str(steps.fetchall())
    connection.close()
