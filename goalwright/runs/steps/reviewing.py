"""A person looks at the plan before anything of it runs: it runs as it is, as they edit it, or not now."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from goalwright.runs.plans.plan_edit import PlanInHand, edit
from goalwright_planner.events import RunFinished

if TYPE_CHECKING:
    from goalwright.runs.steps.planning import Planning
    from goalwright_executor.scheduling.expand import CurrentPlan
    from goalwright_planner.plan.plan import Plan

# Takes the plan; returns the one to run, or None if none is to run now.
Review = Callable[["Plan"], Awaitable["Plan | None"]]

DECLINED = RunFinished("interrupted", error="the plan was not run: it was declined in review", code="DECLINED")


async def reviewed(review: Review, current: CurrentPlan, planning: Planning) -> bool:
    """Have a plan reviewed, and make the change that comes of it; whether the plan is to run."""
    plan = current.plan
    wanted = await review(plan)
    if wanted is None:
        return False
    ends, must_use = planning.context.history.replans.tasks, planning.catalogue.goal.required
    change = edit(PlanInHand(plan, ends, plan), wanted, planning.known, "as reviewed", must_use)
    if change is not None:
        current.change(change)
        planning.warn_of_needs(current.plan.with_tasks(change.added))
        planning.warn_of_unused(current.plan, before=plan)
    return True
