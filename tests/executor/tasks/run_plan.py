"""Runs a plan that does not change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from executor.tasks.finished import NOTHING
from executor.tasks.schedule import Schedule

if TYPE_CHECKING:
    from executor.tasks.attempt import ScheduleLimits
    from executor.tasks.finished import Finished
    from executor.tasks.outcome import Outcome
    from executor.tasks.schedule import Check, RunTask
    from planner.events import Record
    from planner.plan.plan import Plan


async def run_plan(
    plan: Plan,
    run_task: RunTask,
    record: Record,
    limits: ScheduleLimits,
    finished: Finished = NOTHING,
    check: Check | None = None,
) -> dict[str, Outcome]:
    """Run every task of a plan; a task that never started is not in the result."""
    schedule = Schedule(run_task, record, limits, finished, check)
    schedule.add(*plan.tasks)
    schedule.close()
    return await schedule.run()
