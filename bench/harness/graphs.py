"""The task graphs that every scheduler runs: the dependencies of each task, by name.

Plain data without imports of goalwright, because peers run the same graphs in their own environments.
"""

from __future__ import annotations

import random

Graph = dict[str, list[str]]


def chain(length: int = 200) -> Graph:
    """Tasks that each depend on the one before."""
    return {f"t{number}": [f"t{number - 1}"] if number else [] for number in range(length)}


def fan(width: int = 1_000) -> Graph:
    """One task, many that depend on it, and one that depends on all of these."""
    middle = {f"m{number}": ["first"] for number in range(width)}
    return {"first": [], **middle, "last": list(middle)}


def layered(layers: int = 20, width: int = 100, dependencies: int = 3, seed: int = 7) -> Graph:
    """Layers of tasks that each depend on three tasks of the layer before."""
    draw = random.Random(seed)
    graph: Graph = {}
    for layer in range(layers):
        for place in range(width):
            before = draw.sample(range(width), min(dependencies, width)) if layer else []
            graph[f"t{layer}-{place}"] = [f"t{layer - 1}-{other}" for other in before]
    return graph


def graphs(*, quick: bool = False) -> dict[str, Graph]:
    """Return the graphs by name."""
    if quick:
        return {"chain of 20": chain(20), "1→50→1": fan(50), "layered 100": layered(5, 20)}
    return {
        "chain of 200": chain(),
        "1→1,000→1": fan(),
        "layered 2,000": layered(),
        "layered 10,000": layered(20, 500),
    }


def durations(graph: Graph, spread: str, path: float, seed: int = 11) -> dict[str, float]:
    """Draw a duration for each task, uniform or log-normal, so that the critical path takes about `path` seconds.

    Durations are whole milliseconds, because an event loop does not sleep more precisely.
    """
    draw = random.Random(seed)
    uniform = spread == "uniform"
    drawn = {name: draw.uniform(0.5, 1.5) if uniform else draw.lognormvariate(0.0, 0.6) for name in graph}
    scale = path / critical_path(graph, drawn)
    return {name: max(1, round(length * scale * 1000)) / 1000 for name, length in drawn.items()}


def critical_path(graph: Graph, lengths: dict[str, float]) -> float:
    """Return the longest path, the lower bound of any scheduler. Tasks must come after their dependencies."""
    ends: dict[str, float] = {}
    for name, before in graph.items():
        ends[name] = max((ends[other] for other in before), default=0.0) + lengths[name]
    return max(ends.values())
