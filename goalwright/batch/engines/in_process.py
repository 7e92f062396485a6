"""The engine that runs goals in this process."""

from __future__ import annotations

import asyncio
import json
import math
import os
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from goalwright.batch.engine import settings_of
from goalwright.batch.limits.dedupe import ReplyCache
from goalwright.batch.limits.limited_model import CallLimits
from goalwright.batch.limits.rate_limiter import Rates
from goalwright.models.budget import Budget, BudgetedModel
from goalwright.models.call_process.pool import PoolModel, WorkerPool, default_workers
from goalwright.models.litellm import lifecycle
from goalwright.models.litellm.capabilities import Capabilities
from goalwright.models.litellm.prices import PriceList
from goalwright.models.metered import MeteredModel
from goalwright.models.model_check import find_problem
from goalwright.models.open import model_opener
from goalwright.runs.runtime import Goalwright
from goalwright.runs.stored.requests import approve_all
from goalwright.settings.default_model import is_local
from goalwright.settings.paths import Paths
from goalwright_executor.stores.errors import RunHeld, UnknownRun
from goalwright_planner.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from goalwright.batch.engine import Job, Pace
    from goalwright.batch.goals import BatchGoal
    from goalwright.batch.options import BatchOptions
    from goalwright.models.model_check import ModelProblem
    from goalwright.runs.stop import Stop
    from goalwright.settings.settings import Settings
    from goalwright_executor.history.result import Result
    from goalwright_planner.approvals import Approve
    from goalwright_planner.events import Event
    from goalwright_planner.model import Model

# With at least this many goals, calls are made in separate processes; fewer do not justify starting them.
MANY_GOALS = 50

# Seconds between two attempts to take over a run that another process is using, at first and at most.
_PAUSE, _LONGEST_PAUSE = 0.3, 5.0

_OWNER: ContextVar[str] = ContextVar("owner", default="")


