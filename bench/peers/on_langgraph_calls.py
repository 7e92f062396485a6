"""Makes the requests of a batch in LangGraph: per goal, a plan, its tasks in parallel, and the answer."""

from __future__ import annotations

import asyncio
import operator
import os
from typing import Annotated, Any, TypedDict

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm
from langgraph.graph import END, START, StateGraph

from bench.peers.driver import read_request


class State(TypedDict):
    """The requests of a goal, and the replies."""

    bodies: list[dict[str, Any]]
    replies: Annotated[list[str], operator.add]


def program(calls: int) -> Any:
    """Return a graph of `calls` nodes: the first, the parallel ones and the last."""

    def node(number: int) -> Any:
        async def call(state: State) -> dict[str, Any]:
            body = state["bodies"][number] | {"model": "openai/test-model"}
            reply = await litellm.acompletion(**body, max_retries=0, num_retries=0)
            return {"replies": [reply.choices[0].message.content]}

        return call

    graph: Any = StateGraph(State)
    for number in range(calls):
        graph.add_node(str(number), node(number))
    middle = [str(number) for number in range(1, calls - 1)]
    graph.add_edge(START, "0")
    for name in middle:
        graph.add_edge("0", name)
    graph.add_edge(middle, str(calls - 1))
    graph.add_edge(str(calls - 1), END)
    return graph.compile()


async def main() -> None:
    """Run all goals, limited by the slots."""
    request = read_request()
    os.environ |= request["env"]
    bodies, calls = request["bodies"], request["calls"]
    compiled, slots = program(calls), asyncio.Semaphore(request["slots"])

    async def run_goal(start: int) -> None:
        async with slots:
            await compiled.ainvoke({"bodies": bodies[start : start + calls], "replies": []})

    await asyncio.gather(*(run_goal(start) for start in range(0, len(bodies), calls)))


if __name__ == "__main__":
    asyncio.run(main())
