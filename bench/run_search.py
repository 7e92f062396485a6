"""Searching 10,000 and 100,000 runs: words, filters, the dashboard, and the cost of the index.

Floor: the newest 50 runs of the same journal, without a filter.

    python -m bench.run_search

Every run has a goal, an answer of about 120 words and three tasks with titles, one of them for an item; every ninth run
failed. Figures are the best of seven, in CPU time of Python and SQLite in this process.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.harness import command
from bench.harness.result import Aim, Benchmark, Cell, Column, Findings, Options, Table
from bench.web_runs import stamp
from goalwright.traces.statistics import statistics
from goalwright_executor.history.indexer import catch_up
from goalwright_executor.history.snippets import snippet
from goalwright_executor.stores.row import Row, RunSummary
from goalwright_executor.stores.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Callable

_BEGINS = "ba co de fi gu ha jo ki lu me no pa qui ro su ti va we xe zo"
_ENDS = "ber cal dor fen gis hal jet kor lin mas nur pol ras sen tok vin wal yon zer rin"
_WORDS = [f"{begin}{end}" for begin in _BEGINS.split() for end in _ENDS.split()]
_SKILLS = [f"skill-{number}" for number in range(40)]
_PIECE = 2_000


def write_runs(store: SqliteStore, count: int, now: float) -> None:
    """Write runs over 90 days with all searchable text."""
    rng = random.Random(1)
    for begin in range(0, count, _PIECE):
        rows: list[Row] = []
        lines: dict[str, RunSummary] = {}
        for number in range(begin, min(count, begin + _PIECE)):
            run = f"20250101T{number:09}-{number:06x}"
            started = now - 90 * 86_400 * (1 - number / count)
            goal = f"Compare {_WORDS[number % 397]} and {_WORDS[number % 251]} for team {number}"
            answer = " ".join(rng.choices(_WORDS, k=120))
            skills = tuple(rng.sample(_SKILLS, 2))
            failed = number % 9 == 0
            tasks = [
                {"id": "survey", "title": f"Survey {_WORDS[number % 31]}", "action_type": "skill", "name": skills[0]},
                {"id": "survey[1]", "title": "", "action_type": "llm", "item": {"value": f"Part {number % 977}"}},
                {"id": "brief", "title": "Write the brief", "action_type": "llm"},
            ]
            code = "MODEL_FAILED" if failed else None
            end = {"status": "failed" if failed else "done", "answer": answer, "seconds": 3.0, "code": code}
            bodies: list[tuple[str, dict[str, Any]]] = [
                ("run_started", {"run_id": run, "goal": goal, "workspace": "/w", "settings": {"model": "openai/m"}}),
                ("plan_made", {"plan": {"tasks": tasks}, "attempts": 1}),
                ("task_finished", {"task": "survey", "status": "done", "seconds": 1.0, "output": answer[:200]}),
                ("run_finished", end | {"error": "the provider refused the call" if failed else None}),
            ]
            rows += [Row(run, seq, stamp(started), kind, body) for seq, (kind, body) in enumerate(bodies, 1)]
            lines[run] = RunSummary(
                run, goal, str(end["status"]), stamp(started), rng.expovariate(0.1), 3, rng.expovariate(20), done=2,
                skills=skills, model="openai/m", tokens=1_000, code=code, tags=() if number % 50 else ("baseline",),
            )  # fmt: skip
        store.append(rows, lines)


def best(work: Callable[[], object]) -> float:
    """Return the least CPU time of seven calls in milliseconds."""
    times = []
    for _ in range(7):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times) * 1000


def measure(folder: Path, count: int) -> tuple[dict[str, float], dict[str, float]]:
    """Return the milliseconds of each query, and the cost of the index."""
    now = time.time()
    path = folder / f"{count}.sqlite"
    store = SqliteStore(path)
    write_runs(store, count, now)
    before = store.status().bytes
    began, cpu_began = time.perf_counter(), time.process_time()
    while not catch_up(store, 60.0):
        pass
    size = (store.status().bytes - before) / before
    took, spent = time.perf_counter() - began, time.process_time() - cpu_began

    def page(**filters: object) -> list[RunSummary]:
        return list(islice(store.summaries(50, **filters), 50))  # type: ignore[arg-type]

    queries = {
        "the newest 50": best(page),
        "a word of one run": best(lambda: page(text=str(count - 7))),
        "two words, a few runs": best(lambda: page(text=f"{_WORDS[30]} {_WORDS[80]} part 97")),
        "a word of every run": best(lambda: page(text="brief")),
        "a word of no run": best(lambda: page(text="nowhere")),
        "one letter": best(lambda: page(text="b")),
        "a word, failed, last week": best(
            lambda: page(text=_WORDS[5], status=("failed",), since=stamp(now - 7 * 86_400))
        ),
        "snippets of 50 runs": best(lambda: [snippet(store, run, _WORDS[5], str) for run in page(text=_WORDS[5])]),
        "a tag": best(lambda: page(tag="baseline")),
        "an unused tag": best(lambda: page(tag="nowhere")),
        "dashboard, 30 days": best(lambda: statistics(store, 30)),
        "dashboard, 366 days": best(lambda: statistics(store, 366)),
    }
    store.close()
    costs = {
        "indexing a run, ms": took * 1000 / count,
        "  CPU time of it, ms": spent * 1000 / count,
        "size over the rest of the journal": size,
    }
    return queries, costs


def run(options: Options) -> Findings:
    """Measure both sizes."""
    sizes = (500, 1_000) if options.quick else (10_000, 100_000)
    with tempfile.TemporaryDirectory(prefix="goalwright-bench-") as folder:
        results = {count: measure(Path(folder), count) for count in sizes}
    small, large = (results[count][0] for count in sizes)
    columns = tuple(Column(f"{count:,} runs", "ms", ratio=True) for count in sizes)
    rows = {name: [Cell((small[name],)), Cell((large[name],))] for name in small}
    index = {name: [Cell((results[count][1][name],)) for count in sizes] for name in results[sizes[0]][1]}
    aims = [Aim(f"{name}, {sizes[1]:,} runs, ms", large[name], 250) for name in large if not name.startswith("dash")]
    aims += [Aim(f"{name}, {sizes[1]:,} runs, ms", large[name], 2_000) for name in large if name.startswith("dash")]
    return Findings(
        (
            Table("Queries", columns, rows, floor="the newest 50"),
            Table("The index", tuple(Column(f"{count:,} runs") for count in sizes), index, is_plotted=False),
        ),
        tuple(aims),
    )


BENCHMARK = Benchmark(
    "run_search",
    "Searching many runs by words and filters, and the dashboard.",
    "The newest 50 runs of the same journal.",
    (),
    run,
)

if __name__ == "__main__":
    sys.exit(command.run_single(BENCHMARK))
