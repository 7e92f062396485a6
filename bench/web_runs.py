"""Runs for the measurements of the page: large runs, many runs, and a live run written by another process.

python -m bench.web_runs JOURNAL RUN LAYERS WIDTH SECONDS      write a live run
"""

from __future__ import annotations

import json
import random
import sys
import time
from pathlib import Path
from typing import Any

from goalwright_executor.stores.lease import Handover, myself
from goalwright_executor.stores.row import Row, RunSummary
from goalwright_executor.stores.sqlite.store import SqliteStore

CHANGES = 100  # a second


def stamp(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{int(seconds % 1 * 1e6):06}Z"


def layered(layers: int, width: int) -> list[dict[str, Any]]:
    """Return tasks in layers that each depend on three tasks of the layer before."""
    rng, needs = random.Random(1), min(3, width)
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


def opening(run: str, tasks: list[dict[str, Any]], now: float) -> list[Row]:
    goal = {"run_id": run, "goal": f"{len(tasks)} tasks", "workspace": "/w", "settings": {}}
    plan = {"plan": {"tasks": tasks}, "attempts": 1}
    return [Row(run, 1, stamp(now), "run_started", goal), Row(run, 2, stamp(now), "plan_made", plan)]


def write_ended(store: SqliteStore, run: str, tasks: list[dict[str, Any]], answer: str = "an answer") -> None:
    """Write a finished run."""
    now = time.time() - 100
    rows = opening(run, tasks, now)
    for index, task in enumerate(tasks):
        at = now + 1 + index * 0.04
        rows.append(Row(run, len(rows) + 1, stamp(at), "task_started", {"task": task["id"]}))
        done = {"task": task["id"], "status": "done", "output": "x"}
        rows.append(Row(run, len(rows) + 1, stamp(at + 3), "task_finished", done))
    rows.append(Row(run, len(rows) + 1, stamp(now + 90), "run_finished", {"status": "done", "answer": answer}))
    line = RunSummary(run, f"{len(tasks)} tasks", "running", rows[0].at, 90, len(tasks), 0.1, None, len(tasks))
    store.append(rows[:1], {run: line}, Handover(myself(), taken=[run]))
    ended = RunSummary(run, line.goal, "done", line.started, 90, len(tasks), 0.1, None, len(tasks))
    store.append(rows[1:], {run: ended}, Handover(myself(), released=[run]))


def write_live(path: str, run: str, layers: str, width: str, seconds: str) -> None:
    """Start a run, finish a task every 10 ms, and print the times."""
    store, tasks = SqliteStore(Path(path)), layered(int(layers), int(width))
    rows = opening(run, tasks, time.time())
    line = RunSummary(run, "live", "running", rows[0].at)
    store.append(rows, {run: line}, Handover(myself(), taken=[run]))
    print("begun", flush=True)
    sys.stdin.readline()
    seq, written, began = 2, [], time.perf_counter()
    for index in range(min(len(tasks) * 40, int(float(seconds) * CHANGES))):
        time.sleep(max(0, began + index / CHANGES - time.perf_counter()))
        task, kind = tasks[index % len(tasks)]["id"], index // len(tasks) % 2
        body = {"task": task, "status": "done", "output": "x"} if kind == 0 else {"task": task}
        if kind == 0:
            seq += 1
            store.append([Row(run, seq, stamp(time.time()), "task_started", {"task": task})], {})
        seq += 1
        store.append([Row(run, seq, stamp(time.time()), "task_finished" if kind == 0 else "task_started", body)], {})
        if index < len(tasks):
            written.append([index + 1, time.time() * 1000])
    print(json.dumps({"written": written, "last": seq}), flush=True)
    sys.stdin.readline()
    requested = time.perf_counter()
    while run not in store.stop_requests():
        if time.perf_counter() - requested > 20:
            return
        time.sleep(1)  # the interval of the product's writer
    print(time.time(), flush=True)


def write_many(store: SqliteStore, count: int) -> None:
    """Write many runs without events."""
    words = ["report", "parser", "tickets", "cache", "handbook", "notes", "release", "survey"]
    for begin in range(0, count, 5000):
        rows, lines = [], {}
        for number in range(begin, min(count, begin + 5000)):
            run = f"20250101T{number:09}-{number:06x}"
            goal = f"Summarise the {words[number % 8]} of team {number % 977}"
            at = stamp(1.7e9 + number)
            body = {"run_id": run, "goal": goal, "workspace": "/w", "settings": {}}
            rows.append(Row(run, 1, at, "run_started", body))
            lines[run] = RunSummary(run, goal, "done" if number % 9 else "failed", at, 3.0, 4, 0.01, None, 4)
        store.append(rows, lines, Handover(myself(), taken=list(lines)))
        store.append([], {}, Handover(myself(), released=list(lines)))


if __name__ == "__main__":
    write_live(*sys.argv[1:])
