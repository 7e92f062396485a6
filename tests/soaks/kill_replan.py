"""Kill a run whose plan is changed twice with -9 at random moments, resume it, and see that nothing is paid twice.

Four tasks fail and are replaced; then a worker calls the plan wrong, and what waited for it is replaced too. Each
request for a change is answered wrongly first. Tasks that failed are tried again by every resume, which costs nothing.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goalwright_planner.errors import RequestRefused
from goalwright_planner.model import Reply, Request, ToolCall, Usage
from tests.soaks import kill_run
from tests.soaks.kill_run import KilledRuns, NotingModel
from tests.soaks.soak import Soak

if TYPE_CHECKING:
    import random

    from tests.nursery import Nursery

WIDTH = 4
_FAILED = re.compile(r"- task '(\S+)' failed, and was needed for")
# Planning; twelve tasks, one of them in two calls, and another end; twice two answers about changes; the answer.
CALLS = 1 + (3 * WIDTH + 1 + 1) + 2 * 2 + 1


def llm(task: str, *before: str) -> dict[str, Any]:
    """A task for a model."""
    return {"id": task, "action_type": "llm", "instruction": "go", "depends_on": list(before)}


def plan() -> dict[str, Any]:
    """Four tasks that are done, four that fail, four that wait for these, and one for all."""
    tasks = [llm(f"{kind}{place}") for kind in ("done", "fail") for place in range(WIDTH)]
    tasks += [llm(f"after{place}", f"done{place}", f"fail{place}") for place in range(WIDTH)]
    return {"tasks": [*tasks, llm("end", *(f"after{place}" for place in range(WIDTH)))], "synthesis": "all of it"}


def replying(request: Request) -> Reply | Exception:
    """What the scripted model says."""
    if request.role == "decomposer":
        return _reply(json.dumps(plan()))
    if request.role == "replanner":
        return _reply(_change(request) if len(request.messages) > 2 else "I would try again.")
    task = request.task or "answer"
    if task.startswith("fail") and not task.endswith("-b"):
        return RequestRefused("it is gone")
    if task == "after0" and request.messages[-1].role != "tool":
        call = ToolCall("c1", "PlanIsWrong", '{"reason": "one is enough"}')
        return Reply("", (call,), Usage(1, 10, 5), 0.01, "tool_calls")
    return _reply(f"{task} is done")


def _reply(text: str) -> Reply:
    return Reply(text, usage=Usage(1, 10, 5), cost=0.01)


def _change(request: Request) -> str:
    """Replacements for all that failed; where a worker called the plan wrong, another end."""
    failed = sorted(set(_FAILED.findall(request.messages[1].content)))
    if failed:
        added = [llm(f"{name}-b") for name in failed]
        return json.dumps({"add": added, "drop": [], "rewire": {name: f"{name}-b" for name in failed}})
    return json.dumps({"add": [llm("short-end", "after0")], "drop": ["end"], "rewire": {}})


@dataclass(frozen=True)
class ReplanningModel(NotingModel):
    """The same, for this plan."""

    async def complete(self, request: Request) -> Reply:
        await super().complete(request)
        reply = replying(request)
        if isinstance(reply, Exception):
            raise reply
        return reply


def check(runs: list[dict[str, Any]]) -> None:
    """Every run ended in the same way, with the same tasks in the same order."""
    kill_run.check_same_tasks(runs, CALLS)
    assert len({tuple(task["id"] for task in run["tasks"]) for run in runs}) == 1


def soak(nursery: Nursery, folder: Path, kills: int, draw: random.Random) -> str:
    """Kill, resume, check the results, and replay every run strictly."""
    killed = KilledRuns(nursery, folder, __name__, most_calls=6)
    killed.soak(kills, draw, check)
    return killed.summary("tasks")


SOAK = Soak("kill-replan", "kills a run whose plan is changed twice and resumes it", soak, short=3)

if __name__ == "__main__":
    given = sys.argv[2] if len(sys.argv) > 2 else None
    model = ReplanningModel(Path(sys.argv[1]) / "calls.jsonl")
    asyncio.run(kill_run.attempt(Path(sys.argv[1]), given, "Weave on", model, max_replans=2))
