"""Runs the graphs on Dask's threaded scheduler, with a thread for every task that can run at once."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import dask.threaded

from bench.peers.driver import Lengths, drive

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.harness.graphs import Graph

MOST_THREADS = 1_000


def build(graph: Graph, lengths: Lengths) -> Callable[[], int]:
    """Build one key per task, and a last key that depends on every final task."""
    ran: list[str] = []

    def work(name: str, *_: Any) -> None:
        if lengths:
            time.sleep(lengths[name])
        ran.append(name)

    finals = set(graph) - {before for names in graph.values() for before in names}
    keys: dict[str, Any] = {
        f"run-{name}": (work, name, *(f"run-{dependency}" for dependency in graph[name])) for name in graph
    }
    keys["end"] = (lambda *_: None, *(f"run-{name}" for name in finals))
    pool = ThreadPoolExecutor(min(len(graph), MOST_THREADS) if lengths else 8)

    def run() -> int:
        ran.clear()
        dask.threaded.get(keys, "end", pool=pool, num_workers=pool._max_workers)
        return len(ran)

    return run


if __name__ == "__main__":
    drive(build)
