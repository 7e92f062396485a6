"""Kill a run of loops with -9 at random moments, resume it, and see that no round is paid for twice.

A task, the items of a list, and a goal with a list in its plan are each done in rounds; a model decides about one of
them. Another never holds and is handled, and a person allows each of its rounds.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goalwright_planner.approvals import Answer
from goalwright_planner.model import Reply, Request, Usage
from tests.soaks.kill_run import KilledRuns, NotingModel
from tests.soaks.soak import Soak

if TYPE_CHECKING:
    import random

    from goalwright_planner.approvals import ApprovalRequest
    from tests.nursery import Nursery

ROUNDS = 4
# Planning; the draft and its verdicts; the items; the goal (planning, two items and a synthesis in each round); what
# never holds, and its branch; the end.
CALLS = 1 + 2 * ROUNDS + 2 * ROUNDS + ROUNDS * (1 + 2 + 1) + 2 + 1 + 1
_ROUND = re.compile(r"#([0-9]+)")


def llm(task: str, *before: str, **more: Any) -> dict[str, Any]:
    """A task for a model."""
    return {"id": task, "action_type": "llm", "instruction": "go", "depends_on": list(before), **more}


def until_last(task: str) -> dict[str, Any]:
    """Rounds that end with the fourth."""
    return {"until": f'<<{task}.output>> contains "round {ROUNDS}"', "most": 9}


def plan_for(task: str | None) -> dict[str, Any]:
    """The plan of the run, or of a round of its goal."""
    each = {"instruction": "take <<item>>", "for_each": ["a", "b"]}
    if task is not None:
        return {"tasks": [llm("each", **each)], "synthesis": "both"}
    ask = {"until": {"ask": f"Is this round {ROUNDS}: <<draft.output>>?"}, "most": 9}
    goal = {"id": "goal", "action_type": "goal", "instruction": "Plan on", "depends_on": []}
    return {
        "tasks": [
            llm("draft", repeat=ask),
            llm("items", repeat=until_last("items"), **each),
            goal | {"repeat": until_last("goal")},
            llm("never", repeat={"until": "<<never.output>> is empty", "most": 2}, needs_approval=True),
            llm("mend", "never", when='<<never.status>> == "failed"', instruction="mend <<never.output>>"),
            llm("end", "draft", "items", "goal", "mend"),
        ]
    }


def replying(request: Request) -> Reply:
    """What the scripted model says: a plan, a verdict, or which round it is."""
    if request.role == "decomposer":
        text = json.dumps(plan_for(request.task))
    elif request.role == "condition":
        held = f"round {ROUNDS}?" in request.messages[-1].content
        text = json.dumps({"holds": held, "why": "so it says"})
    else:
        number = _ROUND.search(request.task or "")
        text = f"{request.task or 'answer'}: round {number[1] if number else 1}"
    return Reply(text, usage=Usage(1, 10, 5), cost=0.01)


@dataclass(frozen=True)
class RoundsModel(NotingModel):
    """The same, for these plans."""

    async def complete(self, request: Request) -> Reply:
        await super().complete(request)
        return replying(request)


async def allow(_: ApprovalRequest) -> Answer:
    """A person who allows everything."""
    return Answer()


async def attempt(workspace: Path, run: str | None) -> None:
    """In a process of its own: a new run, or one that is resumed."""
    from goalwright.runs.runtime import Goalwright
    from goalwright.settings.settings import Settings

    model = RoundsModel(workspace / "calls.jsonl")
    async with Goalwright(workspace, Settings(model="scripted"), open_model=lambda _: model) as goalwright:
        print("ready", flush=True)
        result = await (
            goalwright.run("Go round", approve=allow) if run is None else goalwright.resume(run, approve=allow)
        )
    print(json.dumps(result.to_dict()))


def check(runs: list[dict[str, Any]]) -> None:
    """Every run came to the same results, by the same rounds."""
    assert {run["status"] for run in runs} == {"done"}, [run["error"] for run in runs]
    names = ["draft", "items", "goal", "never", "mend", "end", "items[1]", "items[2]"]
    for run in runs:
        tasks = {task["id"]: task for task in run["tasks"]}
        assert sorted(tasks) == sorted(names)
        assert (tasks["never"]["status"], tasks["never"]["output"]) == ("failed", "never#2: round 2")
        assert tasks["mend"]["status"] == "done"
        assert tasks["goal"]["output"] == f"goal#{ROUNDS}: round {ROUNDS}"
        assert tasks["items[2]"]["output"] == f"items[2]#{ROUNDS}: round {ROUNDS}"
        assert run["usage"]["calls"] == CALLS, "a call on record is counted once"


def soak(nursery: Nursery, folder: Path, kills: int, draw: random.Random) -> str:
    """Kill, resume, check the results, and replay every run strictly."""
    killed = KilledRuns(nursery, folder, __name__, most_calls=8)
    killed.soak(kills, draw, check)
    return killed.summary("results", CALLS)


SOAK = Soak("kill-rounds", "kills a run of tasks that are done in rounds and resumes it", soak, short=2)

if __name__ == "__main__":
    asyncio.run(attempt(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None))
