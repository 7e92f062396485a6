"""Kill a run whose planner, once refused, changes a list that had begun: its items are dropped, and nothing else is.

What was spent on them counts, so that runs differ in what they cost; their results are the same.
"""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.soaks import kill_run, kill_stream
from tests.soaks.kill_run import KilledRuns
from tests.soaks.kill_stream import COLOURS, DrawingModel
from tests.soaks.soak import Soak

if TYPE_CHECKING:
    import random

    from tests.nursery import Nursery

GOAL = "Weave while the pattern is drawn twice"
KEPT = 3


@dataclass(frozen=True)
class ChangingModel(DrawingModel):
    """Accepted plans have fewer colours, and the thread that comes last is another."""

    def plan(self, *, whole: bool) -> str:
        """The plan; the first one written names a task that it does not have."""
        text = super().plan(whole=whole)
        if not whole:
            return text
        document = json.loads(text)
        for row in document["tasks"]:
            if row["id"] == "dyed":
                row["for_each"] = COLOURS[:KEPT]
            elif row["id"] == "t11":
                row["instruction"] = "Weave the last thread otherwise"
        return json.dumps(document, indent=1)


async def attempt(workspace: Path, run: str | None) -> None:
    """In a process of its own: a new run, or one that is resumed."""
    await kill_run.attempt(workspace, run, GOAL, ChangingModel(workspace / "calls.jsonl"))


def check(runs: list[dict[str, Any]]) -> None:
    """Every run ended with the same tasks, outputs and answer, and with the items of the plan that was accepted."""
    assert {run["status"] for run in runs} == {"done"}, [run["error"] for run in runs]
    ended = [{task["id"]: (task["status"], task["output"]) for task in run["tasks"]} for run in runs]
    for run, one in zip(runs, ended, strict=True):
        other = {
            name: (one.get(name), ended[0].get(name)) for name in one | ended[0] if one.get(name) != ended[0].get(name)
        }
        assert not other, (run["run_id"], other)
    items = {name for name in ended[0] if name.endswith("]")}
    assert items == {f"{name}[{number}]" for name in kill_stream.MAPS for number in range(1, KEPT + 1)}
    assert len({run["answer"] for run in runs}) == 1


def soak(nursery: Nursery, folder: Path, kills: int, draw: random.Random) -> str:
    """Kill, resume, check the results, and replay every run strictly."""
    killed = KilledRuns(nursery, folder, __name__, most_calls=8)
    killed.soak(kills, draw, check)
    dropped = kill_stream.dropped(folder)
    assert any(name.endswith("]") for name in dropped), "no item was dropped"
    return f"{killed.kills} kills, {len(killed.runs)} runs with the same results, {len(dropped)} early tasks dropped"


SOAK = Soak("kill-stream-changed", "kills a run whose planner changes what began early", soak, kills=50, short=0)

if __name__ == "__main__":
    asyncio.run(attempt(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None))
