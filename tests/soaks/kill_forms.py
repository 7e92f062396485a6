"""Kill a run whose results have forms and are checked, resume it, and see that nothing is lost or paid twice.

Every first answer has the wrong form, and every first result does not pass its check: each task takes six calls.
"""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goalwright_planner.model import Reply, Request, Usage
from tests.soaks import kill_run
from tests.soaks.kill_run import KilledRuns, NotingModel
from tests.soaks.soak import Soak

if TYPE_CHECKING:
    import random

    from tests.nursery import Nursery

LAYERS, WIDTH = 4, 3
CALLS = 6 * LAYERS * WIDTH + 2
NUMBER = {
    "type": "object",
    "properties": {"total": {"type": "integer"}, "of": {"type": "string"}},
    "required": ["total"],
}


def plan() -> dict[str, Any]:
    """Layers of tasks that add up the numbers of two tasks of the layer before."""
    tasks = []
    for layer in range(LAYERS):
        for place in range(WIDTH):
            before = [f"t{layer - 1}-{(place + step) % WIDTH}" for step in (0, 1)] if layer else []
            terms = " + ".join(f"<<{one}.output.total>>" for one in before) or str(place + 1)
            tasks.append(
                {
                    "id": f"t{layer}-{place}",
                    "action_type": "llm",
                    "instruction": f"Add: {terms}",
                    "depends_on": before,
                    "output_schema": NUMBER,
                    "check": {"ask": f"It is the sum of {terms}.", "tries": 1},
                }
            )
    return {"tasks": tasks, "synthesis": "all of it"}


def replying(request: Request) -> Reply:
    """A wrong form, then a wrong sum; a checker that finds the second; then a wrong form and the right sum."""
    used = Usage(1, 10, 5)
    asked = request.messages[1].content
    if request.role == "decomposer":
        return Reply(json.dumps(plan()), usage=used, cost=0.01)
    if request.role == "synthesis":
        return Reply("the answer", usage=used, cost=0.01)
    if request.role == "checker":
        holds = f'"total":{_sum(asked, "It is the sum of ", ".")}' + "}" in asked
        return Reply(json.dumps({"holds": holds, "why": "as it adds up"}), usage=used, cost=0.01)
    if len(request.messages) == 2:
        return Reply(f"That is easy, {request.task}", usage=used, cost=0.01)
    right = _sum(asked, "Add: ", "\n") - ("<rejected>" not in asked)
    return Reply(json.dumps({"total": right, "of": request.task}), usage=used, cost=0.01)


@dataclass(frozen=True)
class AddingModel(NotingModel):
    """The same, for this plan."""

    async def complete(self, request: Request) -> Reply:
        await super().complete(request)
        return replying(request)


async def attempt(workspace: Path, run: str | None) -> None:
    """In a process of its own: a new run, or one that is resumed."""
    await kill_run.attempt(workspace, run, "Add up", AddingModel(workspace / "calls.jsonl"))


def _sum(text: str, after: str, before: str) -> int:
    return sum(map(int, text.rpartition(after)[2].partition(before)[0].split(" + ")))


def check(runs: list[dict[str, Any]]) -> None:
    """Every run ended with the same numbers, each in its own task's place."""
    totals = {f"t0-{place}": place + 1 for place in range(WIDTH)}
    for row in plan()["tasks"][WIDTH:]:
        totals[row["id"]] = sum(totals[one] for one in row["depends_on"])
    for run in runs:
        assert (run["status"], run["answer"]) == ("done", "the answer")
        assert {task["id"]: json.loads(task["output"]) for task in run["tasks"]} == {
            name: {"of": name, "total": total} for name, total in totals.items()
        }
        assert run["usage"]["calls"] == CALLS, "a call on record is counted once"


def soak(nursery: Nursery, folder: Path, kills: int, draw: random.Random) -> str:
    """Kill, resume, check the results, and replay every run strictly."""
    killed = KilledRuns(nursery, folder, __name__, most_calls=12)
    killed.soak(kills, draw, check)
    return killed.summary("results", CALLS)


SOAK = Soak("kill-forms", "kills a run whose results have forms and are checked", soak, kills=50, short=2)

if __name__ == "__main__":
    asyncio.run(attempt(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None))
