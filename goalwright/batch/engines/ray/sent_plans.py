"""Plans that goals of a batch share across its workers: the batch decides who plans for whom, and sends the plan along.

a goal that is like another waits here for that one's plan, which its worker has put on record → it is sent with that
plan and its own words → a worker plans only for goals that are like none before them
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from goalwright_executor.stores.errors import BadStore, StoreFailed, UnknownRun

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from goalwright.batch.engine import Job
    from goalwright.batch.engines.in_process import InProcess
    from goalwright.batch.shared_plans import Lead, SharedPlans
    from goalwright.runs.stop import Stop

# Seconds between two looks at the record of a run that others wait for.
_LOOK = 0.5


@dataclass(frozen=True, slots=True)
class SentPlans:
    """The plans that the goals of one runtime share; none if its settings do not let recipes be used by themselves."""

    plans: SharedPlans | None

    @classmethod
    def of(cls, home: InProcess, job: Job) -> SentPlans:
        """The plans for goals with the settings of this one."""
        return cls(home.plans_of(home.runtime(job.goal)))

    @asynccontextmanager
    async def sharing(self, job: Job, stop: Stop) -> AsyncIterator[Job]:
        """The job with a plan that it takes over; while one without runs, others wait for its plan."""
        prepared, lead = await self._prepared(job, stop)
        watching = asyncio.ensure_future(self._watch(lead)) if lead is not None else None
        try:
            yield prepared
        finally:
            if lead is not None and watching is not None:
                watching.cancel()
                await asyncio.gather(watching, return_exceptions=True)
                await self._look(lead)
                lead.end()

    async def _prepared(self, job: Job, stop: Stop) -> tuple[Job, Lead | None]:
        if self.plans is None:
            return job, None
        if job.begun and await asyncio.to_thread(self._is_known, job.run_id):
            return job, await self.plans.resumed(job.asked, job.run_id)
        goal, lead = await self.plans.prepared(job.asked, job.run_id, stop)
        if goal.recipe is None:
            return job, lead
        plan = goal.plan.to_dict() if goal.plan is not None else None
        return replace(job, goal=replace(job.goal, plan=plan), recipe=goal.recipe), lead

    async def _watch(self, lead: Lead) -> None:
        while not lead.recipe.done():
            await asyncio.sleep(_LOOK)
            await self._look(lead)

    async def _look(self, lead: Lead) -> None:
        assert self.plans is not None  # noqa: S101 - there is no lead without
        with suppress(StoreFailed, BadStore, UnknownRun):  # it may be out of reach for a while
            planned = await asyncio.to_thread(self.plans.plan_on_record, lead.run_id)
            if planned is not None:
                lead.note(planned)

    def _is_known(self, run_id: str) -> bool:
        assert self.plans is not None  # noqa: S101 - the caller checked it
        try:
            self.plans.goalwright.journal.store.find(run_id)
        except UnknownRun:
            return False
        return True
