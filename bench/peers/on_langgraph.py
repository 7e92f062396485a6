"""Runs the graphs in LangGraph without a checkpointer."""

from __future__ import annotations

import asyncio
import operator
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from langgraph.graph import END, START, StateGraph

from bench.peers.driver import Lengths, drive

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.harness.graphs import Graph


class State(TypedDict):
    """The names of the nodes that ran."""

    done: Annotated[list[str], operator.add]


def program(graph: Graph, lengths: Lengths) -> Any:
    """Convert the graph to a LangGraph state graph."""

    def node(name: str) -> Any:
        async def run(_: State) -> State:
            if lengths:
                await asyncio.sleep(lengths[name])
            return {"done": [name]}

        return run

    built: Any = StateGraph(State)
    finals = set(graph) - {before for names in graph.values() for before in names}
    for name, before in graph.items():
        built.add_node(name, node(name))
        built.add_edge(before or START, name)
    for name in finals:
        built.add_edge(name, END)
    return built


def build(graph: Graph, lengths: Lengths) -> Callable[[], int]:
    """Return a function that runs the graph."""
    compiled = program(graph, lengths).compile()
    config = {"recursion_limit": len(graph) + 10, "max_concurrency": len(graph)}
    return lambda: len(asyncio.run(compiled.ainvoke({"done": []}, config))["done"])


if __name__ == "__main__":
    drive(build)
