"""A worker without Ray, in this process."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from goalwright.batch.engines.ray.messages import WorkerInfo
from goalwright.batch.engines.ray.worker import BudgetChannel
from goalwright.version import __version__

if TYPE_CHECKING:
    from goalwright.batch.engines.ray.messages import GoalJob, NumberedGrant, NumberedRequest, Outcome, WorkerReport

GONE = ConnectionError("killed")


def info(process: str = "p1", **more: Any) -> WorkerInfo:
    """What a worker says when it starts."""
    return WorkerInfo(process, "node-1", more.pop("version", __version__), **more)


class PlainWorker:
    """A worker that a test controls: `info` in turn when it starts, `reports` and `outcomes` one after another."""

    def __init__(self, *info: WorkerInfo) -> None:
        self.info = list(info)
        self.reports: asyncio.Queue[WorkerReport | Exception] = asyncio.Queue()
        self.outcomes: asyncio.Queue[Outcome | Exception] = asyncio.Queue()
        self.jobs: list[GoalJob] = []
        self.channel = BudgetChannel()
        self.did: list[str] = []

    async def start(self) -> WorkerInfo:
        if not self.info:
            await asyncio.Event().wait()
        return self.info.pop(0)

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

    async def poll_budget(self, granted: NumberedGrant | None) -> NumberedRequest:
        return await self.channel.poll(granted)

    async def stop(self) -> None:
        self.did.append("stop")

    async def close(self) -> None:
        self.did.append("close")

    def restart(self) -> None:
        self.did.append("restart")

    def end(self) -> None:
        self.did.append("end")
