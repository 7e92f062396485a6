"""A worker without Ray, in this process."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from weft.batch.engines.ray.messages import WorkerFacts
from weft.batch.engines.ray.questions import BudgetLine
from weft.version import __version__

if TYPE_CHECKING:
    from weft.batch.engines.ray.messages import GoalJob, Outcome, WorkerReport
    from weft.batch.engines.ray.questions import BudgetAnswer, BudgetQuestion

GONE = ConnectionError("killed")


def facts(process: str = "p1", **more: Any) -> WorkerFacts:
    """What a worker says when it begins."""
    return WorkerFacts(process, "node-1", more.pop("version", __version__), **more)


class PlainWorker:
    """A worker that a test controls: `facts` in turn when it begins, `reports` and `outcomes` one after another."""

    def __init__(self, *facts: WorkerFacts) -> None:
        self.facts = list(facts)
        self.reports: asyncio.Queue[WorkerReport | Exception] = asyncio.Queue()
        self.outcomes: asyncio.Queue[Outcome | Exception] = asyncio.Queue()
        self.jobs: list[GoalJob] = []
        self.line = BudgetLine()
        self.did: list[str] = []

    async def begin(self) -> WorkerFacts:
        if not self.facts:
            await asyncio.Event().wait()
        return self.facts.pop(0)

    async def run(self, job: GoalJob) -> Outcome:
        self.jobs.append(job)
        outcome = await self.outcomes.get()
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def report(self) -> WorkerReport:
        report = await self.reports.get()
        if isinstance(report, Exception):
            raise report
        return report

    async def fetch(self, answer: BudgetAnswer | None) -> BudgetQuestion:
        return await self.line.fetch(answer)

    async def stop(self) -> None:
        self.did.append("stop")

    async def close(self) -> None:
        self.did.append("close")

    def restart(self) -> None:
        self.did.append("restart")

    def end(self) -> None:
        self.did.append("end")
