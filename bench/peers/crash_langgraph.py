"""Starts or resumes a run in LangGraph with its SQLite checkpointer; the fourth argument is the durability."""

from __future__ import annotations

import asyncio
import operator
import sys
from typing import Annotated, Any, TypedDict

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph

from bench.peers.paid_calls import GRAPH, Attempt


class State(TypedDict):
    """The outputs of the nodes that ran."""

    outputs: Annotated[dict[str, str], operator.or_]


def program(attempt: Attempt) -> Any:
    """Return a graph whose nodes make one call each."""

    def node(name: str) -> Any:
        async def run(state: State) -> State:
            return {
                "outputs": {
                    name: await attempt.call(name, [state["outputs"][dependency] for dependency in GRAPH[name]])
                }
            }

        return run

    graph: Any = StateGraph(State)
    finals = set(GRAPH) - {before for names in GRAPH.values() for before in names}
    for name, before in GRAPH.items():
        graph.add_node(name, node(name))
        graph.add_edge(before or START, name)
    for name in finals:
        graph.add_edge(name, END)
    return graph


async def main() -> None:
    """Resume from the last checkpoint, or start."""
    attempt, durability = Attempt.from_arguments(), sys.argv[4]
    async with AsyncSqliteSaver.from_conn_string(str(attempt.folder / "checkpoints.sqlite")) as saver:
        compiled = program(attempt).compile(checkpointer=saver)
        config = {"configurable": {"thread_id": str(attempt.run)}, "recursion_limit": 100}
        snapshot = await compiled.aget_state(config)
        attempt.begin()
        state_in: Any = None if snapshot.created_at else {"outputs": {}}
        state = await compiled.ainvoke(state_in, config, durability=durability)
    attempt.finish(state["outputs"])


if __name__ == "__main__":
    asyncio.run(main())
