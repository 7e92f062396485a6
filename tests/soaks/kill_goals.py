"""Kill a run whose tasks are goals, two deep, with -9 at random moments, resume it, and see that nothing is paid twice.

Every goal is answered wrongly once before it is planned, and one of the tasks of each plans further.
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

WIDTH = 2
# Planning; for each goal two answers, two tasks, and of the one inside it two answers, two tasks and a synthesis; then
# the synthesis of each, the last task.
CALLS = 1 + WIDTH * (2 + 2 + (2 + 2 + 1) + 1) + 1


def llm(task: str, *before: str) -> dict[str, Any]:
    """A task for a model."""
    return {"id": task, "action_type": "llm", "instruction": "go", "depends_on": list(before)}


def goal(task: str, *before: str) -> dict[str, Any]:
    """A task that is a goal."""
    return {"id": task, "action_type": "goal", "instruction": "Plan on", "depends_on": list(before)}


def plan_for(task: str | None) -> dict[str, Any]:
    """The plan of the run, of a goal, or of a goal inside one."""
    if task is None:
        names = [f"goal{place}" for place in range(WIDTH)]
        return {"tasks": [*map(goal, names), llm("end", *names)]}
    if "/" not in task:
        return {"tasks": [llm("a"), goal("deep", "a"), llm("b", "a")], "synthesis": "both"}
    return {"tasks": [llm("c"), llm("d")], "synthesis": "both"}


def replying(request: Request) -> Reply:
    """What the scripted model says."""
    if request.role == "decomposer":
        right = request.task is None or len(request.messages) > 2
        return _reply(json.dumps(plan_for(request.task)) if right else '{"tasks": []}')
    return _reply(f"{request.task or 'answer'} is done")


def _reply(text: str) -> Reply:
    return Reply(text, usage=Usage(1, 10, 5), cost=0.01)


@dataclass(frozen=True)
class GoalModel(NotingModel):
    """The same, for these plans."""

    async def complete(self, request: Request) -> Reply:
        await super().complete(request)
        return replying(request)


def check(runs: list[dict[str, Any]]) -> None:
    """Every run ended in the same way, with the same tasks."""
    kill_run.check_same_tasks(runs, CALLS)


def soak(nursery: Nursery, folder: Path, kills: int, draw: random.Random) -> str:
    """Kill, resume, check the results, and replay every run strictly."""
    killed = KilledRuns(nursery, folder, __name__, most_calls=6)
    killed.soak(kills, draw, check)
    return killed.summary("tasks")


SOAK = Soak("kill-goals", "kills a run whose tasks are goals and resumes it", soak, short=2)

if __name__ == "__main__":
    given = sys.argv[2] if len(sys.argv) > 2 else None
    model = GoalModel(Path(sys.argv[1]) / "calls.jsonl")
    asyncio.run(kill_run.attempt(Path(sys.argv[1]), given, "Weave on", model))
