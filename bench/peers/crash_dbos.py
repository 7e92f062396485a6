"""A run in DBOS with its SQLite database, begun or recovered: a workflow with a step for each task.

Steps must start in the same order each time, so that a layer starts when the one before it has ended.
"""

from __future__ import annotations

import asyncio

from dbos import DBOS, SetWorkflowID

from bench.peers.paid_calls import GRAPH, Attempt

ATTEMPT = Attempt.given()
DBOS(
    config={
        "name": "bench",
        "system_database_url": f"sqlite:///{ATTEMPT.folder / 'dbos.sqlite'}",
        "log_level": "ERROR",
        "run_admin_server": False,
    }
)


@DBOS.step()
async def call(task: str, inputs: list[str]) -> str:
    """One task."""
    return await ATTEMPT.call(task, inputs)


@DBOS.workflow()
async def run() -> dict[str, str]:
    """All tasks, layer by layer."""
    outputs: dict[str, str] = {}
    while len(outputs) < len(GRAPH):
        ready = [
            name for name, before in GRAPH.items() if name not in outputs and all(one in outputs for one in before)
        ]
        found = await asyncio.gather(*(call(name, [outputs[one] for one in GRAPH[name]]) for name in ready))
        outputs |= dict(zip(ready, found, strict=True))
    return outputs


async def main() -> None:
    """Wait for the run that DBOS recovers by itself, or begin one."""
    name = f"run-{ATTEMPT.run}"
    ATTEMPT.begin()
    DBOS.launch()
    if await DBOS.get_workflow_status_async(name) is not None:
        outputs = await (await DBOS.retrieve_workflow_async(name)).get_result()
    else:
        with SetWorkflowID(name):
            outputs = await run()
    ATTEMPT.finish(outputs)


if __name__ == "__main__":
    asyncio.run(main())
