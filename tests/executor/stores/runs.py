"""Runs and rows for tests of stores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from executor.stores.row import Row, RunSummary
from executor.stores.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from pathlib import Path


def line(run_id: str, status: str = "done") -> RunSummary:
    return RunSummary(run_id, f"goal of {run_id}", status, "2026-01-01T00:00:00.000000Z", 1.0, 2, 0.5)


def row(run_id: str, seq: int, kind: str = "warned", **body: object) -> Row:
    return Row(run_id, seq, "2026-01-01T00:00:00.000000Z", kind, dict(body))


def filled(path: Path, *run_ids: str) -> SqliteStore:
    store = SqliteStore(path)
    for run_id in run_ids:
        store.append(
            [row(run_id, 1, message="x" * 1000), row(run_id, 2, "task_started", task="a")], {run_id: line(run_id)}
        )
    return store
