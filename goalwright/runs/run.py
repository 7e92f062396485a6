"""One run in this process: claimed, recorded from its first event to its last, and stopped on request."""

from __future__ import annotations

import asyncio
import time
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

import msgspec

from goalwright.models.budget import ASSUMED_PRICE, Budget, check_prices
from goalwright.models.choice import ModelChoice
from goalwright.models.litellm.prices import PriceList
from goalwright.models.roles import RoleModels
from goalwright.runs.callbacks import Callbacks, Observer
from goalwright.runs.conversations.remarks import Remarks
from goalwright.runs.conversations.stored_turns import output_of
from goalwright.runs.pipeline import Pipeline
from goalwright.runs.run_context import RecordedRun, RunContext
from goalwright.runs.steps.replanning import not_changed
from goalwright.runs.stop import Stop
from goalwright.runs.stored.claim import release
from goalwright.runs.stored.kept_results import JournalResults
from goalwright.runs.stored.records import capture
from goalwright.runs.stored.restoring import is_shown, kept_contents, kept_image, restore_files, reused_files
from goalwright.settings.default_model import LOCAL_NOTICE, is_local
from goalwright_executor.approvals.approvals import Approvals
from goalwright_executor.approvals.policy import ApprovalPolicy
from goalwright_executor.files.images import RunImages
from goalwright_executor.history.ledger import Ledger
from goalwright_executor.history.run_history import RunHistory, reused_by
from goalwright_executor.results.artifacts import Artifacts
from goalwright_executor.results.file_contents import FileContents
from goalwright_executor.results.memo import Memo
from goalwright_executor.stores.errors import StoreFailed
from goalwright_planner.errors import BudgetSpent, ModelError, PlanError
from goalwright_planner.events import (
    Event,
    PlanChanged,
    PlanMade,
    RunFinished,
    RunResumed,
    RunStarted,
    Warned,
)
from goalwright_planner.events.run import STOPPED_BY_USER
from goalwright_skills.builtin import toolset
from goalwright_skills.errors import GoalwrightError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator

    from goalwright.models.open import OpenModel
    from goalwright.runs.goal import Goal
    from goalwright.runs.plans.plan_edit import PersonEvent
    from goalwright.settings.settings import Settings
    from goalwright.telemetry.otlp import SpanExporter
    from goalwright.workspace.workspace import Workspace
    from goalwright_executor.history.result import Result
    from goalwright_executor.journal.journal import Journal
    from goalwright_executor.journal.log import Log
    from goalwright_executor.results.memo import FindResult
    from goalwright_executor.stores.lease import StopRequest


# Runs with these statuses continue later; their spans are sent then.
_CONTINUES = ("waiting", "interrupted")


