"""The scheduler: microseconds for a task that does nothing, and the time for a graph over its critical path.

Floor: a bare indegree loop over asyncio tasks, without outcomes, events, limits or failures; for graphs whose tasks
take time, the critical path, which no scheduler can beat.

Peers: LangGraph in memory and with its SQLite checkpointer, pydantic-graph, Dask (threads) and Prefect, all
running the same graphs. Building a graph does not count. A peer gets a minute in all; what it did not reach is said.
LLMCompiler's scheduler is not among them: no package index has it.

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
from bench.harness.timing import coroutine, cpu, elapsed, in_turn, over, spent

if TYPE_CHECKING:
    from bench.harness.graphs import Graph
    from bench.harness.peers import Environments
    from bench.harness.timing import Spent

BARE, GOALWRIGHT, JOURNALED = "bare loop", "goalwright", "goalwright, journal on"
SPREADS = ("uniform", "log-normal")
# The peers' programs, by the name of the row and the environment that they run in.
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
    # Long enough that a task's own time is not lost in the noise: real ones take seconds.
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
        late = "asyncio's timers ring up to a millisecond late, each task of a chain after another"
        reason = f"the bare loop has {least:.3g}: {late}" if least > MOST_OVER else ""
        aims.append(Aim("makespan over the critical path, the largest", worst, MOST_OVER, reason=reason))
    tables = (
        Table("A task that does nothing", _columns(list(named), "µs"), idle, BARE),
        Table("Makespan over critical path", _columns([", ".join(key) for key in lengths], "x", ratio=False), spans),
    )
    notes = ("LLMCompiler's scheduler is not measured: it is not published as a package.",)
    return Findings(tables, tuple(aims), notes)


def _columns(names: list[str], unit: str, *, ratio: bool = True) -> tuple[Column, ...]:
    return tuple(Column(name, unit, ratio) for name in names)


def _idle(named: dict[str, Graph], rounds: int) -> tuple[dict[str, list[Cell]], list[Aim]]:
    """The rows of goalwright and the bare loop, in microseconds for a task."""
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
            samples = in_turn(contenders, rounds)
            for subject, spent_ in samples.items():
                rows[subject] += cells(elapsed(spent_, 1e6 / len(graph)))
            if name == "layered 2,000":
                aims += _aims(samples, len(graph))
    return rows, aims


def _aims(samples: dict[str, list[Spent]], tasks: int) -> list[Aim]:
    floor, ours, on = (cpu(samples[name], 1e6 / tasks) for name in (BARE, GOALWRIGHT, JOURNALED))
    what = "layered 2,000, journal on: microseconds of CPU time for a task, all threads"
    # By taking one part after the other away, in turn with the whole.
    reason = (
        f"the scheduler alone takes {min(ours):.3g}; SQLite takes 7, a task's two rows and the log 5, the hash of its "
        "inputs 4 to 6, the plan 3, and the hand-over between two threads the rest"
    )
    return [
        Aim("layered 2,000: CPU time over the bare loop's", over(ours, floor), 2.5),
        Aim(what, min(on), 35.0, reason=reason),
        Aim("layered 2,000: CPU time with the journal over that without", over(on, ours), 2.4, reason=reason),
    ]


def _makespans(named: dict[str, Graph], lengths: dict[tuple[str, str], dict[str, float]]) -> dict[str, list[Cell]]:
    rows: dict[str, list[Cell]] = {BARE: [], GOALWRIGHT: []}
    for (name, _), these in lengths.items():
        plan, path = plan_of(named[name]), critical_path(named[name], these)
        for subject, runs in ((BARE, bare), (GOALWRIGHT, scheduled)):
            took = spent(coroutine(partial(runs, plan, these)))
            rows[subject] += cells(took.elapsed / path)
    return rows


def _peers(
    peers: Environments | None, named: dict[str, Graph], lengths: dict[tuple[str, str], dict[str, float]]
) -> dict[str, Reported]:
    """What each peer reported: small graphs first, so that a slow one still has figures."""
    if peers is None:
        return {}
    cases: list[dict[str, Any]] = []
    for large in (False, True):
        some = [name for name, graph in named.items() if (len(graph) > LARGEST) is large]
        cases += [{"name": name, "graph": named[name], "lengths": None} for name in some]
        cases += [
            {"name": f"{name}/{spread}", "graph": named[name], "lengths": these}
            for (name, spread), these in lengths.items()
            if name in some
        ]
    found = {}
    for subject, (key, program) in PROGRAMS.items():
        try:
            found[subject] = peers.report(key, program, cases, LONGER.get(subject, LIMIT))
        except MissingPeer as missing:
            found[subject] = Reported([], str(missing))
    return found


def _idle_cell(reported: Reported, name: str, tasks: int) -> Cell:
    samples = [line["seconds"] * 1e6 / tasks for line in reported.lines if line["case"] == name]
    return Cell(tuple(samples)) if samples else Cell(note=reported.fault)


def _span_cell(reported: Reported, graph: Graph, key: tuple[str, str], lengths: dict[str, float]) -> Cell:
    path = critical_path(graph, lengths)
    samples = [line["seconds"] / path for line in reported.lines if line["case"] == "/".join(key)]
    return Cell(tuple(samples)) if samples else Cell(note=reported.fault)


def _against_sqlite(rows: dict[str, list[Cell]], named: dict[str, Graph]) -> Aim | None:
    """LangGraph with a checkpointer over goalwright with its journal, on the layered graph."""
    at = list(named).index("layered 2,000") if "layered 2,000" in named else None
    if at is None or "LangGraph, SQLite" not in rows:
        return None
    theirs, ours = rows["LangGraph, SQLite"][at].value, rows[JOURNALED][at].value
    if theirs is None or ours is None:
        return None
    what = "layered 2,000: LangGraph with SQLite over goalwright with its journal"
    reason = "as above: two rows for each task, by two threads of which one at a time runs Python"
    return Aim(what, theirs / ours, 50.0, at_most=False, reason=reason)


BENCHMARK = Benchmark(
    "engine",
    "Microseconds for a task that does nothing, and the time for a graph over its critical path.",
    "A bare indegree loop over asyncio tasks; the critical path for tasks that take time.",
    ("langgraph", "pydantic-graph", "dask", "prefect"),
    run,
)

if __name__ == "__main__":
    sys.exit(command.single(BENCHMARK))
