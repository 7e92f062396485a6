"""The journal: rows per second, and reading a journal of a million events.

Floor: for writing, the store alone with one commit per row; the ceiling is plain sqlite3 with a single commit. For
reading, one second. `bench.engine` measures the cost of recording beside LangGraph's SQLite checkpointer.

    python -m bench.journal
"""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path
from typing import Any

from bench.harness import command
from bench.harness.result import Aim, Benchmark, Column, Findings, Options, Table, cells
from bench.harness.timing import median_ratio
from goalwright.traces.timeline import TYPES, timeline
from goalwright_executor.capture.capture import Capture
from goalwright_executor.journal.journal import Journal
from goalwright_executor.journal.log import now
from goalwright_executor.journal.open_store import open_store
from goalwright_executor.stores.row import Row, RunSummary
from goalwright_executor.stores.urls import url_of
from goalwright_planner.events import Warned

STORE, ONE, GROUP, PLAIN = (
    "the store, row by row",
    "goalwright, one producer",
    "goalwright, 200 producers",
    "sqlite3, one commit",
)
TASKS = 50


def run(options: Options) -> Findings:
    """Measure writing, then reading."""
    rounds, producers, each = (1, 20, 5) if options.quick else (5, 200, 50)
    events, runs = (10_000, 50) if options.quick else (1_000_000, 2_000)
    rates: dict[str, list[float]] = {STORE: [], ONE: [], GROUP: [], PLAIN: []}
    # In the current folder, because the temporary folder may be in memory.
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as name:
        # Alternating rounds, because the speed of a shared disk changes every second.
        for number in range(rounds):
            folder = Path(name, str(number))
            folder.mkdir()
            rates[STORE].append(statements(folder, producers))
            rates[ONE].append(asyncio.run(produced(folder / "one.sqlite", 1, producers)))
            rates[GROUP].append(asyncio.run(produced(folder / "group.sqlite", producers, each)))
            rates[PLAIN].append(plain(folder, producers * each))
        listed, shown, megabytes = million(Path(name), events, runs)
    aims = (
        Aim(
            "rows per second: 200 producers over one by one",
            median_ratio(rates[GROUP], rates[ONE]),
            20.0,
            at_most=False,
        ),
        Aim("trace list, seconds", listed, 1.0),
        Aim("trace show, seconds", shown, 1.0),
        Aim("memory of both, MB", megabytes, 50.0),
    )
    writing = Table(
        "Writing",
        (Column("rows per second", ratio=True),),
        {subject: cells(samples) for subject, samples in rates.items()},
        STORE,
    )
    reading = Table(
        f"Reading a journal of {events:,} events in {runs:,} runs",
        (Column("trace list", "s"), Column("trace show", "s"), Column("memory", "MB")),
        {"goalwright": cells(listed, shown, megabytes)},
    )
    return Findings((writing, reading), aims)


def statements(folder: Path, rows: int) -> float:
    """Return rows per second of the store alone, with one commit per row."""
    store = open_store(url_of(folder / "statements.sqlite"))
    store.append([], {"r": RunSummary("r", "g", "running", now())})
    capture = Capture()
    began = time.perf_counter()
    for seq in range(rows):
        store.append([Row("r", seq, now(), "warned", capture.event(Warned(f"event {seq}")))], {})
    took = time.perf_counter() - began
    store.close()
    return rows / took


def plain(folder: Path, rows: int) -> float:
    """Return rows per second of plain sqlite3 with one statement and one commit."""
    connection = sqlite3.connect(folder / "plain.sqlite")
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE events (run TEXT, seq INTEGER, at TEXT, type TEXT, body TEXT)")
    began = time.perf_counter()
    made = [("r", seq, now(), "warned", f'{{"message": "event {seq}"}}') for seq in range(rows)]
    connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?)", made)
    connection.commit()
    took = time.perf_counter() - began
    connection.close()
    return rows / took


async def produced(path: Path, producers: int, each: int) -> float:
    """Return rows per second of producers that each wait for a row to be on disk."""
    journal = Journal(url_of(path))
    logs = [journal.begin(f"r{number}", Capture()) for number in range(producers)]
    began = time.perf_counter()

    async def produce(number: int) -> None:
        for seq in range(each):
            logs[number].record(Warned(f"event {seq}"))
            await logs[number].settle()

    await asyncio.gather(*(produce(number) for number in range(producers)))
    took = time.perf_counter() - began
    await asyncio.to_thread(journal.close)
    return producers * each / took


def million(folder: Path, events: int, runs: int) -> tuple[float, float, float]:
    """Return the seconds to list all runs and to read one, and the memory in MB."""
    url = url_of(folder / "million.sqlite")
    fill(url, runs, events // runs)
    tracemalloc.start()
    began = time.perf_counter()
    reader = open_store(url, create=False)
    assert len([run.to_dict() for run in reader.summaries()]) == runs
    listed = time.perf_counter() - began
    began = time.perf_counter()
    assert len(timeline(reader.rows(f"r{runs // 2:06d}", types=TYPES)).result.tasks) == TASKS
    shown = time.perf_counter() - began
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    reader.close()
    return listed, shown, peak / 2**20


def fill(url: str, runs: int, each: int) -> None:
    """Write `runs` runs of `each` events to a new journal."""
    store = open_store(url)
    plan = {"tasks": [{"id": f"t{n}", "action_type": "llm", "depends_on": []} for n in range(TASKS)]}
    for run in range(runs):
        run_id = f"r{run:06d}"
        bodies: list[tuple[str, dict[str, Any]]] = [
            ("run_started", {"run_id": run_id, "goal": f"goal {run}", "workspace": "w", "settings": {}}),
            ("plan_made", {"plan": plan, "attempts": 1}),
        ]
        bodies += [("task_started", {"task": f"t{n}", "inputs": "x"}) for n in range(TASKS)]
        bodies += [("warned", {"message": f"event {n} of {run_id}"}) for n in range(each - 2 - 2 * TASKS)]
        bodies += [("task_finished", {"task": f"t{n}", "status": "done", "output": "ok"}) for n in range(TASKS)]
        rows = [Row(run_id, seq, now(), kind, dict(body)) for seq, (kind, body) in enumerate(bodies, start=1)]
        store.append(rows, {run_id: RunSummary(run_id, f"goal {run}", "done", now(), 1.0, TASKS)})
    store.close()


BENCHMARK = Benchmark(
    "journal",
    "Rows per second on disk, and reading a journal of a million events.",
    "The store alone with one commit per row; the ceiling is plain sqlite3 with a single commit.",
    (),
    run,
)

if __name__ == "__main__":
    sys.exit(command.run_single(BENCHMARK))
