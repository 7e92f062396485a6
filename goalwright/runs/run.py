"""One run in this process, from its first event to its last: recorded, claimed, and stopped when asked."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
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
from goalwright.runs.conversations.remarks import Remarks
from goalwright.runs.conversations.stored_turns import output_of
from goalwright.runs.pipeline import Pipeline
from goalwright.runs.run_context import RecordedRun, RunContext
from goalwright.runs.steps.replanning import not_changed
from goalwright.runs.stop import Stop
from goalwright.runs.stored.claim import release
from goalwright.runs.stored.kept_images import kept_image
from goalwright.runs.stored.kept_results import JournalResults
from goalwright.runs.stored.records import capture
from goalwright.runs.stored.restoring import is_shown, kept_contents, restore_files, reused_files
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
    TaskReused,
    Warned,
    type_of,
)
from goalwright_planner.events.run import STOPPED_BY_USER
from goalwright_skills.builtin import toolset
from goalwright_skills.errors import GoalwrightError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator

    from goalwright.models.open import OpenModel
    from goalwright.runs.goal import Goal
    from goalwright.runs.plans.plan_edit import PersonEvent
    from goalwright.runs.steps.reviewing import Review
    from goalwright.settings.settings import Settings
    from goalwright.telemetry.exporter import SpanExporter
    from goalwright.workspace.workspace import Workspace
    from goalwright_executor.history.result import Result
    from goalwright_executor.journal.journal import Journal
    from goalwright_executor.journal.log import Log
    from goalwright_executor.results.memo import FindResult
    from goalwright_executor.stores.lease import StopRequest
    from goalwright_planner.approvals import Approve
    from goalwright_planner.events import Record


# A run that ended so continues later, and is sent as spans then.
_CONTINUES = ("waiting", "interrupted")


@dataclass(slots=True)
class Run:
    """One run: new, or continuing what `history` has on record, which begins with its first event.

    `ledger` is how the run stands. `events` from a person are recorded when it is resumed: answers, and how they change
    the plan. `approve` asks a person who is there, and `review` shows them a plan before any of it runs. `tool_set`
    replaces the built-in tools of the settings; `remarks` are what a person says while it goes on.
    """

    goal: Goal
    workspace: Workspace
    settings: Settings
    open_model: OpenModel
    journal: Journal
    log: Log
    opening: RunStarted | RunResumed
    history: RunHistory
    ledger: Ledger = field(default_factory=Ledger)
    events: tuple[PersonEvent, ...] = ()
    observer: Record | None = None
    approve: Approve | None = None
    review: Review | None = None
    spans: SpanExporter | None = None
    tool_set: tuple[str, ...] | None = None
    remarks: Remarks = field(default_factory=Remarks)
    _observer_failed: bool = False

    def record(self, event: Event) -> None:
        """Count an event, write it to the journal and pass it on."""
        self.ledger.note(event)
        self.history.replans.note(event)
        self.log.record(event)
        if is_shown(event):
            self._tell(event)
        if isinstance(event, PlanMade | PlanChanged):
            self._record_reused(reused_by(event, self.history.unrecorded_reuse))

    def _tell(self, event: Event) -> None:
        """Pass an event on; what hears it is the caller's own function, and its error does not end the run."""
        if self.observer is None:
            return
        try:
            heard: object = self.observer(event)
        except Exception as error:  # noqa: BLE001 - whatever it raises, the run continues
            what = f"raised {type(error).__name__}: {error} when it was given {type_of(type(event))}"
            self._observer_fails(f"{what}; the run continues")
            return
        if isinstance(heard, Coroutine):
            heard.close()
            self._observer_fails("is an async function, which no event reaches; pass one that is not")

    def _observer_fails(self, what: str) -> None:
        """Warn, once, that events are not heard."""
        if not self._observer_failed:
            self._observer_failed = True
            self.record(Warned(f"`record` {what}"))

    async def run(self, stop: Stop) -> Result:
        """Run to the end. Raises if the run cannot start: no model, a refused key, a journal that cannot be written."""
        await self._check_prices()
        self._show_history()
        self.record(self.opening)
        for event in self.events:
            self.record(event)
        if is_local(self.settings.model or ""):
            self.record(Warned(LOCAL_NOTICE))
        if isinstance(self.opening, RunStarted) and self.opening.recipe is not None:
            for warning in self.opening.recipe.warnings:
                self.record(Warned(warning))
        if self.history.plan is not None:
            self._record_reused(output for output in self.history.unrecorded_reuse if output.task in self.history.plan)
        self._warn_of_missing_tools()
        if isinstance(self.opening, RunStarted):  # a resumed run was claimed before its record was read
            self.journal.take(self.log.run_id)
        try:
            await self.log.settle()  # the journal proves that it can be written before anything is spent
        except asyncio.CancelledError:
            self.journal.release(self.log.run_id)
            raise
        began = time.monotonic()
        try:
            await self._restore_files()
            async with self._held_servers():
                with self._stopped_by_others(stop) as own_stop:
                    end = await self._run_until_stopped(Pipeline(self._context(), self.review), stop, own_stop)
        except Exception as error:
            code = error.code if isinstance(error, GoalwrightError) else "INTERNAL_ERROR"
            end = self._as_it_was(RunFinished("failed", error=str(error), code=code))
            await self._finish(msgspec.structs.replace(end, seconds=time.monotonic() - began))
            raise
        except asyncio.CancelledError:
            await self._finish(RunFinished("interrupted", error="interrupted", seconds=time.monotonic() - began))
            raise
        await self._finish(msgspec.structs.replace(self._as_it_was(end), seconds=time.monotonic() - began))
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

    def _warn_of_missing_tools(self) -> None:
        """Say which tools of a resumed run the user does not allow now."""
        begun = self.history.started
        offered = toolset.recorded(begun.settings) if begun is not None else ()
        if missing := toolset.missing(offered, self.settings.tool_set):
            names = ", ".join(missing)
            self.record(
                Warned(f"the run began with {names}, which you do not allow now; --tools or --allow-web allows it")
            )

    def _record_reused(self, outputs: Iterable[TaskReused]) -> None:
        for output in outputs:
            self.record(output)

    def _as_it_was(self, end: RunFinished) -> RunFinished:
        """How a run ends: a run that was done stays done if it failed or was stopped before its plan was changed."""
        before, asked = self.history.ledger.finished, self.history.replans.asked
        if asked is None or before is None or before.status != "done" or end.status not in ("failed", "stopped"):
            return end
        return not_changed(end.error or "", before)

    async def _finish(self, end: RunFinished) -> None:
        self.record(end)
        self.journal.release(self.log.run_id)
        try:
            await self.log.settle()
        except StoreFailed as error:
            self._tell(Warned(f"the end of the run could not be recorded: {error.message}"))
            return
        if self.spans is not None and end.status not in _CONTINUES:
            fault = await self.spans.send(lambda: self.journal.store.rows(self.log.run_id))
            if fault is not None:
                self._tell(Warned(fault))

    def _show_history(self) -> None:
        """Tell the observer of a resumed run what was done before."""
        if self.observer is None:
            return
        early, plan = self.history.ledger.early, self.history.plan
        if early:
            self._tell(PlanChanged("stream", None, tuple(early.values())))
        if plan is not None and self.history.plans.last is not None:
            self._tell(PlanMade(plan, self.history.plans.last.attempts))
        for output in self.history.recorded_reuse:
            self._tell(output)
        for finished in self.history.tasks.values():
            if finished.status == "done" and (plan is not None or finished.task in early):
                self._tell(finished)

    @property
    def _contents(self) -> FileContents:
        return FileContents(Artifacts.of(self.workspace.paths.workspace, self.log.run_id), self.log.capture)

    async def _restore_files(self) -> None:
        """Bring back what the run's folder lacks, and take over the files of tasks that are reused."""
        begun, contents, store = self.history.started, self._contents, self.journal.store
        reused = begun.reused if begun is not None else ()
        files = reused_files(reused)
        parent = begun.parent if begun is not None and files.files else None
        files.files |= self.history.finished.files.files  # what tasks of this run have written over them counts
        kept = [partial(kept_contents, store, self.log.run_id, self.log.capture)]
        if parent is not None:
            await asyncio.to_thread(contents.copy, files.listed(), parent)
            kept.append(partial(kept_contents, store, parent, capture(self.workspace.paths, parent)))
        await restore_files(files, contents, lambda: chain.from_iterable(read() for read in kept), self.record)
        if isinstance(self.opening, RunStarted):  # so that the run needs its parent no more
            for one in reused:
                left = {"data": {"artifacts": list(one.artifacts)}}
                for content in await asyncio.to_thread(contents.taken, one.task, left):
                    self.record(content)

    def _context(self) -> RunContext:
        settings, ledger, contents = self.settings, self.ledger, self._contents
        finished, approvals = self.history.finished, self._approvals()
        kept = partial(kept_image, self.journal.store, self.log.run_id)
        artifacts = contents.artifacts
        images = RunImages(self.record, self.log.capture, artifacts.folder, artifacts.workspace, kept)
        memo = Memo(self.record, self.log.capture, self.log.settle, finished, contents, images, approvals)
        spent = ledger.usage.tokens * ASSUMED_PRICE if ledger.cost is None else ledger.cost
        prices, assumes = PriceList(settings.prices or {}), settings.allow_unknown_cost
        budget = Budget(settings.max_cost, settings.max_tokens, spent, ledger.usage, prices, assumes)
        models = RoleModels(settings, memo, budget, self.open_model)
        started, recorded = self.history.started, RecordedRun.resumed(self.history)
        return RunContext(
            self.goal,
            self.workspace,
            settings,
            models,
            memo,
            contents.artifacts,
            started.date if started is not None else "",
            budget,
            self._kept(),
            recorded if self.tool_set is None else replace(recorded, tool_set=self.tool_set),
            read_output=partial(output_of, self.journal.store, self.workspace.paths),
            remarks=self.remarks,
        )

    def _kept(self) -> FindResult | None:
        days = self.settings.cache
        return JournalResults(self.journal.store, self.workspace.paths, self.log.run_id, days).find if days else None

    def _approvals(self) -> Approvals:
        return Approvals(
            self.record,
            self.log.settle,
            self.log.capture,
            policy=ApprovalPolicy(
                self.settings.approve, self.settings.approvals, self.settings.workspace_writes == "allow"
            ),
            known=self.history.finished.approvals,
            approve=self.approve,
            remind=self._tell,
            cwd=str(self.workspace.paths.workspace),
        )

    @asynccontextmanager
    async def _held_servers(self) -> AsyncIterator[None]:
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
    def _stopped_by_others(self, stop: Stop) -> Iterator[Stop]:
        """A stop that another process can set through the journal; `stop` may be that of a whole batch."""
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
        if work.cancelled():
            late = RunFinished(
                "stopped",
                error=f"stopped after {limit:g} s (timeout)" if limit else None,
                code="TIMEOUT",
                limit="timeout",
            )
            code = STOPPED_BY_USER if any(stop.by_user for stop in stops) else None
            stopped = RunFinished("interrupted", error="interrupted", code=code)
            return stopped if any(stop.is_set() for stop in stops) else late
        return _end_of(work)


def _end_of(work: asyncio.Future[RunFinished]) -> RunFinished:
    """How a pipeline ended, its failures as statuses; a model that cannot be called at all is raised."""
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
