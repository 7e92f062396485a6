"""The cost of the journal: group against single commits, and a journaled graph against a bare loop and LangGraph.

    pip install langgraph langgraph-checkpoint-sqlite        # optional; without them, that row is skipped
    python -m bench.journal

Ratios of one run on one disk; the median or the best of several rounds. Exits 1 if a bound is exceeded.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.engine import GraphState, bare, layered
from executor.capture.capture import Capture
from executor.journal.journal import Journal
from executor.journal.log import now
from executor.journal.open_store import open_store
from executor.stores.row import Row, RunSummary
from executor.stores.urls import url_of
from executor.tasks.memo import Memo
from executor.tasks.schedule import ScheduleLimits, run_plan
from planner.events import PlanMade, RunFinished, RunStarted, Warned
from weft.traces.timeline import TYPES, timeline

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping

    from planner.plan.plan import Plan, Task

PRODUCERS, EACH, ONE_BY_ONE = 200, 50, 200
ROUNDS = 5
FEWER = 3
MIN_GROUP, MAX_OVER_BARE, MIN_UNDER_LANGGRAPH, MAX_SECONDS = 20.0, 25.0, 15.0, 1.0
MAX_MEGABYTES = 50.0
EVENTS, RUNS = 1_000_000, 2_000


def statements(folder: Path) -> float:
    """Rows per second of the store alone, without the writer, with a FULL commit for each row."""
    store = open_store(url_of(folder / "statements.sqlite"))
    store.append([], {"r": RunSummary("r", "g", "running", now())})
    capture = Capture()
    began = time.perf_counter()
    for seq in range(ONE_BY_ONE):
        store.append([Row("r", seq, now(), "warned", capture.event(Warned(f"event {seq}")))], {})
    took = time.perf_counter() - began
    store.close()
    return ONE_BY_ONE / took


async def one_by_one(folder: Path) -> float:
    """Rows per second of one producer that waits until each row is on disk, so each is a FULL commit."""
    return await _produced(folder / "one.sqlite", 1, ONE_BY_ONE)


async def grouped(folder: Path) -> float:
    """Rows per second of 200 producers, each waiting until its row is on disk before the next."""
    return await _produced(folder / "group.sqlite", PRODUCERS, EACH)


async def _produced(path: Path, producers: int, each: int) -> float:
    journal = Journal(url_of(path))
    logs = [journal.begin(f"r{number}", Capture()) for number in range(producers)]
    began = time.perf_counter()

    async def produce(number: int) -> None:
        for seq in range(each):
            logs[number].record(Warned(f"event {seq}"))
            await logs[number].settle()

    await asyncio.gather(*(produce(number) for number in range(producers)))
    took = time.perf_counter() - began
    await asyncio.to_thread(journal.close)
    return producers * each / took


async def journaled(plan: Plan, folder: Path) -> float:
    """Seconds for the graph with every event on disk and all inputs hashed; opening the store does not count."""
    journal = Journal(url_of(folder / f"graph-{time.monotonic_ns()}.sqlite"))
    log = journal.begin("r", Capture())
    began = time.perf_counter()
    log.record(RunStarted("r", "a graph", str(folder), {}))
    log.record(PlanMade(plan, 1))
    await log.settle()

    async def nothing(_task: Task, _results: Mapping[str, str]) -> str:
        return ""

    memo = Memo(log.record, log.capture, log.settle)
    limits = ScheduleLimits(concurrency=len(plan.tasks), task_seconds=900)
    outcomes = await run_plan(plan, nothing, log.record, limits, memo)
    log.record(RunFinished("done"))
    await log.settle()
    took = time.perf_counter() - began
    assert len(outcomes) == len(plan.tasks)
    await asyncio.to_thread(journal.close)
    return took


async def langgraph(plan: Plan, folder: Path) -> float:
    """Seconds for the same graph in LangGraph with its SQLite checkpointer; building and opening do not count."""
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
    from langgraph.graph import END, START, StateGraph

    graph: Any = StateGraph(GraphState)
    for task in plan.tasks:
        graph.add_node(task.id, _node(task.id))
        graph.add_edge(list(task.depends_on) if task.depends_on else START, task.id)
        if plan.graph.out_degree(task.id) == 0:
            graph.add_edge(task.id, END)
    path = str(folder / f"lang-{time.monotonic_ns()}.sqlite")
    async with AsyncSqliteSaver.from_conn_string(path) as saver:
        await saver.setup()
        compiled = graph.compile(checkpointer=saver)
        config = {"configurable": {"thread_id": "1"}, "recursion_limit": 100, "max_concurrency": len(plan.tasks)}
        began = time.perf_counter()
        state = await compiled.ainvoke({"done": []}, config)
        took = time.perf_counter() - began
    assert len(state["done"]) == len(plan.tasks)
    return took


def _node(name: str) -> Callable[[GraphState], Awaitable[GraphState]]:
    async def node(_: GraphState) -> GraphState:
        return {"done": [name]}

    return node


async def floor_of(plan: Plan) -> float:
    """Seconds for the bare loop."""
    began = time.perf_counter()
    await bare(plan)
    return time.perf_counter() - began


def best(work: Callable[[], Coroutine[Any, Any, float]], rounds: int = FEWER) -> float:
    """The shortest of several rounds, in seconds."""
    return min(asyncio.run(work()) for _ in range(rounds))


def million(folder: Path) -> tuple[float, float, float]:
    """Seconds to list the runs and to read one, in a journal of a million events, and the megabytes used."""
    url = url_of(folder / "million.sqlite")
    store = open_store(url)
    each = EVENTS // RUNS
    plan = {"tasks": [{"id": f"t{n}", "action_type": "llm", "depends_on": []} for n in range(50)]}
    for run in range(RUNS):
        run_id = f"r{run:06d}"
        bodies: list[tuple[str, dict[str, Any]]] = [
            ("run_started", {"run_id": run_id, "goal": f"goal {run}", "workspace": "w", "settings": {}})
        ]
        bodies += [("plan_made", {"plan": plan, "attempts": 1})]
        bodies += [("task_started", {"task": f"t{n}", "inputs": "x"}) for n in range(50)]
        bodies += [("warned", {"message": f"event {n} of {run_id}"}) for n in range(each - 102)]
        bodies += [("task_finished", {"task": f"t{n}", "status": "done", "output": "ok"}) for n in range(50)]
        rows = [Row(run_id, seq, now(), kind, dict(body)) for seq, (kind, body) in enumerate(bodies, start=1)]
        store.append(rows, {run_id: RunSummary(run_id, f"goal {run}", "done", now(), 1.0, 50)})
    store.close()
    tracemalloc.start()
    began = time.perf_counter()
    reader = open_store(url, create=False)
    assert len([run.to_dict() for run in reader.summaries()]) == RUNS
    listed = time.perf_counter() - began
    began = time.perf_counter()
    assert len(timeline(reader.rows(f"r{RUNS // 2:06d}", types=TYPES)).result.tasks) == 50
    shown = time.perf_counter() - began
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    reader.close()
    return listed, shown, peak / 2**20


class Figures:
    """Prints figures with their bounds, and remembers whether one was exceeded."""

    def __init__(self) -> None:
        self.failed = False

    def at_least(self, what: str, value: float, bound: float) -> None:
        """A figure that must not be below its bound."""
        self._line(what, value, f">= {bound:g}", holds=value >= bound)

    def at_most(self, what: str, value: float, bound: float) -> None:
        """A figure that must not be above its bound."""
        self._line(what, value, f"<= {bound:g}", holds=value <= bound)

    def _line(self, what: str, value: float, bound: str, *, holds: bool) -> None:
        self.failed |= not holds
        print(f"{what:<58} {value:9.2f}   {bound}{'' if holds else '   not met'}")


def main() -> int:
    """Measure, print, and return 1 if a bound is exceeded."""
    plan, figures = layered(), Figures()
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as name:
        folder = Path(name)
        # In turn, compared within each round: the speed of a shared disk changes from one second to the next.
        rounds = [
            (statements(place), asyncio.run(one_by_one(place)), asyncio.run(grouped(place)))
            for place in _rounds(folder)
        ]
        for store, single, group in rounds:
            print(
                f"rows/s: one producer {single:,.0f}; {PRODUCERS} producers {group:,.0f}, {group / single:.1f}x "
                f"(the store alone, row by row {store:,.0f}, {group / store:.1f}x)"
            )
        ratio = statistics.median(group / single for _, single, group in rounds)
        figures.at_least(f"{PRODUCERS} producers over one by one (median)", ratio, MIN_GROUP)
        floor = best(lambda: floor_of(plan))
        ours = best(lambda: journaled(plan, folder), 5)
        print(f"2,000-task graph: bare loop {floor * 1000:.1f} ms, with journal {ours * 1000:.1f} ms")
        figures.at_most("journal on, over the bare loop", ours / floor, MAX_OVER_BARE)
        try:
            theirs = best(lambda: langgraph(plan, folder), 2)
        except ImportError:
            print("LangGraph or its SQLite checkpointer is not installed; skipped")
        else:
            print(f"LangGraph with its SQLite checkpointer {theirs * 1000:.0f} ms")
            figures.at_least("LangGraph over ours", theirs / ours, MIN_UNDER_LANGGRAPH)
        listed, shown, megabytes = million(folder)
        figures.at_most(f"trace list, {EVENTS:,} events in {RUNS:,} runs (s)", listed, MAX_SECONDS)
        figures.at_most("trace show in it (s)", shown, MAX_SECONDS)
        figures.at_most("memory for both (MB)", megabytes, MAX_MEGABYTES)
    return int(figures.failed)


def _rounds(folder: Path) -> Iterator[Path]:
    for number in range(ROUNDS):
        place = folder / f"round-{number}"
        place.mkdir()
        yield place


if __name__ == "__main__":
    sys.exit(main())
