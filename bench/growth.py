"""Growth: the exponents of time and memory over tasks, goals, skills, events and runs: 1 is linear, 2 quadratic.

Floor: 1, or less if a fixed cost is spread over a larger size.

    python -m bench.growth

CPU time is the best of three rounds at each of three sizes, a factor of four apart. Memory is the peak of Python's
allocations, measured in a separate run.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from bench.harness import command
from bench.harness.engines import journaled, plan_of, scheduled
from bench.harness.graphs import layered
from bench.harness.machine import ROOT
from bench.harness.result import Aim, Benchmark, Cell, Column, Findings, Options, Table, cells
from bench.harness.timing import growth_exponent, spent
from bench.journal import fill
from goalwright.batch.run_batch import run_batch
from goalwright.settings.settings import Settings
from goalwright.traces.timeline import TYPES, timeline
from goalwright_executor.capture.capture import Capture
from goalwright_executor.history.run_history import RunHistory
from goalwright_executor.journal.open_store import open_store
from goalwright_executor.results.memo import Memo
from goalwright_executor.scheduling.attempt import ScheduleLimits
from goalwright_executor.scheduling.schedule import Schedule
from goalwright_executor.stores.urls import url_of
from goalwright_planner.plan.task import Task
from goalwright_skills.discovery.registry import Registry
from goalwright_skills.selection.ranked import RankedDetector

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from bench.harness.timing import Spent

# Takes a size and an empty folder, and returns the function to measure.
Case = Callable[[int, Path], Callable[[], object]]
STEPS = (1, 4, 16)
MOST = 1.1


def tasks(size: int, _: Path) -> Callable[[], object]:
    """A layered graph without a journal."""
    plan = plan_of(layered(20, size // 20))
    return lambda: asyncio.run(scheduled(plan))


def tasks_recorded(size: int, folder: Path) -> Callable[[], object]:
    """A layered graph with a journal."""
    plan = plan_of(layered(20, size // 20))
    return lambda: asyncio.run(journaled(plan, folder))


def tasks_added(size: int, _: Path) -> Callable[[], object]:
    """Tasks that are added while others run."""

    async def nothing(_task: Task, _results: Mapping[str, str]) -> str:
        await asyncio.sleep(0)
        return ""

    async def run_all() -> None:
        schedule = Schedule(nothing, Memo(lambda _: None).recorded, ScheduleLimits(concurrency=16))
        running = asyncio.ensure_future(schedule.run())
        for number in range(size):
            schedule.add(Task(f"t{number}", "llm", depends_on=(f"t{number - 1}",) if number % 3 else ()))
            if number % 10 == 0:
                await asyncio.sleep(0)
        schedule.close()
        assert len(await running) == size

    return lambda: asyncio.run(run_all())


def goals(size: int, folder: Path) -> Callable[[], object]:
    """A batch of goals whose plan is given and calls one tool, so that no model is needed."""
    from openpyxl import Workbook

    Workbook().save(folder / "sheet.xlsx")
    plan = {"tasks": [{"id": "a", "action_type": "tool", "name": "excel_info", "arguments": {"path": "sheet.xlsx"}}]}
    rows = [{"id": str(number), "goal": f"Goal {number}", "plan": plan} for number in range(size)]

    def run_all() -> None:
        output = folder / f"results-{time.monotonic_ns()}.jsonl"
        asyncio.run(run_batch(rows, output, workspace=folder, settings=Settings()))
        done = [json.loads(line)["status"] for line in output.read_text(encoding="utf-8").splitlines()]
        assert done == ["done"] * size, done[:3]

    return run_all


def skills(size: int, folder: Path) -> Callable[[], object]:
    """A library of skills, scanned and indexed for the first goal."""
    texts = [
        path.read_text(encoding="utf-8")
        for path in sorted((ROOT / "skills" / "goalwright_skills" / "library").rglob("SKILL.md"))
    ]
    for number in range(size):
        skill_folder = folder / "skills" / f"s{number}"
        skill_folder.mkdir(parents=True)
        head, _, rest = texts[number % len(texts)].partition("name: ")
        (skill_folder / "SKILL.md").write_text(f"{head}name: s{number}\n{rest.partition(chr(10))[2]}", encoding="utf-8")

    def find() -> None:
        with tempfile.TemporaryDirectory() as cache:
            registry = Registry(folder, env={}, home=folder / "home", cache=Path(cache))
            registry.scan()
            available = registry.list_skills()
            assert len(available) >= size
            RankedDetector(Path(cache)).rank("Write a report about a spreadsheet", available, 5)

    return find


def events(size: int, folder: Path) -> Callable[[], object]:
    """A run of `size` events, read as by `resume` and `trace show`."""
    url = url_of(folder / "journal.sqlite")
    fill(url, 1, size)

    def read() -> None:
        store = open_store(url, create=False)
        assert RunHistory.of(store.rows("r000000"), Capture()).started is not None
        assert timeline(store.rows("r000000", types=TYPES)).result.tasks
        store.close()

    return read


def runs(size: int, folder: Path) -> Callable[[], object]:
    """A journal of `size` runs, listed completely."""
    url = url_of(folder / "journal.sqlite")
    fill(url, size, 110)

    def read() -> None:
        store = open_store(url, create=False)
        assert sum(1 for _ in store.summaries()) == size
        store.close()

    return read


def newest(size: int, folder: Path) -> Callable[[], object]:
    """A journal of `size` runs: list the newest twenty and read one."""
    url = url_of(folder / "journal.sqlite")
    fill(url, size, 110)

    def read() -> None:
        for _ in range(10):
            store = open_store(url, create=False)
            assert len(list(islice(store.summaries(20), 20))) == 20
            assert timeline(store.rows(f"r{size // 2:06d}", types=TYPES)).result.tasks
            store.close()

    return read


# Case: function, smallest size, smallest size of a quick run.
CASES: dict[str, tuple[Case, int, int]] = {
    "tasks of a graph": (tasks, 500, 100),
    "tasks of a graph, journal on": (tasks_recorded, 500, 100),
    "tasks added while others run": (tasks_added, 500, 100),
    "goals of a batch": (goals, 40, 2),
    "skills of a library": (skills, 250, 20),
    "events of a run": (events, 2_000, 200),
    "runs of a journal, listed": (runs, 100, 20),
    "runs of a journal, the newest": (newest, 100, 20),
}


def run(options: Options) -> Findings:
    """Measure each case at each size."""
    steps, rounds = ((1, 4), 1) if options.quick else (STEPS, 3)
    rows: dict[str, tuple[Cell, ...]] = {}
    exponents: dict[str, tuple[Cell, ...]] = {}
    aims: list[Aim] = []
    with _own_folders():
        for name, (case, small, smallest) in CASES.items():
            sizes = [(smallest if options.quick else small) * step for step in steps]
            measured = [_measured(case, size, rounds) for size in sizes]
            times, peaks = [time_ for time_, _ in measured], [peak for _, peak in measured]
            grows = growth_exponent(sizes, times), growth_exponent(sizes, peaks)
            rows[name] = cells(f"{sizes[0]:,} to {sizes[-1]:,}", 1000 * times[0], 1000 * times[-1], peaks[-1])
            exponents[name] = cells(*grows)
            aims += [Aim(f"{name}: {what}", grown, MOST) for what, grown in zip(("time", "memory"), grows, strict=True)]
    columns = (
        Column("sizes"),
        Column("CPU time, smallest", "ms"),
        Column("CPU time, largest", "ms"),
        Column("memory, largest", "MB"),
    )
    both = (Column("time"), Column("memory"))
    tables = (Table("Exponents", both, exponents), Table("Measured", columns, rows, is_plotted=False))
    return Findings(tables, tuple(aims))


def _measured(case: Case, size: int, rounds: int) -> tuple[float, float]:
    """Return the CPU seconds of a case and its peak memory in MB."""
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix="growth-") as folder:
        work = case(size, Path(folder))
        times: list[Spent] = [spent(work) for _ in range(rounds)]
        tracemalloc.start()
        work()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    return min(timing.cpu for timing in times), peak / 2**20


@contextmanager
def _own_folders() -> Iterator[None]:
    """Use a temporary home, so that no file of the user is read or written."""
    before = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="bench-") as home:
        for name in [name for name in os.environ if name.startswith(("XDG_", "GOALWRIGHT_"))]:
            del os.environ[name]
        os.environ["HOME"] = home
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)


BENCHMARK = Benchmark(
    "growth",
    "How time and memory grow with tasks, goals, skills, events and runs, as exponents.",
    "1: twice the size takes twice the time.",
    (),
    run,
)

if __name__ == "__main__":
    sys.exit(command.run_single(BENCHMARK))
