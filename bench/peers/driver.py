"""Has a peer's scheduler run the benchmark's graphs, and reports how long each took."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from bench.peers.report import given, report

if TYPE_CHECKING:
    from bench.harness.graphs import Graph

# How long each task sleeps; without it, tasks do nothing.
Lengths = dict[str, float] | None
# Builds a graph, which does not count, and returns what runs it; that returns how many tasks ran, and in how many
# seconds where its own preparation does not count.
Build = Callable[["Graph", Lengths], Callable[[], int | tuple[int, float]]]

ROUNDS, ENOUGH = 3, 4.0


def drive(build: Build) -> None:
    """Run what the benchmark asks for, in its order."""
    for case in given():
        run = build(case["graph"], case["lengths"])
        began = time.perf_counter()
        for _ in range(1 if case["lengths"] else ROUNDS):
            start = time.perf_counter()
            found = run()
            ran, seconds = found if isinstance(found, tuple) else (found, time.perf_counter() - start)
            if ran != len(case["graph"]):
                raise AssertionError(f"{ran} of {len(case['graph'])} tasks ran")
            report(case=case["name"], seconds=seconds)
            if time.perf_counter() - began > ENOUGH:
                break
