"""Runs the graphs in LangGraph with its SQLite checkpointer, in a new file each time."""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from bench.peers.driver import Lengths, drive
from bench.peers.on_langgraph import program

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.harness.graphs import Graph


def build(graph: Graph, lengths: Lengths) -> Callable[[], tuple[int, float]]:
    """Return a function that runs the graph."""
    built = program(graph, lengths)

    async def run(folder: str) -> tuple[int, float]:
        async with AsyncSqliteSaver.from_conn_string(str(Path(folder, "checkpoints.sqlite"))) as saver:
            await saver.setup()
            compiled = built.compile(checkpointer=saver)
            config = {
                "configurable": {"thread_id": "1"},
                "recursion_limit": len(graph) + 10,
                "max_concurrency": len(graph),
            }
            start = time.perf_counter()
            state = await compiled.ainvoke({"done": []}, config)
            return len(state["done"]), time.perf_counter() - start

    def timed() -> tuple[int, float]:
        with tempfile.TemporaryDirectory() as folder:
            return asyncio.run(run(folder))

    return timed


if __name__ == "__main__":
    drive(build)
