"""One run over a batch's goals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from executor.history.result import Result
from planner.model import Usage
from weft.batch.goals import BatchGoal
from weft.batch.options import BatchOptions
from weft.batch.results import EarlierResult, Results
from weft.batch.runner import BatchRunner
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


async def test_a_batch_is_not_complete_while_an_unfinished_goal_is_left(
    tmp_path: Path,
) -> None:
    results = Results(tmp_path / "out.jsonl")
    history = {"a": EarlierResult("", "run-a"), "z": EarlierResult("", "run-z")}
    runner = BatchRunner(Prompt(), results, history, Budget(), BatchOptions(), BatchSummary(1))
    complete = []
    for goal in (BatchGoal("a", 1, "x"), BatchGoal("z", 9, "y")):
        await runner.run([goal])
        complete.append(runner.is_complete)
    results.close(complete=True)
    assert complete == [False, True]
