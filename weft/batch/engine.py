"""Where a goal runs: in this process, or wherever another engine takes it."""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from executor.journal.errors import UnknownRun
from planner.errors import ModelError
from planner.events import Event, RunStarted
from planner.plan import Plan
from planner.shape import SHAPES
from weft.goal import Goal
from weft.models import provider
from weft.models.budget import Budget, Metered
from weft.models.caller import Opening
from weft.models.callers import Callers, Distant, most
from weft.models.capabilities import Capabilities
from weft.models.cast import is_local, opener
from weft.places import Places
from weft.run import Weft

if TYPE_CHECKING:
    from pathlib import Path

    from executor.ledger import Result
    from planner.events import Record
    from planner.model import Model
    from weft.batch.dedupe import Answers
    from weft.batch.goals import BatchGoal
    from weft.batch.pooled import Traffic
    from weft.settings import Settings
    from weft.stop import Stop

Began = Callable[[str], None]

# From so many goals on, the calls are made in processes of their own; for fewer these are not worth their start.
MANY = 50

_OWNER: ContextVar[str] = ContextVar("owner", default="")


@dataclass(frozen=True, slots=True)
class Job:
    """A goal to run: anew, or from where an earlier run of it stopped; `began` is told the run's id."""

    goal: BatchGoal
    earlier: str | None
    began: Began
    record: Record


class Engine(Protocol):
    """Runs goals, as many at a time as it is given."""

    async def run(self, job: Job, stop: Stop) -> Result:
        """Run one goal to its end."""

    async def close(self) -> None:
        """Let go of what was opened."""


@dataclass(slots=True)
class InProcess:
    """Runs goals in this process; they share one pool of calls, one budget and, where asked for, answers.

    Only the calls themselves may be made elsewhere, by `callers`, when there are many goals.
    """

    workspace: Path
    settings: Settings
    traffic: Traffic
    budget: Budget
    answers: Answers | None = None
    callers: Callers | None = None
    _runtimes: dict[str | None, Weft] = field(default_factory=dict)

    async def run(self, job: Job, stop: Stop) -> Result:
        """Run one goal to its end, or go on with it."""
        _OWNER.set(job.goal.id)
        weft, run = self.runtime(job.goal.model), job.earlier

        def note(event: Event) -> None:
            nonlocal run
            if isinstance(event, RunStarted):
                run = event.run_id
                job.began(run)
            job.record(event)

        try:
            if run is not None:
                try:
                    return await weft.resume(run, record=job.record, stop=stop)
                except UnknownRun:
                    run = None  # it was cut off before its first event was on disk
            return await weft.run(goal_of(job.goal), record=note, stop=stop)
        except ModelError:
            if run is None:
                raise
            return weft.result(run)  # it is on record how it failed

    def runtime(self, model: str | None = None) -> Weft:
        """The runtime for goals that name this model, or none."""
        if model not in self._runtimes:
            settings = replace(self.settings, model=model) if model else self.settings
            self._runtimes[model] = Weft(self.workspace, settings, open_model=self._open(settings))
        return self._runtimes[model]

    async def warm(self, goals: int) -> None:
        """Make ready for so many goals that ask a model, so that no call waits after its turn has come."""
        if goals >= MANY and (cores := most()) > 1:
            self.callers = Callers(Opening(self.settings, self._capabilities), cores)
            await self.callers.warm()
        elif goals:
            await asyncio.to_thread(provider.load)

    @property
    def _capabilities(self) -> Path:
        return Places.of(self.workspace, os.environ).cache / "models.json"

    def _open(self, settings: Settings) -> Callable[[str], Model]:
        here = opener(settings, Capabilities(self._capabilities))
        last = settings.fallback[-1:]

        def open_model(name: str) -> Model:
            plain = here(name) if self.callers is None or is_local(name) else Distant(name, self.callers)
            # The last has nobody behind it: however long its provider is down, it is waited for.
            patience = settings.retry_patience if last and name not in last else math.inf
            shared: Model = Metered(self.traffic.around(plain, _OWNER.get(), patience), self.budget, _unheard)
            return self.answers.around(shared) if self.answers is not None else shared

        return open_model

    async def close(self) -> None:
        """Close journals and connections."""
        try:
            if self.callers is not None:
                await self.callers.close()
        finally:
            for weft in self._runtimes.values():
                await weft.close()


def goal_of(goal: BatchGoal) -> Goal:
    """The goal as a run takes it; its plan was checked with the file."""
    return Goal(goal.text, skills=goal.skills, plan=plan_of(goal))


def plan_of(goal: BatchGoal) -> Plan | None:
    """The plan that a goal brings, read as it was checked."""
    return Plan.from_dict(SHAPES["full"].widen(goal.plan)) if goal.plan else None


def _unheard(_: Event) -> None:
    """The run itself says what its budget has to say."""
