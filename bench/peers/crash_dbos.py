"""Starts or recovers a run in DBOS on SQLite: a workflow with one step per task.

Steps must start in the same order each time, so a layer starts when the layer before it has ended.
"""

from __future__ import annotations

import asyncio

from dbos import DBOS, SetWorkflowID

from bench.peers.paid_calls import GRAPH, Attempt

ATTEMPT = Attempt.from_arguments()
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
    """Run one task."""
    return await ATTEMPT.call(task, inputs)


@DBOS.workflow()
async def run() -> dict[str, str]:
    """Run all tasks, layer by layer."""
    outputs: dict[str, str] = {}
    while len(outputs) < len(GRAPH):
        ready = [
            name
            for name, before in GRAPH.items()
            if name not in outputs and all(dependency in outputs for dependency in before)
        ]
        results = await asyncio.gather(
            *(call(name, [outputs[dependency] for dependency in GRAPH[name]]) for name in ready)
        )
        outputs |= dict(zip(ready, results, strict=True))
    return outputs


async def main() -> None:
    """Wait for the run that DBOS recovers by itself, or start one."""
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
