"""A goal, start to end: the one path that the command line, batches and programs take."""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from executor.ledger import Ledger, Result
from planner.errors import BudgetSpent, ModelError, PlanError
from planner.events import Event, RunFinished, Warned
from weft import ollama
from weft.choose import LOCAL_NOTICE, choose, local_is_installed
from weft.goal import Goal
from weft.models import provider
from weft.models.budget import Budget
from weft.models.capabilities import Capabilities
from weft.models.cast import Cast, Open, is_local, opener
from weft.places import Places
from weft.pursuit import Pursuit
from weft.runid import new_run_id
from weft.settings import Settings, resolve
from weft.stop import Stop
from weft.surroundings import Surroundings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from planner.events import Record
    from planner.plan import Plan
    from weft.choose import Choice
    from weft.pursuit import Preview


class Weft:
    """A runtime in a workspace: finds skills, plans, runs and answers, for as many goals as you like.

    `open_model` gives the model for a name; without it names are litellm's.
    """

    def __init__(
        self, workspace: Path | str = ".", settings: Settings | None = None, *, open_model: Open | None = None
    ) -> None:
        self.places = Places.of(Path(workspace), os.environ)
        self.settings = settings or resolve({}, os.environ, self.places.workspace, self.places.user_config).settings
        self.surroundings = Surroundings(self.places, self.settings)
        self._open = open_model or opener(self.settings, Capabilities(self.places.cache / "models.json"))

    async def run(self, goal: Goal | str, *, record: Record | None = None, stop: Stop | None = None) -> Result:
        """Reach the goal. Raises where it cannot even be begun: no model, a refused key, a plan file that is wrong."""
        ledger = Ledger()

        def note(event: Event) -> None:
            ledger.note(event)
            if record is not None:
                record(event)

        pursuit = self._pursuit(goal, note)
        if any(is_local(name) for name in self.models):
            note(Warned(LOCAL_NOTICE))
        began = time.monotonic()
        try:
            end = await self._until_stopped(pursuit, stop or Stop())
        except Exception as error:
            note(RunFinished("failed", error=str(error), seconds=time.monotonic() - began))
            raise
        note(replace(end, seconds=time.monotonic() - began))
        return ledger.result()

    async def plan(self, goal: Goal | str, *, record: Record | None = None) -> Plan:
        """The plan for a goal, without running it."""
        return await self._pursuit(goal, record or _ignore).plan()

    async def preview(self, goal: Goal | str) -> Preview:
        """What a run would begin with: the skills selected, the prompt, an estimate; no call is made."""
        return await self._pursuit(goal, _ignore).preview()

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

    async def close(self) -> None:
        """Close connections to providers."""
        await provider.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @cached_property
    def choice(self) -> Choice:
        """The model that works, and why it does: the one that is set, else the first that is found."""
        return choose(os.environ, self.settings.model, lambda: ollama.probe(os.environ), local_is_installed())

    @property
    def models(self) -> tuple[str, ...]:
        """The names of all models that a run may ask."""
        roles = (self.settings.decomposer, self.settings.task, self.settings.synthesis)
        return tuple(dict.fromkeys((*(name for name in roles if name), *self.settings.fallback, self.choice.model)))

    def _pursuit(self, goal: Goal | str, record: Record) -> Pursuit:
        wanted = Goal(goal) if isinstance(goal, str) else goal
        budget = Budget(self.settings.max_cost, self.settings.max_tokens)
        settings = replace(self.settings, model=self.choice.model)
        cast = Cast(settings, record, budget, self._open)
        return Pursuit(new_run_id(), wanted, self.surroundings, cast, record)

    async def _until_stopped(self, pursuit: Pursuit, stop: Stop) -> RunFinished:
        work = asyncio.ensure_future(pursuit.walk())
        stopped = asyncio.ensure_future(stop.wait())
        try:
            await asyncio.wait({work, stopped}, timeout=self.settings.timeout, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopped.cancel()
            if not work.done():
                work.cancel()
                await asyncio.gather(work, return_exceptions=True)
        if work.cancelled():
            seconds = self.settings.timeout
            late = RunFinished("stopped", error=f"stopped after --timeout {seconds:g} s" if seconds else None)
            return RunFinished("interrupted", error="interrupted") if stop.is_set() else late
        return _ended(work)


def _ended(work: asyncio.Future[RunFinished]) -> RunFinished:
    try:
        return work.result()
    except BudgetSpent as spent:
        return RunFinished("stopped", error=f"{spent.message}; {spent.hint}")
    except PlanError as error:
        return RunFinished("failed", error=error.message)
    except ModelError as error:
        if error.exit_status == 4:
            raise
        return RunFinished("failed", error=str(error))


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
    if not isinstance(settings, Settings):
        places = Places.of(Path(workspace), os.environ)
        settings = resolve(settings or {}, os.environ, places.workspace, places.user_config).settings
    if model is not None:
        settings = replace(settings, model=model)
    async with Weft(workspace, settings) as weft:
        return await weft.run(goal, record=record)


def _ignore(event: Event) -> None:
    """For callers who want no events."""
