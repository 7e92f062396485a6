"""One sitting of a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from executor.history.result import Result
from planner.model import Usage
from weft.batch.goals import BatchGoal
from weft.batch.results import EarlierResult, Results
from weft.batch.runner import Batch, BatchOptions
from weft.batch.summary import BatchSummary
from weft.models.budget import Budget

if TYPE_CHECKING:
    from pathlib import Path

    from weft.batch.engine import Job
    from weft.runs.stop import Stop


class Prompt:
    """Every goal is done at once."""

    async def run(self, job: Job, _: Stop) -> Result:
        return Result("run", "done", job.goal.text, "ok", None, None, (), (), Usage(), 0.0, None)

    async def close(self) -> None:
        """Nothing was opened."""


async def test_a_sitting_is_not_through_while_a_goal_that_was_cut_off_waits_beyond_it(tmp_path: Path) -> None:
    results = Results(tmp_path / "out.jsonl")
    history = {"a": EarlierResult("", "run-a"), "z": EarlierResult("", "run-z")}
    sitting = Batch(Prompt(), results, history, Budget(), BatchOptions(), BatchSummary(1))
    through = []
    for goal in (BatchGoal("a", 1, "x"), BatchGoal("z", 9, "y")):
        await sitting.run([goal])
        through.append(sitting.through)
    results.close(through=True)
    assert through == [False, True]
