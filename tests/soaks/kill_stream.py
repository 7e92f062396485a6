"""Kill a run while its plan is being written and its first tasks run, resume it, and see that nothing is paid twice.

The plan is refused once, and then accepted with its tasks as they were, as the planner is told. Two of them have a
list: one of the plan's own, and the results of the first, item by item.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goalwright_planner.model import Reply, Request, Usage
from tests.soaks import kill_run
from tests.soaks.kill_run import KilledRuns, NotingModel, saying
from tests.soaks.soak import Soak

if TYPE_CHECKING:
    from goalwright_executor.stores.row import Row
    from tests.nursery import Nursery

GOAL = "Weave while the pattern is drawn"
TASKS = 12
COLOURS = ["madder", "weld", "woad", "walnut", "cochineal"]
MAPS = ("dyed", "dried")
CALLS = TASKS + 1 + len(MAPS) * len(COLOURS) + 2 + 1  # the tasks, their items, two plans, the answer


def rows() -> list[dict[str, Any]]:
    """Tasks, each waiting for one or two written shortly before it, and two lists among them."""
    threads = [
        {
            "id": f"t{number}",
            "action_type": "llm",
            "instruction": f"Weave thread {number}",
            "depends_on": [f"t{before}" for before in sorted({number // 2 - 1, number - 3}) if before >= 0],
        }
        for number in range(TASKS)
    ]
    dyed = {"id": "dyed", "action_type": "llm", "instruction": "Dye it in <<item>>", "for_each": COLOURS, "width": 2}
    dyed["depends_on"] = []  # without it, it would wait for the whole plan
    dried = {"id": "dried", "action_type": "llm", "instruction": "Dry <<item>>", "for_each": "<<dyed.output>>"}
    return [threads[0], dyed, *threads[1:4], dried | {"depends_on": ["dyed"]}, *threads[4:]]


@dataclass(frozen=True)
class DrawingModel(NotingModel):
    """Writes its plans piece by piece; tasks are answered meanwhile."""

    def plan(self, *, whole: bool) -> str:
        """The plan; the first one written names a task that it does not have."""
        before = ["dried", "t11" if whole else "t99"]
        last = {"id": "last", "action_type": "llm", "instruction": "Knot", "depends_on": before}
        return json.dumps({"tasks": [*rows(), last], "synthesis": "all of it"}, indent=1)

    async def complete(self, request: Request) -> Reply:
        if request.role != "decomposer":
            await super().complete(request)
            return Reply(saying(request), usage=Usage(1, 10, 5), cost=0.01)
        await super().complete(replace(request, on_text=None))
        text = self.plan(whole=any("t99" in message.content for message in request.messages))
        if request.on_text is not None:
            request.on_text("")
            for begin in range(0, len(text), 60):
                request.on_text(text[begin : begin + 60])
                await asyncio.sleep(random.uniform(0.002, 0.02))
        return Reply(text, usage=Usage(1, 10, 5), cost=0.01)


async def attempt(workspace: Path, run: str | None) -> None:
    """In a process of its own: a new run, or one that is resumed."""
    await kill_run.attempt(workspace, run, GOAL, DrawingModel(workspace / "calls.jsonl"))


def check(runs: list[dict[str, Any]]) -> None:
    """Every run ended with the same tasks and the same answer, each output in its own task's place."""
    for run in runs:
        assert run["status"] == "done"
        outputs = {task["id"]: task["output"] for task in run["tasks"]}
        planned = [*(row["id"] for row in rows()), "last"]
        items = [f"{name}[{number}]" for name in MAPS for number in range(1, len(COLOURS) + 1)]
        assert list(outputs)[: len(planned)] == planned
        assert sorted(list(outputs)[len(planned) :]) == sorted(items)
        assert all(output.startswith(f"{name}:") for name, output in outputs.items() if name not in MAPS)
        assert outputs["dyed"].split("\n\n")[1::2] == [outputs[name] for name in items[: len(COLOURS)]]
        assert run["usage"]["calls"] == CALLS, "a call on record is counted once"
    assert len({run["answer"] for run in runs}) == 1


def soak(nursery: Nursery, folder: Path, kills: int, draw: random.Random) -> str:
    """Kill, resume, check the results, and replay every run strictly."""
    killed = KilledRuns(nursery, folder, __name__, most_calls=8)
    killed.soak(kills, draw, check)
    early = _early(folder)
    items = sum(name.endswith("]") for name in early)
    assert 0 < items < len(early), "no task or no item began before its plan was whole"
    repeated = len(killed.calls()) - len(killed.runs) * CALLS
    return (
        f"{killed.kills} kills, {len(killed.runs)} runs with the same results, {len(early)} tasks began early, "
        f"{items} of them items, {repeated} calls in flight made again"
    )


def _early(folder: Path) -> list[str]:
    """The tasks that were started before their run had a plan."""
    early: list[str] = []
    planned: set[str] = set()
    for row in _rows(folder, "plan_made", "task_started"):
        if row.type == "plan_made":
            planned.add(row.run_id)
        elif row.run_id not in planned:
            early.append(row.body["task"])
    return early


def dropped(folder: Path) -> list[str]:
    """The tasks that began early and were not accepted."""
    changes = [row.body for row in _rows(folder, "plan_changed") if row.body["cause"] == "stream"]
    return [name for change in changes for name in change["dropped"]]


def _rows(folder: Path, *types: str) -> list[Row]:
    """The rows of all runs, one run after another."""
    from goalwright_executor.journal.open_store import open_store
    from goalwright_executor.stores.urls import url_of

    store = open_store(url_of(folder / ".agents" / "journal.sqlite"), create=False)
    try:
        return [row for summary in store.summaries(1_000) for row in store.rows(summary.run_id, types=types)]
    finally:
        store.close()


SOAK = Soak("kill-stream", "kills a run while its plan is being written", soak, kills=50, short=2)

if __name__ == "__main__":
    asyncio.run(attempt(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None))
