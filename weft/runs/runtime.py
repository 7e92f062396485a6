"""A goal, start to end: the one path that the command line, batches and programs take."""

from __future__ import annotations

import asyncio
import os
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from executor.history.run_history import RunHistory
from executor.stores.errors import StoreFailed, UnknownRun
from executor.tasks.artifacts import Artifacts
from executor.tasks.memo import Memo
from planner.events import Event, RunResumed, TaskReused
from skills.selection import detectors
from weft.models.budget import Budget
from weft.models.open import OpenModel, model_opener
from weft.models.roles import RoleModels
from weft.providers import litellm_model
from weft.providers.capabilities import Capabilities
from weft.runs import records
from weft.runs.goal import Goal, without_secrets
from weft.runs.pipeline import Pipeline, today
from weft.runs.rerun import plan_rerun
from weft.runs.run import Run
from weft.runs.run_id import new_run_id
from weft.runs.stop import Stop
from weft.settings import ollama
from weft.settings.default_model import choose, local_is_installed
from weft.settings.paths import Paths
from weft.settings.settings import Settings, resolve
from weft.workspace.blocking_model import BlockingModel
from weft.workspace.llm_detector import LlmDetector
from weft.workspace.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Mapping

    from executor.history.result import Result
    from executor.journal.journal import Journal
    from planner.events import Record
    from planner.plan.plan import Plan
    from weft.runs.pipeline import Preview
    from weft.runs.rerun import RerunPlan
    from weft.settings.default_model import Choice

_OVER = ("done", "clarification")


