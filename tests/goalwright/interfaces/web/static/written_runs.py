"""Runs written directly to the journal: large ones, and ones with hostile texts."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from goalwright_executor.stores.lease import Handover, myself
from goalwright_executor.stores.row import Row, RunSummary
from goalwright_executor.stores.sqlite.store import SqliteStore
from goalwright_skills.builtin.writing.changes import WorkspaceChanges, sha256
from goalwright_skills.builtin.writing.file_change import FileChange

if TYPE_CHECKING:
    from pathlib import Path

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
BIG = "20260101T000000000-b16b16"


def at(seconds: float) -> str:
    return (BEGAN + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")


def layered(layers: int = 20, width: int = 100, needs: int = 3, seed: int = 1) -> list[dict[str, Any]]:
    """Tasks in layers, each depending on tasks of the layer before."""
    rng = random.Random(seed)
    return [
        {
            "id": f"t{layer}_{number}",
            "title": f"Task {layer}.{number}",
            "action_type": "llm",
            "depends_on": sorted(f"t{layer - 1}_{one}" for one in rng.sample(range(width), needs)) if layer else [],
        }
        for layer in range(layers)
        for number in range(width)
    ]


def big_rows(run: str = BIG, tasks: list[dict[str, Any]] | None = None) -> list[Row]:
    """An ended run of 2,000 tasks, some failed and their dependents skipped."""
    tasks = tasks or layered()
    rows = [
        Row(run, 1, at(0), "run_started", {"run_id": run, "goal": "2,000 tasks", "workspace": "/w", "settings": {}}),
        Row(run, 2, at(0.1), "plan_made", {"plan": {"tasks": tasks}, "attempts": 0}),
    ]
    failed: set[str] = set()
    for index, task in enumerate(tasks):
        layer = int(task["id"][1:].partition("_")[0])
        start = 1 + 4 * layer + (index % 7) * 0.3
        if any(one in failed for one in task["depends_on"]):
            failed.add(task["id"])
            end = {"task": task["id"], "status": "skipped", "error": "it depends on a task that failed"}
            rows.append(Row(run, len(rows) + 1, at(start), "task_finished", end))
            continue
        rows.append(Row(run, len(rows) + 1, at(start), "task_started", {"task": task["id"]}))
        status = "failed" if index % 397 == 13 else "done"
        if status == "failed":
            failed.add(task["id"])
        end = {"task": task["id"], "status": status, "output": "x", "error": "refused" if status == "failed" else None}
        rows.append(Row(run, len(rows) + 1, at(start + 3), "task_finished", end))
    rows.append(Row(run, len(rows) + 1, at(90), "run_finished", {"status": "partial", "answer": "an answer"}))
    return rows


def write_change(workspace: Path, run: str, path: str, before: str | None, after: str) -> None:
    """A change of a file, as a run keeps it."""
    changes = WorkspaceChanges(workspace, workspace / ".agents" / "runs" / run / "changes")
    old, new = None if before is None else before.encode(), after.encode()
    if old is not None:
        (workspace / path).parent.mkdir(parents=True, exist_ok=True)
        (workspace / path).write_bytes(old)
    key = sha256(path.encode())[:12]
    changes.apply(changes.propose(FileChange(key, path, None if old is None else sha256(old), sha256(new)), old, new))


def write(
    workspace: Path,
    rows: list[Row],
    *,
    goal: str = "",
    status: str = "done",
    batch: str | None = None,
    conversation: str | None = None,
) -> None:
    """Put a run into a workspace's journal."""
    (workspace / ".agents").mkdir(parents=True, exist_ok=True)
    store = SqliteStore(workspace / ".agents" / "journal.sqlite")
    run, started = rows[0].run_id, rows[0].at
    text = goal or str(rows[0].body.get("goal", ""))
    model = rows[0].body.get("settings", {}).get("model")
    line = RunSummary(run, text, "running", started, batch=batch, conversation=conversation, model=model)
    holder = myself()
    store.append(rows[:1], {run: line}, Handover(holder, taken=[run]))
    line = replace(line, status=status, code=rows[-1].body.get("code"))
    store.append(rows[1:], {run: line}, Handover(holder, released=[run]))
    store.close()
