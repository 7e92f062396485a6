"""Kill a run that fans out and branches with -9 at random moments, resume it, and see that no item is paid for twice.

A list of twelve items is gone through three at a time, its results once more, and three conditions are checked, one of
them by the model.
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

GOAL = "Go through a list"
ITEMS = 12
CALLS = 1 + 1 + 2 * ITEMS + 1 + 2 + 1  # plan, list, both maps, the question, two more tasks, the answer


def llm(task_id: str, *before: str, **more: Any) -> dict[str, Any]:
    """A task for a model."""
    return {"id": task_id, "action_type": "llm", "instruction": "go", "depends_on": list(before), **more}


def plan() -> dict[str, Any]:
    """A map over a map, a branch that is taken, one that is not, one that the model decides on, and a join."""
    each = {"instruction": "take <<item>>, number <<item.number>>"}
    return {
        "tasks": [
            llm("list"),
            llm("first", "list", for_each="<<list.output>>", width=3, **each),
            llm("second", "first", for_each="<<first.output>>", when="<<first.count>> == 12", **each),
            llm("no", "list", when="<<list.count>> < 12"),
            llm("asked", "first", when={"ask": "Is <<first.output>> complete?"}),
            llm("join", "second", "no", "asked"),
        ],
        "synthesis": "all of it",
    }


def replying(request: Request) -> Reply:
    """The plan, the list, a verdict, and from every other task whose it is and what it was given."""
    if request.role == "decomposer":
        text = json.dumps(plan())
    elif request.role == "condition":
        text = '{"holds": true, "why": "it is"}'
    elif request.task == "list":
        text = "\n".join(f"- item {number}" for number in range(ITEMS))
    else:
        text = kill_run.saying(request)
    return Reply(text, usage=Usage(1, 10, 5), cost=0.01)


@dataclass(frozen=True)
class FanningModel(NotingModel):
    """The same, for this plan."""

    async def complete(self, request: Request) -> Reply:
        await super().complete(request)
        return replying(request)


async def attempt(workspace: Path, run: str | None) -> None:
    """In a process of its own: a new run, or one that is resumed."""
    await kill_run.attempt(workspace, run, GOAL, FanningModel(workspace / "calls.jsonl"))


def check(runs: list[dict[str, Any]]) -> None:
    """Every run ended in the same answer, with every item's output in its place."""
    assert {run["status"] for run in runs} == {"done"}
    assert len({run["answer"] for run in runs}) == 1
    for run in runs:
        tasks = {task["id"]: task for task in run["tasks"]}
        assert len(tasks) == 6 + 2 * ITEMS
        assert tasks["no"]["status"] == "unneeded"
        for name in ("first", "second"):
            said = [tasks[f"{name}[{number}]"]["output"] for number in range(1, ITEMS + 1)]
            assert all(text.startswith(f"{name}[{number}]:") for number, text in enumerate(said, 1))
            assert [part.partition("\n\n")[2] for part in tasks[name]["output"].split("### ")[1:-1]] == [
                f"{text}\n\n" for text in said[:-1]
            ]
        assert run["usage"]["calls"] == CALLS, "a call on record is counted once"


def soak(nursery: Nursery, folder: Path, kills: int, draw: random.Random) -> str:
    """Kill, resume, check the answers, and replay every run strictly."""
    killed = KilledRuns(nursery, folder, __name__, most_calls=8)
    killed.soak(kills, draw, check)
    return killed.summary("answer", CALLS)


SOAK = Soak("kill-fan-out", "kills a run that fans out and branches, and resumes it", soak, short=3)

if __name__ == "__main__":
    asyncio.run(attempt(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None))
