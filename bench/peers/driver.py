"""Runs the benchmark's graphs on a peer's scheduler: a request on stdin, JSON lines appended to a file."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bench.harness.graphs import Graph

# Seconds that each task sleeps; None for tasks that do nothing.
Lengths = dict[str, float] | None
# Builds a graph, untimed, and returns a function that runs it. That function returns the number of tasks that ran and,
# if its own setup should not count, the seconds they took.
Build = Callable[["Graph", Lengths], Callable[[], int | tuple[int, float]]]

ROUNDS, ENOUGH = 3, 4.0


def read_request() -> Any:
    """Read the benchmark's request."""
    return json.load(sys.stdin)


def report(**figures: Any) -> None:
    """Append figures at once, since this process may be killed at any time."""
    with Path(sys.argv[1]).open("a", encoding="utf-8") as file:
        file.write(json.dumps(figures) + "\n")


def drive(build: Build) -> None:
    """Run each requested case in order."""
    for case in read_request():
        run = build(case["graph"], case["lengths"])
        began = time.perf_counter()
        for _ in range(1 if case["lengths"] else ROUNDS):
            start = time.perf_counter()
            result = run()
            ran, seconds = result if isinstance(result, tuple) else (result, time.perf_counter() - start)
            if ran != len(case["graph"]):
                raise AssertionError(f"{ran} of {len(case['graph'])} tasks ran")
            report(case=case["name"], seconds=seconds)
            if time.perf_counter() - began > ENOUGH:
                break
