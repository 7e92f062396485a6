"""The scheduler: microseconds per empty task, and the makespan of a graph over its critical path.

Floor: a bare indegree loop over asyncio tasks, without outcomes, events, limits or failures; the critical path for
graphs whose tasks take time.

Peers: LangGraph in memory and with its SQLite checkpointer, pydantic-graph, Dask (threads) and Prefect, all running the
same graphs. Building a graph is not timed. A peer has a minute in total; cases that it does not reach are marked.

    python -m bench.engine
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.harness import command
from bench.harness.engines import bare, journaled, plan_of, scheduled
from bench.harness.graphs import critical_path, durations, graphs
from bench.harness.peers import MissingPeer, Reported
from bench.harness.result import Aim, Benchmark, Cell, Column, Findings, Options, Table, cells
from bench.harness.timing import alternate, coroutine, cpu, elapsed, median_ratio, spent

if TYPE_CHECKING:
    from bench.harness.graphs import Graph
    from bench.harness.peers import Environments
    from bench.harness.timing import Spent

BARE, GOALWRIGHT, JOURNALED = "bare loop", "goalwright", "goalwright, journal on"
SPREADS = ("uniform", "log-normal")
# Row: environment and program of the peer.
PROGRAMS = {
    "LangGraph": ("langgraph", "on_langgraph"),
    "LangGraph, SQLite": ("langgraph", "on_langgraph_sqlite"),
    "pydantic-graph": ("pydantic-graph", "on_pydantic_graph"),
    "Dask": ("dask", "on_dask"),
    "Prefect": ("prefect", "on_prefect"),
}
LIMIT = 60.0
# Prefect starts a server first.
LONGER = {"Prefect": 100.0}
LARGEST = 5_000
MOST_OVER = 1.01


def run(options: Options) -> Findings:
    """Measure goalwright and the floor in turn, then each peer."""
    named = graphs(quick=options.quick)
    # Long enough to stand out from noise; real tasks take seconds.
    paths = {name: 0.2 if options.quick else max(2.0, 0.0006 * len(graph)) for name, graph in named.items()}
    lengths = {
        (name, spread): durations(graph, spread, paths[name]) for name, graph in named.items() for spread in SPREADS
    }
    idle, aims = _idle(named, 2 if options.quick else 7)
    spans = _makespans(named, lengths)
    for subject, reported in _peers(options.peers, named, lengths).items():
        idle[subject] = [_idle_cell(reported, name, len(graph)) for name, graph in named.items()]
        spans[subject] = [_span_cell(reported, named[name], key, lengths[key]) for key in lengths for name in key[:1]]
    if (slower := _against_sqlite(idle, named)) is not None:
        aims.append(slower)
    if not options.quick:
        worst, least = (max(cell.value or 0.0 for cell in spans[name]) for name in (GOALWRIGHT, BARE))
        late = "asyncio's timers are up to a millisecond late, and delays of a chain add up"
        reason = f"the bare loop has {least:.3g}: {late}" if least > MOST_OVER else ""
        aims.append(Aim("makespan over the critical path, the largest", worst, MOST_OVER, reason=reason))
    tables = (
        Table("An empty task", _columns(list(named), "µs"), idle, BARE),
        Table("Makespan over critical path", _columns([", ".join(key) for key in lengths], "x", ratio=False), spans),
    )
    return Findings(tables, tuple(aims))


def _columns(names: list[str], unit: str, *, ratio: bool = True) -> tuple[Column, ...]:
    return tuple(Column(name, unit, ratio) for name in names)


def _idle(named: dict[str, Graph], rounds: int) -> tuple[dict[str, list[Cell]], list[Aim]]:
    """Measure goalwright and the bare loop in microseconds per task."""
    rows: dict[str, list[Cell]] = {BARE: [], GOALWRIGHT: [], JOURNALED: []}
    aims: list[Aim] = []
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        for name, graph in named.items():
            plan = plan_of(graph)
            contenders = {
                BARE: lambda plan=plan: asyncio.run(bare(plan)),
                GOALWRIGHT: lambda plan=plan: asyncio.run(scheduled(plan)),
                JOURNALED: lambda plan=plan: asyncio.run(journaled(plan, Path(folder))),
            }
            samples = alternate(contenders, rounds)
            for subject, spent_ in samples.items():
                rows[subject] += cells(elapsed(spent_, 1e6 / len(graph)))
            if name == "layered 2,000":
                aims += _aims(samples, len(graph))
    return rows, aims


def _aims(samples: dict[str, list[Spent]], tasks: int) -> list[Aim]:
    floor, ours, on = (cpu(samples[name], 1e6 / tasks) for name in (BARE, GOALWRIGHT, JOURNALED))
    what = "layered 2,000, journal on: CPU microseconds per task, all threads"
    # Measured by removing one part after another.
    reason = (
        f"the scheduler alone takes {min(ours):.3g}; SQLite takes 7, a task's two rows and the log 5, the hash of its "
        "inputs 4 to 6, the plan 3, and the hand-over between two threads the rest"
    )
    return [
        Aim("layered 2,000: CPU time over the bare loop's", median_ratio(ours, floor), 2.5),
        Aim(what, min(on), 35.0, reason=reason),
        Aim("layered 2,000: CPU time with the journal over that without", median_ratio(on, ours), 2.4, reason=reason),
    ]


def _makespans(named: dict[str, Graph], lengths: dict[tuple[str, str], dict[str, float]]) -> dict[str, list[Cell]]:
    rows: dict[str, list[Cell]] = {BARE: [], GOALWRIGHT: []}
    for (name, _), durations_ in lengths.items():
        plan, path = plan_of(named[name]), critical_path(named[name], durations_)
        for subject, runs in ((BARE, bare), (GOALWRIGHT, scheduled)):
            took = spent(coroutine(partial(runs, plan, durations_)))
            rows[subject] += cells(took.elapsed / path)
    return rows


def _peers(
    peers: Environments | None, named: dict[str, Graph], lengths: dict[tuple[str, str], dict[str, float]]
) -> dict[str, Reported]:
    """Run each peer, small graphs first so that slow peers have figures too."""
    if peers is None:
        return {}
    cases: list[dict[str, Any]] = []
    for large in (False, True):
        some = [name for name, graph in named.items() if (len(graph) > LARGEST) is large]
        cases += [{"name": name, "graph": named[name], "lengths": None} for name in some]
        cases += [
            {"name": f"{name}/{spread}", "graph": named[name], "lengths": durations_}
            for (name, spread), durations_ in lengths.items()
            if name in some
        ]
    reports = {}
    for subject, (key, program) in PROGRAMS.items():
        try:
            reports[subject] = peers.report(key, program, cases, LONGER.get(subject, LIMIT))
        except MissingPeer as missing:
            reports[subject] = Reported([], str(missing))
    return reports


def _idle_cell(reported: Reported, name: str, tasks: int) -> Cell:
    samples = [line["seconds"] * 1e6 / tasks for line in reported.lines if line["case"] == name]
    return Cell(tuple(samples)) if samples else Cell(note=reported.fault)


def _span_cell(reported: Reported, graph: Graph, key: tuple[str, str], lengths: dict[str, float]) -> Cell:
    path = critical_path(graph, lengths)
    samples = [line["seconds"] / path for line in reported.lines if line["case"] == "/".join(key)]
    return Cell(tuple(samples)) if samples else Cell(note=reported.fault)


def _against_sqlite(rows: dict[str, list[Cell]], named: dict[str, Graph]) -> Aim | None:
    """Compare LangGraph with a checkpointer to goalwright with its journal on the layered graph."""
    column = list(named).index("layered 2,000") if "layered 2,000" in named else None
    if column is None or "LangGraph, SQLite" not in rows:
        return None
    theirs, ours = rows["LangGraph, SQLite"][column].value, rows[JOURNALED][column].value
    if theirs is None or ours is None:
        return None
    what = "layered 2,000: LangGraph with SQLite over goalwright with its journal"
    reason = "as above: two rows for each task, by two threads of which one at a time runs Python"
    return Aim(what, theirs / ours, 50.0, at_most=False, reason=reason)


BENCHMARK = Benchmark(
    "engine",
    "Microseconds per empty task, and the makespan of a graph over its critical path.",
    "A bare indegree loop over asyncio tasks; the critical path for tasks that take time.",
    ("langgraph", "pydantic-graph", "dask", "prefect"),
    run,
)

if __name__ == "__main__":
    sys.exit(command.run_single(BENCHMARK))