class Weft:
    """A runtime in a workspace: finds skills, plans, runs and answers, for as many goals as you like.

    `settings` are those of weft.toml: a mapping counts over files and the environment, a Settings is all that counts.
    `open_model` gives the model for a name; without it names are litellm's. `use` puts files in the place of skills.
    """

    def __init__(
        self,
        workspace: Path | str = ".",
        settings: Settings | Mapping[str, Any] | None = None,
        *,
        open_model: OpenModel | None = None,
        use: Mapping[str, Path] | None = None,
    ) -> None:
        self.paths = Paths.of(Path(workspace), os.environ)
        if not isinstance(settings, Settings):
            place = self.paths
            settings = resolve(settings or {}, os.environ, place.workspace, place.user_config).settings
        self.settings = settings
        self.workspace = Workspace(self.paths, self.settings, use)
        self._journal: Journal | None = None
        self._open = open_model or model_opener(self.settings, Capabilities(self.paths.cache / "models.json"))

    @property
    def journal(self) -> Journal:
        """The journal of this workspace, opened when it is first needed."""
        if self._journal is None:
            self._journal = records.opened(self.paths, self.settings)
        return self._journal

    async def run(self, goal: Goal | str, *, record: Record | None = None, stop: Stop | None = None) -> Result:
        """Reach the goal. Raises where it cannot even be begun: no model, a refused key, a plan file that is wrong."""
        return await self.new_run(goal, record).run(stop or Stop())

    def new_run(
        self, goal: Goal | str, record: Record | None = None, *, parent: str | None = None, date: str = ""
    ) -> Run:
        """A new run, ready to be carried out; on a day other than today, or as another's child, if you like."""
        wanted = without_secrets(Goal(goal) if isinstance(goal, str) else goal, os.environ)
        if self.asks(wanted):
            self._choose()
        self.workspace.check(wanted)
        run_id = new_run_id()
        log = self.journal.begin(run_id, records.capture(self.paths, run_id))
        opening = records.started(run_id, wanted, self.workspace, parent=parent, date=date)
        return Run(wanted, self.workspace, self._open, self.journal, log, opening, opening.date, watcher=record)

    async def resume(self, run: str, *, record: Record | None = None, stop: Stop | None = None) -> Result:
        """Take up a run that stopped, where it stood; one that is done is given as it is."""
        found = self.journal.store.find(run)
        run_id = found.run_id
        if found.status in _OVER:
            return self.result(run_id)
        await self._claim(run_id)
        try:
            resumed = self._taken_up(run_id, record)
        except BaseException:
            await self._let_go(run_id)
            raise
        if resumed is None:
            await self._let_go(run_id)
            return self.result(run_id)
        return await resumed.run(stop or Stop())

    async def _claim(self, run_id: str) -> None:
        """Claim a run; where whoever waits is cancelled meanwhile, it is let go once it is had."""
        claiming = asyncio.ensure_future(asyncio.to_thread(self.journal.claim, run_id))
        try:
            await asyncio.shield(claiming)
        except asyncio.CancelledError:
            (refused,) = await asyncio.gather(claiming, return_exceptions=True)
            if refused is None:
                await self._let_go(run_id)
            raise

    def _taken_up(self, run_id: str, record: Record | None) -> Run | None:
        """The claimed run, ready to continue; None if another process finished it first."""
        summary = self.journal.store.find(run_id)  # what was seen before the claim may be another's past by now
        if summary.status in _OVER:
            return None
        history = self._past(run_id)
        if history.started is None:
            raise UnknownRun(f"run {run_id} was never begun", hint="run its goal anew")
        history.reopen()
        return Run(
            goal=records.goal_of(history),
            workspace=self.workspace,
            open_model=self._open,
            journal=self.journal,
            log=self.journal.resume(summary, records.capture(self.paths, run_id), history.last_seq),
            opening=RunResumed(run_id, records.plain(self.settings)),
            date=history.started.date,
            history=history,
            reused=history.unrecorded_reuse,
            watcher=record,
        )

    async def _let_go(self, run_id: str) -> None:
        """Release a run that was claimed and not gone on with; it is free when this returns."""
        self.journal.release(run_id)
        with suppress(StoreFailed):  # closing the journal tries once more
            await self.journal.settle()

    def result(self, run: str) -> Result:
        """How a stored run stands."""
        return self._past(self.journal.store.find(run).run_id).ledger.result(self.journal.url)

    def divided(self, run: str, begin: Collection[str], inputs: Mapping[str, str]) -> RerunPlan:
        """What a rerun of a stored run would reuse, and what it would execute."""
        return plan_rerun(self._past(self.journal.store.find(run).run_id), begin, inputs)

    async def rerun(
        self, run: str, division: RerunPlan, *, record: Record | None = None, stop: Stop | None = None
    ) -> Result:
        """Run a part of a stored run anew, as a new run that is linked to it."""
        parent = self.journal.store.find(run).run_id
        history = self._past(parent)
        goal = replace(records.goal_of(history), plan=division.plan)
        again = self.new_run(goal, record, parent=parent)
        again.give(tuple(TaskReused(task, *given) for task, given in division.reused.items()))
        return await again.run(stop or Stop())

    async def plan(self, goal: Goal | str, *, record: Record | None = None) -> Plan:
        """The plan for a goal, without running it."""
        return await self._unrecorded(goal, record or _ignore).plan()

    async def preview(self, goal: Goal | str) -> Preview:
        """What a run would begin with: the skills selected, the prompt, an estimate; no call is made."""
        return await self._unrecorded(goal, _ignore).preview()

    @asynccontextmanager
    async def llm_detector(self, record: Record | None = None) -> AsyncIterator[LlmDetector]:
        """The detector `llm` without a run, for use in worker threads while the block lasts."""
        self._choose()
        models = self._role_models(Memo(record or _ignore))
        with BlockingModel(models.for_role("detector")) as line:
            yield LlmDetector.of(self.workspace, models, line)

    @asynccontextmanager
    async def events(self, goal: Goal | str) -> AsyncIterator[AsyncIterator[Event]]:
        """Run a goal and hand out its events as they happen; leaving the block early stops the run."""
        queue: asyncio.Queue[Event | None] = asyncio.Queue()
        work = asyncio.ensure_future(self.run(goal, record=queue.put_nowait))
        work.add_done_callback(lambda _: queue.put_nowait(None))

        async def each() -> AsyncIterator[Event]:
            while (event := await queue.get()) is not None:
                yield event
            await work

        try:
            yield each()
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)

    @cached_property
    def choice(self) -> Choice:
        """The model that works, and why it does: the one that is set, else the first that is found."""
        return choose(os.environ, self.settings.model, lambda: ollama.probe(os.environ), local_is_installed())

    @property
    def models(self) -> tuple[str, ...]:
        """The names of all models that a run may ask."""
        rest = [self.choice.model] if self._needs_choice else []
        named = (name for name in self._roles if name)
        return tuple(dict.fromkeys((*named, *self.settings.fallback, *rest)))

    @property
    def _roles(self) -> tuple[str | None, ...]:
        """The models that roles have of their own."""
        settings = self.settings
        asking = (settings.detector_model,) if settings.detector == detectors.ASKING else ()
        return settings.decomposer, settings.task, settings.synthesis, *asking

    @property
    def _needs_choice(self) -> bool:
        """Whether a role has no model of its own, so that there must be one for the run."""
        return self.settings.model is not None or not all(self._roles)

    def asks(self, goal: Goal) -> bool:
        """Whether any model is asked for the goal: a plan of tools whose one final result is the answer needs none."""
        return goal.plan is None or goal.plan.needs_model or self.settings.detector == detectors.ASKING

    def _choose(self) -> None:
        """Settle on a model where none is set, so that the record says which it was."""
        if self.settings.model is None and self._needs_choice:
            self.settings = replace(self.settings, model=self.choice.model)
            self.workspace.settings = self.settings

    async def close(self) -> None:
        """Close the journal and connections to providers."""
        if self._journal is not None:
            await asyncio.to_thread(self._journal.close)
            self._journal = None
        await litellm_model.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _past(self, run_id: str) -> RunHistory:
        return RunHistory.of(self.journal.store.rows(run_id), records.capture(self.paths, run_id))

    def _unrecorded(self, goal: Goal | str, record: Record) -> Pipeline:
        wanted = Goal(goal) if isinstance(goal, str) else goal
        if self.asks(wanted):
            self._choose()
        memo = Memo(record)
        artifacts = Artifacts.of(self.paths.workspace, new_run_id())
        return Pipeline(wanted, self.workspace, self._role_models(memo), memo, artifacts, today())

    def _role_models(self, memo: Memo) -> RoleModels:
        return RoleModels(self.settings, memo, Budget(self.settings.max_cost, self.settings.max_tokens), self._open)


async def run_goal(
    goal: Goal | str,
    *,
    model: str | None = None,
    workspace: Path | str = ".",
    settings: Settings | Mapping[str, Any] | None = None,
    record: Record | None = None,
) -> Result:
    """Reach one goal, as `weft run` does, and give its result.

    `settings` are those of weft.toml, as a Settings or a mapping; files and the environment count below them.
    """
    if isinstance(settings, Settings):
        settings = settings if model is None else replace(settings, model=model)
    else:
        settings = {**(settings or {}), **({} if model is None else {"model": model})}
    async with Weft(workspace, settings) as weft:
        return await weft.run(goal, record=record)


def _ignore(event: Event) -> None:
    """For callers who want no events."""