@dataclass(slots=True)
class Run:
    """A new run, or a stored one that continues; `history` is its record, whose first event is a `RunStarted`.

    `ledger` is the state before the `events` of a person, which are recorded when a run is resumed. `tool_set` replaces
    the built-in tools of the settings. `remarks` takes what a person says while the run goes on.
    """

    goal: Goal
    workspace: Workspace
    settings: Settings
    open_model: OpenModel
    journal: Journal
    log: Log
    opening: RunStarted | RunResumed
    history: RunHistory
    callbacks: Callbacks = field(default_factory=Callbacks)
    ledger: Ledger = field(default_factory=Ledger)
    events: tuple[PersonEvent, ...] = ()
    spans: SpanExporter | None = None
    tool_set: tuple[str, ...] | None = None
    remarks: Remarks = field(init=False, default_factory=Remarks)
    _observer: Observer = field(init=False)

    def __post_init__(self) -> None:
        self._observer = Observer(self.callbacks.record, warn=lambda text: self.record(Warned(text)))

    def record(self, event: Event) -> None:
        """Count an event, write it to the journal and pass it to the observer."""
        self.ledger.note(event)
        self.history.replans.note(event)
        self.log.record(event)
        if is_shown(event):
            self._observer.notify(event)
        if isinstance(event, PlanMade | PlanChanged):
            self._record_all(reused_by(event, self.history.unrecorded_reuse))

    async def run(self, stop: Stop) -> Result:
        """Run to the end; raises if the run cannot start: no model, a refused key, a journal that cannot be written."""
        await self._check_prices()
        self._observer.show(self.history)
        self._record_beginning()
        await self._claim()
        began = time.monotonic()
        try:
            await self._restore_files()
            async with self._mcp_servers():
                with self._listening(stop) as own_stop:
                    end = await self._run_until_stopped(
                        Pipeline(self._context(), self.callbacks.review), stop, own_stop
                    )
        except Exception as error:
            code = error.code if isinstance(error, GoalwrightError) else "INTERNAL_ERROR"
            await self._finish(self._kept_done(RunFinished("failed", error=str(error), code=code)), began)
            raise
        except asyncio.CancelledError:
            await self._finish(RunFinished("interrupted", error="interrupted"), began)
            raise
        await self._finish(self._kept_done(end), began)
        result = self.ledger.result(self.journal.url)
        return replace(result, data=self.goal.data.made(result.data)) if self.goal.data else result

    async def _check_prices(self) -> None:
        """Raise if the run has a limit on cost and may call a model of unknown price; nothing is recorded then."""
        choice, limit = ModelChoice(self.settings), self.settings.max_cost
        if limit is None or not (self.goal.data or choice.needed_for(self.history.plan or self.goal.plan)):
            return
        try:
            await asyncio.to_thread(check_prices, choice.names, self.settings, limit)
        except GoalwrightError:
            if isinstance(self.opening, RunResumed):
                await release(self.journal, self.log.run_id)
            raise

    def _record_beginning(self) -> None:
        """Record the opening event, what a person gave, warnings, and reused outputs."""
        self._record_all((self.opening, *self.events))
        if is_local(self.settings.model or ""):
            self.record(Warned(LOCAL_NOTICE))
        if isinstance(self.opening, RunStarted) and self.opening.recipe is not None:
            self._record_all(map(Warned, self.opening.recipe.warnings))
        if (plan := self.history.plan) is not None:
            self._record_all(output for output in self.history.unrecorded_reuse if output.task in plan)
        started = self.history.started
        offered = toolset.recorded(started.settings) if started is not None else ()
        if missing := toolset.missing(offered, self.settings.tool_set):
            self.record(Warned(f"the run began with {', '.join(missing)}, which your settings do not allow now"))

    def _record_all(self, events: Iterable[Event]) -> None:
        for event in events:
            self.record(event)

    async def _claim(self) -> None:
        """Claim a new run, and wait until the journal has its beginning, before anything is spent."""
        if isinstance(self.opening, RunStarted):  # a resumed run was claimed before its record was read
            self.journal.take(self.log.run_id)
        try:
            await self.log.settle()
        except asyncio.CancelledError:
            self.journal.release(self.log.run_id)
            raise

    def _kept_done(self, end: RunFinished) -> RunFinished:
        """Return the end of a run; a run that was done stays done if a change of its plan failed or was stopped."""
        before, asked = self.history.ledger.finished, self.history.replans.asked
        if asked is None or before is None or before.status != "done" or end.status not in ("failed", "stopped"):
            return end
        return not_changed(end.error or "", before)

    async def _finish(self, end: RunFinished, began: float) -> None:
        self.record(msgspec.structs.replace(end, seconds=time.monotonic() - began))
        self.journal.release(self.log.run_id)
        try:
            await self.log.settle()
        except StoreFailed as error:
            self._observer.notify(Warned(f"the end of the run could not be recorded: {error.message}"))
            return
        if self.spans is not None and end.status not in _CONTINUES:
            fault = await self.spans.send(lambda: self.journal.store.rows(self.log.run_id))
            if fault is not None:
                self._observer.notify(Warned(fault))

    @property
    def _contents(self) -> FileContents:
        return FileContents(Artifacts.of(self.workspace.paths.workspace, self.log.run_id), self.log.capture)

    async def _restore_files(self) -> None:
        """Restore missing files of the run's folder, and copy the files of reused tasks."""
        started, contents, store = self.history.started, self._contents, self.journal.store
        reused = started.reused if started is not None else ()
        files = reused_files(reused)
        parent = started.parent if started is not None and files.files else None
        files.files |= (
            self.history.finished.files.files
        )  # files that tasks of this run wrote replace those of the parent
        kept = [partial(kept_contents, store, self.log.run_id, self.log.capture)]
        if parent is not None:
            await asyncio.to_thread(contents.copy, files.listed(), parent)
            kept.append(partial(kept_contents, store, parent, capture(self.workspace.paths, parent)))
        await restore_files(files, contents, lambda: chain.from_iterable(read() for read in kept), self.record)
        if isinstance(self.opening, RunStarted):  # from here on the run does not need its parent
            for output in reused:
                envelope = {"data": {"artifacts": list(output.artifacts)}}
                self._record_all(await asyncio.to_thread(contents.taken, output.task, envelope))

    def _context(self) -> RunContext:
        settings, contents, history = self.settings, self._contents, self.history
        artifacts = contents.artifacts
        kept = partial(kept_image, self.journal.store, self.log.run_id)
        images = RunImages(self.record, self.log.capture, artifacts.folder, artifacts.workspace, kept)
        memo = Memo(
            self.record, self.log.capture, self.log.settle, history.finished, contents, images, self._approvals()
        )
        budget = self._budget()
        recorded = RecordedRun.resumed(history)
        return RunContext(
            self.goal,
            self.workspace,
            settings,
            RoleModels(settings, memo, budget, self.open_model),
            memo,
            artifacts,
            history.started.date if history.started is not None else "",
            budget,
            self._find_result(),
            recorded if self.tool_set is None else replace(recorded, tool_set=self.tool_set),
            read_output=partial(output_of, self.journal.store, self.workspace.paths),
            remarks=self.remarks,
        )

    def _budget(self) -> Budget:
        settings, usage, cost = self.settings, self.ledger.usage, self.ledger.cost
        spent = usage.tokens * ASSUMED_PRICE if cost is None else cost
        prices, assumes = PriceList(settings.prices or {}), settings.allow_unknown_cost
        return Budget(settings.max_cost, settings.max_tokens, spent, usage, prices, assumes)

    def _find_result(self) -> FindResult | None:
        days = self.settings.cache
        return JournalResults(self.journal.store, self.workspace.paths, self.log.run_id, days).find if days else None

    def _approvals(self) -> Approvals:
        settings = self.settings
        return Approvals(
            self.record,
            self.log.settle,
            self.log.capture,
            policy=ApprovalPolicy(settings.approve, settings.approvals, settings.workspace_writes == "allow"),
            known=self.history.finished.approvals,
            approve=self.callbacks.approve,
            remind=self._observer.notify,
            cwd=str(self.workspace.paths.workspace),
        )

    @asynccontextmanager
    async def _mcp_servers(self) -> AsyncIterator[None]:
        """Keep the MCP servers that the run starts until its end."""
        tools = self.workspace.tools
        if not tools.has_mcp:
            yield
            return
        held = ExitStack()
        held.enter_context(tools.mcp.held())
        try:
            yield
        finally:
            await asyncio.to_thread(held.close)  # ending a server takes a while

    @contextmanager
    def _listening(self, stop: Stop) -> Iterator[Stop]:
        """Yield a stop that another process can set through the journal; `stop` may be shared by a batch."""
        own_stop, loop = Stop(), asyncio.get_running_loop()

        def stop_requested(request: StopRequest) -> None:
            with suppress(RuntimeError):  # the loop is closed: the run has ended
                loop.call_soon_threadsafe(partial((own_stop if request == "stop" else stop).set, by_user=True))

        self.journal.listen(self.log.run_id, stop_requested)
        try:
            yield own_stop
        finally:
            self.journal.listen(self.log.run_id, None)

    async def _run_until_stopped(self, pipeline: Pipeline, *stops: Stop) -> RunFinished:
        work = asyncio.ensure_future(pipeline.run())
        waits = [asyncio.ensure_future(stop.wait()) for stop in stops]
        limit = self.settings.timeout
        try:
            await asyncio.wait({work, *waits}, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
            if not work.done():
                work.cancel()
                await asyncio.gather(work, return_exceptions=True)
        if not work.cancelled():
            return _end_of(work)
        if any(stop.is_set() for stop in stops):
            code = STOPPED_BY_USER if any(stop.by_user for stop in stops) else None
            return RunFinished("interrupted", error="interrupted", code=code)
        error = f"stopped after {limit:g} s, the limit on time (timeout)" if limit else None
        return RunFinished("stopped", error=error, code="TIMEOUT", limit="timeout")


def _end_of(work: asyncio.Future[RunFinished]) -> RunFinished:
    """Return how a pipeline ended; raises if a model cannot be called at all."""
    try:
        return work.result()
    except BudgetSpent as spent:
        needed = spent.cost if spent.limit == "max_cost" else float(spent.tokens)
        error = f"{spent.message}; {spent.hint}"
        return RunFinished("stopped", error=error, code=spent.code, limit=spent.limit or None, needed=needed)
    except PlanError as error:
        return RunFinished("failed", error=error.message, code=error.code)
    except ModelError as error:
        if error.exit_status == 4:
            raise
        return RunFinished("failed", error=str(error), code=error.code)
