"""A run in this process, from its first event to its last: recorded, held against others, stopped when asked."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from executor.history.run_history import RunHistory
from executor.stores.errors import StoreFailed
from executor.tasks.artifacts import Artifacts
from executor.tasks.memo import Memo
from planner.errors import BudgetSpent, ModelError, PlanError
from planner.events import Event, PlanMade, RunFinished, RunResumed, RunStarted, TaskReused, Warned
from skills.errors import WeftError
from weft.models.budget import ASSUMED_PRICE, Budget
from weft.models.roles import RoleModels
from weft.runs.pipeline import Pipeline
from weft.settings.default_model import LOCAL_NOTICE, is_local

if TYPE_CHECKING:
    from executor.history.result import Result
    from executor.journal.journal import Journal
    from executor.journal.log import Log
    from planner.events import Record
    from weft.models.open import OpenModel
    from weft.runs.goal import Goal
    from weft.runs.stop import Stop
    from weft.workspace.workspace import Workspace


@dataclass(slots=True)
class Run:
    """One run. `reused` are outputs taken from elsewhere that are still to be told."""

    goal: Goal
    workspace: Workspace
    open_model: OpenModel
    journal: Journal
    log: Log
    opening: RunStarted | RunResumed
    date: str
    history: RunHistory = field(default_factory=RunHistory)
    reused: tuple[TaskReused, ...] = ()
    watcher: Record | None = None

    def give(self, reused: tuple[TaskReused, ...]) -> None:
        """Have a new run take outputs from elsewhere; its first event says which, its own events follow its plan."""
        assert isinstance(self.opening, RunStarted)  # noqa: S101 - one that is taken up again has been given them
        self.opening, self.reused = replace(self.opening, reused=reused), reused
        self.history.finished.given.update({one.task: one.output for one in reused})

    def note(self, event: Event) -> None:
        """An event happened."""
        self.history.ledger.note(event)
        self.log.record(event)
        if self.watcher is not None:
            self.watcher(event)
        if isinstance(event, PlanMade):
            self._reuse()

    async def run(self, stop: Stop) -> Result:
        """Run it to its end. Raises where it cannot even be begun."""
        self._remind()
        self.note(self.opening)
        if is_local(self.workspace.settings.model or ""):
            self.note(Warned(LOCAL_NOTICE))
        if self.history.planned is not None:
            self._reuse()
        if isinstance(self.opening, RunStarted):  # one that is taken up again was claimed before it was read
            self.journal.take(self.log.run_id)
        try:
            await self.log.settle()  # nothing is spent before the journal has shown that it can be written
        except asyncio.CancelledError:
            self.journal.release(self.log.run_id)
            raise
        began = time.monotonic()
        try:
            end = await self._until_stopped(self._pipeline(), stop)
        except Exception as error:
            code = error.code if isinstance(error, WeftError) else "INTERNAL_ERROR"
            await self._finish(RunFinished("failed", error=str(error), seconds=time.monotonic() - began, code=code))
            raise
        except asyncio.CancelledError:
            await self._finish(RunFinished("interrupted", error="interrupted", seconds=time.monotonic() - began))
            raise
        await self._finish(replace(end, seconds=time.monotonic() - began))
        return self.history.ledger.result(self.journal.url)

    def _reuse(self) -> None:
        for one in self.reused:
            self.note(one)

    async def _finish(self, end: RunFinished) -> None:
        self.note(end)
        self.journal.release(self.log.run_id)
        try:
            await self.log.settle()
        except StoreFailed as error:
            if self.watcher is not None:
                self.watcher(Warned(f"the end of the run is not on record: {error.message}"))

    def _remind(self) -> None:
        """Tell whoever watches a run that is taken up again what was done before."""
        if self.watcher is None or self.history.planned is None:
            return
        self.watcher(PlanMade(self.history.planned.plan, self.history.planned.attempts))
        given = self.history.started.reused if self.history.started is not None else ()
        for one in given:
            if one not in self.reused:
                self.watcher(one)
        for finished in self.history.tasks.values():
            if finished.status == "done":
                self.watcher(finished)

    def _pipeline(self) -> Pipeline:
        settings, ledger = self.workspace.settings, self.history.ledger
        memo = Memo(self.note, self.log.capture, self.log.settle, self.history.finished)
        spent = ledger.usage.tokens * ASSUMED_PRICE if ledger.cost is None else ledger.cost
        budget = Budget(settings.max_cost, settings.max_tokens, spent, ledger.usage)
        models = RoleModels(settings, memo, budget, self.open_model)
        artifacts = Artifacts.of(self.workspace.paths.workspace, self.log.run_id)
        return Pipeline(self.goal, self.workspace, models, memo, artifacts, self.date, self.history)

    async def _until_stopped(self, pipeline: Pipeline, stop: Stop) -> RunFinished:
        work = asyncio.ensure_future(pipeline.run())
        stopped = asyncio.ensure_future(stop.wait())
        limit = self.workspace.settings.timeout
        try:
            await asyncio.wait({work, stopped}, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopped.cancel()
            if not work.done():
                work.cancel()
                await asyncio.gather(work, return_exceptions=True)
        if work.cancelled():
            late = RunFinished(
                "stopped", error=f"stopped after --timeout {limit:g} s" if limit else None, code="TIMEOUT"
            )
            return RunFinished("interrupted", error="interrupted") if stop.is_set() else late
        return _ended(work)


def _ended(work: asyncio.Future[RunFinished]) -> RunFinished:
    try:
        return work.result()
    except BudgetSpent as spent:
        return RunFinished("stopped", error=f"{spent.message}; {spent.hint}", code=spent.code)
    except PlanError as error:
        return RunFinished("failed", error=error.message, code=error.code)
    except ModelError as error:
        if error.exit_status == 4:
            raise
        return RunFinished("failed", error=str(error), code=error.code)
