"""A person looks at the plan before anything of it runs: it runs as it is, as they edit it, or not now."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from weft.runs.plans.plan_edit import PlanInHand, edit
from weft_planner.events import RunFinished

if TYPE_CHECKING:
    from weft_executor.scheduling.expand import CurrentPlan
    from weft_planner.plan.plan import Plan, Task
    from weft_planner.plan.validate import Known

# Takes the plan; returns the one to run, or None if none is to run now.
Review = Callable[["Plan"], Awaitable["Plan | None"]]

DECLINED = RunFinished("interrupted", error="the plan was not run: it was declined in review", code="DECLINED")


async def reviewed(review: Review, current: CurrentPlan, known: Known) -> tuple[Task, ...] | None:
    """Have a plan reviewed, and make the change that comes of it; returns the new tasks, or None if it is declined."""
    plan = current.plan
    wanted = await review(plan)
    if wanted is None:
        return None
    change = edit(PlanInHand(plan, {}, plan), wanted, known, "as reviewed")
    if change is None:
        return ()
    current.change(change)
    return change.added
