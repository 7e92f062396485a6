"""Lists of runs: a page at a time, filtered, by batch; and the signals by which other processes follow a run."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING

import pytest

from weft_executor.stores.sqlite import schema
from weft_executor.stores.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite"


def test_an_older_journal_learns_what_its_runs_selected(path: Path) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    schema.migrate(connection, str(path), schema.STEPS[:4])
    few = [{"name": "one", "score": 1.0, "reason": "x"}, {"name": "two", "score": 0.5, "reason": "y"}]
    for key, (status, selections) in enumerate([("done", few), ("failed", {"$json": "0" * 64})], 1):
        connection.execute(
            "INSERT INTO runs (run_id, goal, status, started, tasks) VALUES (?, 'g', ?, '', 3)", (f"r{key}", status)
        )
        body = json.dumps({"detector": "ranked", "selections": selections, "available": 9})
        connection.execute(
            "INSERT INTO events (run, seq, at, type, body) VALUES (?, 1, '', 'skills_selected', ?)", (key, body)
        )
    connection.close()
    found = {run.run_id: (run.skills, run.done) for run in SqliteStore(path).summaries()}
    assert found == {"r1": (("one", "two"), 3), "r2": ((), None)}
