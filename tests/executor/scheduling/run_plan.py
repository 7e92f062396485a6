"""Runs a plan that does not change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright_executor.results.memo import Memo
from goalwright_executor.scheduling.finished import NOTHING
from goalwright_executor.scheduling.schedule import Schedule

if TYPE_CHECKING:
    from goalwright_executor.results.outcome import Outcome
    from goalwright_executor.scheduling.attempt import ScheduleLimits
    from goalwright_executor.scheduling.finished import Finished
    from goalwright_executor.scheduling.schedule import Check, RunTask
    from goalwright_planner.events import Record
    from goalwright_planner.plan.plan import Plan


async def run_plan(
    plan: Plan,
    run_task: RunTask,
    record: Record,
    limits: ScheduleLimits,
    finished: Finished = NOTHING,
    check: Check | None = None,
) -> dict[str, Outcome]:
    """Run every task of a plan; a task that never started is not in the result."""
    schedule = Schedule(run_task, Memo(record).recorded, limits, finished, check)
    schedule.add(*plan.tasks)
    schedule.close()
    return await schedule.run()
