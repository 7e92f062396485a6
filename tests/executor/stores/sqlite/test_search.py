"""The search index in SQLite: created when it is missing."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from goalwright_executor.history.indexer import catch_up
from goalwright_executor.stores.sqlite.store import SqliteStore
from tests.executor.stores.runs import line, row

if TYPE_CHECKING:
    from pathlib import Path


def ids(store: SqliteStore, text: str) -> list[str]:
    return [run.run_id for run in store.summaries(text=text)]


def fill(store: SqliteStore) -> None:
    rows = [
        row("r", 1, "warned", message="x"),
        row("r", 2, "run_finished", status="done", answer="a needle", seconds=1.0),
    ]
    store.append(rows, {"r": line("r")})


def test_a_lost_table_is_rebuilt(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    store = SqliteStore(path)
    fill(store)
    assert catch_up(store, 60.0)
    store.close()
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE run_words")
    connection.close()
    store = SqliteStore(path)
    assert ids(store, "goal") == ["r"]
    assert ids(store, "needle") == []
    assert catch_up(store, 60.0)
    assert ids(store, "needle") == ["r"]
    store.close()
