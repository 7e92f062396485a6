"""The cost of the scheduler: against a bare indegree loop, LangGraph, and the critical path.

    pip install langgraph        # optional; without it, that row is skipped
    python -m bench.engine

Ratios of one run on one machine; the best of several rounds each. Exits 1 if a bound is exceeded.
"""

from __future__ import annotations

import asyncio
import operator
import random
import sys
import time
from collections import deque
from typing import TYPE_CHECKING, Annotated, TypedDict

import networkx as nx

from executor.tasks.schedule import Schedule, ScheduleLimits, run_plan
from planner.plan.plan import Plan, Task

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from planner.events import Event

LAYERS, WIDTH, DEPENDENCIES = 20, 100, 3
ROUNDS = 5
MAX_OVER_BARE, MIN_UNDER_LANGGRAPH, MAX_OVER_CRITICAL, MAX_GROWTH = 9.0, 40.0, 1.05, 1.3
FEW, MANY = 100, 10_000


def layered(seed: int = 7) -> Plan:
    """20 layers of 100 tasks, each depending on three of the layer before."""
    draw = random.Random(seed)
    tasks = []
    for layer in range(LAYERS):
        for place in range(WIDTH):
            before = draw.sample(range(WIDTH), DEPENDENCIES) if layer else []
            waits = tuple(f"t{layer - 1}-{other}" for other in before)
            tasks.append(Task(f"t{layer}-{place}", "llm", depends_on=waits))
    return Plan(tuple(tasks))


async def bare(plan: Plan) -> None:
    """The lower bound: indegrees and an asyncio task for each node; no outcomes, events, limits or failures."""
    waiting = dict(plan.graph.in_degree())
    ready = deque(name for name, count in waiting.items() if count == 0)
    running: set[asyncio.Task[str]] = set()

    async def nothing(name: str) -> str:
        return name

    while ready or running:
        while ready:
            running.add(asyncio.create_task(nothing(ready.popleft())))
        done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            for after in plan.graph.successors(task.result()):
                waiting[after] -= 1
                if waiting[after] == 0:
                    ready.append(after)


async def ours(plan: Plan) -> None:
    """weft's scheduler, with events."""
    events: list[Event] = []

    async def nothing(_task: Task, _results: Mapping[str, str]) -> str:
        return ""

    outcomes = await run_plan(
        plan, nothing, events.append, ScheduleLimits(concurrency=len(plan.tasks), task_seconds=900)
    )
    assert len(outcomes) == len(plan.tasks)


async def growing(count: int) -> None:
    """So many tasks, added one by one while the others run."""

    async def nothing(_task: Task, _results: Mapping[str, str]) -> str:
        await asyncio.sleep(0)
        return ""

    schedule = Schedule(nothing, lambda _: None, ScheduleLimits(concurrency=16))
    running = asyncio.ensure_future(schedule.run())
    for number in range(count):
        schedule.add(Task(f"t{number}", "llm", depends_on=(f"t{number - 1}",) if number % 3 else ()))
        if number % 10 == 0:
            await asyncio.sleep(0)
    schedule.close()
    assert len(await running) == count


class GraphState(TypedDict):
    """LangGraph's state: the names of the nodes that ran."""

    done: Annotated[list[str], operator.add]


def langgraph_program(plan: Plan) -> Callable[[], None] | None:
    """The same graph in LangGraph, in memory, without a checkpointer; None if it is not installed."""
    try:
        from langgraph.graph import END, START, StateGraph
    except ImportError:
        return None

    graph = StateGraph(GraphState)
    for task in plan.tasks:
        graph.add_node(task.id, lambda _state, name=task.id: {"done": [name]})
        if task.depends_on:
            graph.add_edge(list(task.depends_on), task.id)
        else:
            graph.add_edge(START, task.id)
    for final in plan.finals:
        graph.add_edge(final.id, END)
    compiled = graph.compile()

    def run() -> None:
        state = asyncio.run(compiled.ainvoke({"done": []}, {"recursion_limit": 100}))
        assert len(state["done"]) == len(plan.tasks)

    return run


def best(run: Callable[[], object], rounds: int = ROUNDS, clock: Callable[[], float] = time.perf_counter) -> float:
    """The shortest of several rounds, in seconds."""
    times = []
    for _ in range(rounds):
        began = clock()
        run()
        times.append(clock() - began)
    return min(times)


def growth(count: int) -> float:
    """The CPU seconds for each of so many tasks that are added while others run."""
    return best(lambda: asyncio.run(growing(count)), clock=time.thread_time) / count


def makespan(seed: int = 11) -> tuple[float, float]:
    """The time for 200 tasks of log-normal duration without limits, and the length of the critical path."""
    draw = random.Random(seed)
    tasks, lengths = [], {}
    for number in range(200):
        before = draw.sample(range(number), min(number, draw.randint(0, 3)))
        tasks.append(Task(f"t{number}", "llm", depends_on=tuple(f"t{other}" for other in before)))
        lengths[f"t{number}"] = min(draw.lognormvariate(-2.5, 1.0), 2.0)
    plan = Plan(tuple(tasks))

    async def sleep(task: Task, _results: Mapping[str, str]) -> str:
        await asyncio.sleep(lengths[task.id])
        return ""

    graph: nx.DiGraph[str] = nx.DiGraph()
    for task in tasks:
        graph.add_edges_from((before, task.id, {"weight": lengths[before]}) for before in task.depends_on)
        graph.add_edge(task.id, "end", weight=lengths[task.id])
    critical = nx.dag_longest_path_length(graph)
    began = time.perf_counter()
    asyncio.run(run_plan(plan, sleep, lambda _: None, ScheduleLimits(concurrency=10_000)))
    return time.perf_counter() - began, critical


def main() -> int:
    """Measure, print, and return 1 if a bound is exceeded."""
    plan = layered()
    count = len(plan.tasks)
    floor = best(lambda: asyncio.run(bare(plan)))
    weft = best(lambda: asyncio.run(ours(plan)))
    few, many = growth(FEW), growth(MANY)
    took, critical = makespan()
    over = [weft / floor > MAX_OVER_BARE, took / critical > MAX_OVER_CRITICAL, many / few > MAX_GROWTH]
    print(f"layered graph of {count} tasks, microseconds per task")
    print(f"  bare indegree loop  {floor / count * 1e6:10.1f}")
    print(f"  weft                {weft / count * 1e6:10.1f}   {weft / floor:.2f} x bare (at most {MAX_OVER_BARE:g})")
    program = langgraph_program(plan)
    if program is None:
        print("  LangGraph           not installed")
    else:
        other = best(program, rounds=2)
        share = other / weft
        over.append(share < MIN_UNDER_LANGGRAPH)
        print(f"  LangGraph           {other / count * 1e6:10.1f}   weft takes 1/{share:.0f} of it (at most 1/40)")
    print("tasks added while it runs, microseconds per task")
    print(
        f"  {FEW:,} tasks {few * 1e6:.1f}, {MANY:,} tasks {many * 1e6:.1f}: {many / few:.2f} x (at most {MAX_GROWTH})"
    )
    print("200 tasks of log-normal duration, without limits")
    print(f"  critical path {critical:.3f} s, makespan {took:.3f} s: {took / critical:.3f} x (at most 1.05)")
    return 1 if any(over) else 0


if __name__ == "__main__":
    sys.exit(main())
