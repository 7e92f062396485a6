"""Runs the graphs in pydantic-graph: one step per task, and a join before each task with several dependencies."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from pydantic_graph import GraphBuilder
from pydantic_graph.join import reduce_null

from bench.peers.driver import Lengths, drive

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.harness.graphs import Graph


def build(graph: Graph, lengths: Lengths) -> Callable[[], int]:
    """Build the graph without the structure check, which takes minutes for 2,000 tasks."""
    ran: list[str] = []
    builder: Any = GraphBuilder(output_type=None)

    def step(name: str) -> Any:
        async def run(_: Any) -> None:
            if lengths:
                await asyncio.sleep(lengths[name])
            ran.append(name)

        return builder.step(run, node_id=name)

    steps = {name: step(name) for name in graph}
    after: dict[str, list[str]] = {name: [] for name in graph}
    for name, before in graph.items():
        for other in before:
            after[other].append(name)
    joins = {
        name: builder.join(reduce_null, initial=None, node_id=f"join-{name}")
        for name, before in graph.items()
        if len(before) > 1
    }
    last = builder.join(reduce_null, initial=None, node_id="join-at-the-end")
    entries = {name: joins.get(name, steps[name]) for name in graph}
    firsts = [entries[name] for name, before in graph.items() if not before]
    builder.add(builder.edge_from(builder.start_node).to(*firsts))
    builder.add(*(builder.edge_from(join).to(steps[name]) for name, join in joins.items()))
    for name in graph:
        builder.add(builder.edge_from(steps[name]).to(*([entries[successor] for successor in after[name]] or [last])))
    builder.add(builder.edge_from(last).to(builder.end_node))
    built = builder.build(validate_graph_structure=False)

    def run() -> int:
        ran.clear()
        asyncio.run(built.run())
        return len(ran)

    return run


if __name__ == "__main__":
    drive(build)