@dataclass(slots=True)
class InProcess:
    """Runs goals in this process, which share a call queue, a budget and, with `replies`, identical calls.

    With many goals, `workers` make the calls in separate processes. `approve` answers requests for approval. `paths`
    are those of a bundle, if the goals come from another machine.
    """

    workspace: Path
    settings: Settings
    limits: CallLimits
    budget: Budget
    replies: ReplyCache | None = None
    workers: WorkerPool | None = None
    approve: Approve | None = None
    paths: Paths | None = None
    _runtimes: dict[str, Goalwright] = field(default_factory=dict)
    _calls: bool = False
    _say: Callable[[str], None] = lambda _: None

    @classmethod
    def of(cls, workspace: Path, settings: Settings, options: BatchOptions) -> Self:
        """Return an engine with the limits of the options."""
        limits = CallLimits(Rates(options.max_calls, options.rpm, options.tpm))
        prices, assumes = PriceList(settings.prices or {}), settings.allow_unknown_cost
        budget = Budget(options.max_cost, options.max_tokens, price_of=prices, assumes=assumes)
        approve = approve_all if options.approve_all else None
        return cls(workspace, settings, limits, budget, ReplyCache() if options.dedupe else None, approve=approve)

    def has_room(self, running: int) -> bool:
        """Whether a call slot would be idle without another goal."""
        return self.limits.demand.has_room(self.limits.limit, running)

    async def run(self, job: Job, stop: Stop) -> Result:
        """Run or resume one goal; waits while another process is using its run."""
        pause, reported = _PAUSE, False
        while True:
            try:
                return await self.attempt(job, stop)
            except RunHeld as held:  # by `goalwright resume`, or by a machine that was just lost
                if not reported:
                    self._say(f"goal {job.goal.id} waits: {held.message}")
                # If the other process ends the run, that is the result.
                job, reported = replace(job, begun=True, waited=True), True
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), pause)
                return job.interrupted
            pause = min(2 * pause, _LONGEST_PAUSE)

    async def attempt(self, job: Job, stop: Stop) -> Result:
        """Run or resume one goal; raises RunHeld if another process is using its run."""
        _OWNER.set(job.goal.id)
        with self.limits.demand.goal(job.goal.id):
            return await self._run(job, stop)

    async def _run(self, job: Job, stop: Stop) -> Result:
        goalwright, run = self.runtime(job.goal), job.run_id
        options: dict[str, Any] = {"record": job.record, "stop": stop, "approve": self.approve}
        try:
            if job.begun:
                with suppress(UnknownRun):  # its process died before its first event was recorded
                    if job.waited:
                        ended = await asyncio.to_thread(goalwright.result, run)
                        if ended.status in ("done", "partial", "failed"):
                            return ended
                    await asyncio.to_thread(goalwright.journal.store.find, run)
                    return await goalwright.resume(run, **options)
            return await goalwright.run(job.asked, run_id=run, **options)
        except ModelError as error:
            try:
                return await asyncio.to_thread(goalwright.result, run)  # its failure is recorded
            except UnknownRun:
                raise error from None

    def runtime(self, goal: BatchGoal | None = None) -> Goalwright:
        """Return the runtime for goals with the same model and settings as this one, or the default one."""
        own = settings_of(goal) if goal is not None else {}
        key = json.dumps(own, sort_keys=True, default=str)
        if key not in self._runtimes:
            settings = replace(self.settings, **own)
            runtime = Goalwright(self.workspace, settings, open_model=self._open(settings), paths=self.paths)
            runtime.workspace.skills.registry.share()
            if runtime.workspace.tools.has_mcp:
                runtime.workspace.tools.mcp.pool.hold()  # keep its servers running for the whole batch
            self._runtimes[key] = runtime
        return self._runtimes[key]

    def start(self, calling: int, models: Sequence[str]) -> None:
        """Start loading what `calling` goals that call these models need, in the background."""
        self._calls = calling > 0
        for name in models:  # their limits decide how many goals start
            self.limits.limiter(name)
        if calling >= MANY_GOALS and not all(map(is_local, models)) and (cores := default_workers()) > 1:
            self.workers = WorkerPool(self.settings, self._capabilities, cores)
            self.workers.start(min(calling, self.limits.rates.max_calls))
        if calling and (
            self.workers is None or self.budget.max_cost is not None
        ):  # prices are looked up in this process
            lifecycle.preload()

    def problems(self, names: Sequence[str]) -> list[ModelProblem]:
        """Return the reasons why these models cannot be called, as far as known without a call."""
        remote = [] if self.workers is None else [name for name in names if not is_local(name)]
        problems = [find_problem(name) for name in names if name not in remote]
        if remote and self.workers is not None:
            problems += self.workers.problems(remote)
        return [problem for problem in problems if problem is not None]

    async def warm(self, say: Callable[[str], None] | None = None, goals: Iterable[BatchGoal] = ()) -> None:
        """Wait until models can be called, and index the skills meanwhile."""
        self._say = say or self._say
        if not self._calls:
            return
        skills = self.runtime().workspace.skills
        loading = asyncio.to_thread(lifecycle.load) if self.workers is None else self.workers.warm()
        await asyncio.gather(asyncio.to_thread(skills.warm), loading)

    def pace(self) -> Pace:
        """Return the current state of the calls."""
        return self.limits.pace()

    @property
    def commit_seconds(self) -> float:
        """The duration of the last commit to the journal; it grows while one is in progress."""
        return max((goalwright.journal.commit_seconds for goalwright in self._runtimes.values()), default=0.0)

    @property
    def _capabilities(self) -> Path:
        return Paths.of(self.workspace, os.environ).cache / "models.json"

    def _open(self, settings: Settings) -> Callable[[str], Model]:
        opener = model_opener(settings, Capabilities(self._capabilities))
        last = settings.fallback[-1:]

        def open_model(name: str) -> Model:
            plain = opener(name) if self.workers is None or is_local(name) else PoolModel(name, self.workers)
            # The last model has no fallback, so wait as long as its provider is down.
            patience = settings.retry_patience if last and name not in last else math.inf
            metered = MeteredModel(plain, PriceList(settings.prices or {}))
            shared: Model = BudgetedModel(self.limits.around(metered, _OWNER.get(), patience), self.budget, _ignore)
            return self.replies.around(shared) if self.replies is not None else shared

        return open_model

    @property
    def is_stuck(self) -> bool:
        """False: anything that could not be closed here ends with the process."""
        return False

    def abandon(self) -> None:
        """Stop what was started for a batch that does not run after all."""
        if self.workers is not None:
            self.workers.abandon()

    async def close(self) -> None:
        """Close journals and connections."""
        try:
            if self.workers is not None:
                await self.workers.close()
        finally:
            for goalwright in self._runtimes.values():
                await goalwright.close()


def _ignore(_: Event) -> None:
    """The run records what its own budget reports."""
