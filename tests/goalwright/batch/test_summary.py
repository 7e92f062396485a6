"""The summary of a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright.batch.summary import BatchSummary
from goalwright_executor.history.result import Result
from goalwright_planner.model import Usage

if TYPE_CHECKING:
    from goalwright_planner.events import RunStatus


def ended(status: RunStatus, code: str | None = None, cost: float | None = 0.1) -> Result:
    return Result("r", status, "goal", None, None, None, (), (), Usage(1, 10, 5), cost, None, code=code)


def test_goal_stopped_by_own_limit_is_counted_under_that_limit() -> None:
    summary = BatchSummary(10)
    for result in (ended("done"), ended("stopped", "TIMEOUT"), ended("stopped", "BUDGET_SPENT", None)):
        summary.add(result)
    summary.skip("done")
    document = summary.to_dict()
    assert [document[name] for name in ("done", "out_of_time", "over_budget", "skipped", "left")] == [1, 1, 1, 1, 6]
    assert document["cost_usd"] is None
    assert not summary.all_done


def test_all_done_includes_goals_of_earlier_runs() -> None:
    summary = BatchSummary(2)
    summary.add(ended("done"))
    assert summary.all_done
    summary.skip("failed")
    assert not summary.all_done
