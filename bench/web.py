"""The page of `goalwright serve` in a real browser, with 2,000 tasks and 100,000 runs.

Floor: the frame rate of an idle page with software rendering, and a request that reads nothing.

    python -m bench.web

Needs the system's Chromium and the package playwright; without them only the server is measured. `goalwright serve` is
a child process, and so is the writer of each run that the page follows. The page counts its own frames.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from bench.harness import command
from bench.harness.result import Benchmark, Column, Findings, Options, Table, cells
from bench.web_browser import BIG, Figures, browsing, chromium, measure_big, measure_live, measure_start, serving
from bench.web_feel import long_text, measure_long_text, measure_slow_line
from bench.web_runs import layered, write_ended, write_many
from goalwright.interfaces.web.page_script import STATIC
from goalwright_executor.history.indexer import catch_up
from goalwright_executor.stores.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from bench.web_browser import Serving

SMALL, LONG = "20260101T000000000-f0f0f0", "20260101T000000000-10e910"
_MISSING = "Chromium or the package playwright is missing: the page itself was not measured"


def measure_lists(figures: Figures, server: Serving, count: int) -> None:
    """Measure the list of runs, complete and filtered."""

    def best(path: str) -> float:
        times = []
        for _ in range(7):
            began = time.perf_counter()
            server.ask(path)
            times.append(time.perf_counter() - began)
        return min(times) * 1000

    figures.note("a request that reads nothing, ms", best("/about"))
    figures.aim("GET /runs, ms", best("/runs?most=100"), 50)
    figures.aim("GET /runs by words and status, ms", best("/runs?q=team+976&status=failed&most=100"), 250)
    figures.note("runs in that list", count)


def measure_rest(figures: Figures, server: Serving, seconds: float) -> None:
    """Measure the CPU and memory of a server with ten idle streams."""
    streams = [server.open("/events") for _ in range(10)]
    time.sleep(seconds)  # imports after the start
    before = server.used()
    time.sleep(seconds)
    after = server.used()
    for stream in streams:
        stream.close()
    figures.aim("idle server, 10 streams, % of a core", (after[0] - before[0]) / seconds * 100, 2)
    figures.aim("memory growth meanwhile, MB", (after[1] - before[1]) / 1e6, 2)


async def in_browser(figures: Figures, path: str, server: Serving, journal: Path, *, quick: bool) -> None:
    """Measure the page with many tasks and with a live run."""
    async with browsing(path) as browser:
        await measure_slow_line(figures, browser, server, SMALL)
        await measure_long_text(figures, browser, server, LONG)
        await measure_big(figures, browser, server, 0.3 if quick else 5)
        shapes = (((5, 8, 2.0), 30),) if quick else (((20, 100, 6.0), 50), ((5, 8, 6.0), 30))
        for shape, bound in shapes:
            await measure_live(figures, browser, server, journal, shape, bound)


def run(options: Options) -> Findings:
    """Measure the start, the lists, the idle server and the page."""
    figures, browser = Figures(), chromium()
    size = sum(len(zlib.compress(path.read_bytes())) for path in STATIC.rglob("*") if path.is_file())
    figures.aim("static files in the wheel, compressed, kB", size / 1000, 250, count=True)
    runs = 500 if options.quick else 100_000
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        workspace = Path(folder)
        journal = workspace / ".agents" / "journal.sqlite"
        journal.parent.mkdir()
        store = SqliteStore(journal)
        write_ended(store, SMALL, layered(7, 2))
        if browser is not None:
            asyncio.run(measure_start(figures, browser, workspace))
        write_ended(store, BIG, layered(20, 10 if options.quick else 100))
        write_ended(store, LONG, layered(2, 2), long_text() + "\n\n## The end\n")
        write_many(store, runs)
        while not catch_up(store, 60.0):
            pass
        store.close()
        with serving(workspace) as server:
            measure_lists(figures, server, runs)
            measure_rest(figures, server, 0.2 if options.quick else 10)
            if browser is not None:
                asyncio.run(in_browser(figures, browser, server, journal, quick=options.quick))
    rows = {name: cells(value) for name, value in figures.rows.items()}
    load = f"load: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; frame rates and times need an idle machine"
    notes = (load,) if browser is not None else (load, _MISSING)
    return Findings((Table("The page", (Column("figure"),), rows, is_plotted=False),), tuple(figures.aims), notes)


BENCHMARK = Benchmark(
    "web",
    "The page of `goalwright serve` in a real browser: start, lists, large runs, live runs.",
    "The frame rate of an idle page, and a request that reads nothing.",
    (),
    run,
)

if __name__ == "__main__":
    sys.exit(command.run_single(BENCHMARK))
