"""The process that `bench.crash` kills: starts or resumes a run of goalwright with a scripted model."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.peers.paid_calls import GRAPH, Attempt
from goalwright.runs.runtime import Goalwright
from goalwright.settings.settings import Settings
from goalwright_planner.model import Reply, Usage

if TYPE_CHECKING:
    from goalwright_planner.model import Request

_OUTPUT = re.compile(r"\bt\d-\d:[0-9a-f]{12}\b")


@dataclass(frozen=True, slots=True)
class PaidModel:
    """Plans the graph, and answers each task from the outputs in its prompt."""

    attempt: Attempt
    name: str = "scripted"

    async def complete(self, request: Request) -> Reply:
        """Answer a request."""
        if request.task is None:
            tasks = [
                {"id": name, "action_type": "llm", "instruction": "Go.", "depends_on": before}
                for name, before in GRAPH.items()
            ]
            planning = request.role == "decomposer"
            return Reply(
                json.dumps({"tasks": tasks, "synthesis": "All."}) if planning else "done", usage=Usage(1, 1, 1)
            )
        inputs = {output for message in request.messages for output in _OUTPUT.findall(message.content)}
        return Reply(await self.attempt.call(request.task, inputs), usage=Usage(1, 1, 1))


async def main() -> None:
    """Resume the run if there is one, else start it."""
    attempt = Attempt.from_arguments()
    model = PaidModel(attempt)
    async with Goalwright(attempt.folder, Settings(model="scripted"), open_model=lambda _: model) as goalwright:
        runs = [summary for summary in goalwright.journal.store.summaries() if summary.goal == f"Run {attempt.run}"]
        attempt.begin()
        result = await (goalwright.resume(runs[0].run_id) if runs else goalwright.run(f"Run {attempt.run}"))
    attempt.finish({task.id: task.output or "" for task in result.tasks})


if __name__ == "__main__":
    asyncio.run(main())
