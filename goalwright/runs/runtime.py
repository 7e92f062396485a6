"""The runtime of a workspace: plans, runs, resumes and reruns goals for the command line, batches and programs."""

from __future__ import annotations

import asyncio
import os
import threading
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from goalwright.models.budget import Budget
from goalwright.models.choice import ModelChoice
from goalwright.models.litellm import lifecycle
from goalwright.models.litellm.capabilities import Capabilities
from goalwright.models.litellm.prices import PriceList
from goalwright.models.open import OpenModel, model_opener
from goalwright.models.roles import RoleModels
from goalwright.runs.callbacks import Callbacks
from goalwright.runs.goal import NO_GOAL, Goal, with_named_files, without_secrets
from goalwright.runs.pipeline import Pipeline
from goalwright.runs.plans.plan_edit import plan_in_hand
from goalwright.runs.preview import preview
from goalwright.runs.recipes.parameters import RecipeSource, found_parameters, named_parameters
from goalwright.runs.recipes.workspace_recipes import WorkspaceRecipes
from goalwright.runs.run import Run
from goalwright.runs.run_context import RunContext
from goalwright.runs.run_id import new_run_id, today
from goalwright.runs.stop import Stop
from goalwright.runs.stored import records
from goalwright.runs.stored.claim import claim, release
from goalwright.runs.stored.follow_up import earlier_run
from goalwright.runs.stored.reopening import Reopening, check_not_taken_back, checked_request
from goalwright.runs.stored.rerun import plan_rerun
from goalwright.runs.stored.restoring import kept_contents, restore_files
from goalwright.settings.paths import Paths
from goalwright.settings.resolve import resolve
from goalwright.settings.settings import Settings, with_tools
from goalwright.settings.untrusted import is_trusted
from goalwright.telemetry.otlp import SpanExporter
from goalwright.workspace.llm_detector import BlockingModel, LlmDetector
from goalwright.workspace.workspace import Workspace
from goalwright_executor.history.run_history import RunHistory
from goalwright_executor.results.artifacts import Artifacts
from goalwright_executor.results.file_contents import FileContents
from goalwright_executor.results.memo import Memo
from goalwright_planner.events import Event, RunResumed, TaskReused
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence

    from goalwright.runs.callbacks import Review
    from goalwright.runs.plans.plan_edit import PlanInHand
    from goalwright.runs.plans.plan_file import PlanFile
    from goalwright.runs.preview import Preview
    from goalwright.runs.recipes.recipe_files import RecipeFile
    from goalwright.runs.stored.requests import Answers
    from goalwright.runs.stored.rerun import RerunPlan
    from goalwright_executor.history.result import Result
    from goalwright_executor.journal.journal import Journal
    from goalwright_planner.approvals import Approve
    from goalwright_planner.events import Record
    from goalwright_planner.plan.plan import Plan


@dataclass(frozen=True, slots=True)
class RehearsedRun:
    """The date, tools and recorded tool results of an earlier run, for a new run that repeats it."""

    date: str
    workspace: Workspace
    tool_set: tuple[str, ...] | None
    tool_results: Mapping[str, Any]


class Goalwright:
    """The runtime of a workspace, for any number of goals.

    `settings` are the settings of goalwright.toml: a mapping overrides files and the environment, a Settings replaces
    them. `open_model` returns the model for a name; by default, names are litellm's. `use` replaces skills by files.
    `tools` are functions that plans and models may call, and names of built-in tools that are off by default, such as
    "python". Runtimes may share a `journal`: closing one of them closes it. A bundle brings its own `paths`.
    """

    def __init__(
        self,
        workspace: Path | str = ".",
        settings: Settings | Mapping[str, Any] | None = None,
        *,
        open_model: OpenModel | None = None,
        use: Mapping[str, Path] | None = None,
        tools: Sequence[Callable[..., Any] | str] = (),
        journal: Journal | None = None,
        paths: Paths | None = None,
    ) -> None:
        self.paths = paths or Paths.of(Path(workspace), os.environ)
        if not isinstance(settings, Settings):
            here, trusted = self.paths, is_trusted(self.paths)
            settings = resolve(settings or {}, os.environ, here.workspace, here.user_config, trusted=trusted).settings
        if isinstance(tools, str) or callable(tools):  # a string would be iterated by character
            raise InputError(f"tools={tools!r} must be a list", hint="put the tool into a list")
        settings = with_tools(settings, [tool for tool in tools if isinstance(tool, str)])
        self.paths = self.paths.with_skills(settings.skills_dir)
        self.settings = settings
        self.models = ModelChoice(settings)
        self.own_tools = [tool for tool in tools if not isinstance(tool, str)]
        self.workspace = Workspace(self.paths, settings, use, tools=self.own_tools)
        self.recipes = WorkspaceRecipes(self.workspace)
        self._journal = journal
        self._opening = threading.Lock()
        self.spans = SpanExporter() if settings.send_spans else None
        self.open_model = open_model or model_opener(settings, Capabilities(self.paths.cache / "models.json"))

    @property
    def journal(self) -> Journal:
        """The journal of the workspace; it is opened when first needed, from any thread."""
        with self._opening:
            if self._journal is None:
                self._journal = records.open_journal(self.paths, self.settings)
            return self._journal

    async def run(
        self,
        goal: Goal | str,
        *,
        record: Record | None = None,
        stop: Stop | None = None,
        approve: Approve | None = None,
        review: Review | None = None,
        after: str | None = None,
        run_id: str | None = None,
    ) -> Result:
        """Run a goal to its end; raises if it cannot start: no model, a refused key, an invalid plan file.

        `approve` answers requests for a person; without it, or if it returns None, the run ends as waiting. `review`
        receives the plan before it runs, and returns the plan to run; if it returns None, the run ends as interrupted.
        `after` is a stored run that the goal follows up. `run_id` is a new id that the caller has made.
        """
        goal = await asyncio.to_thread(self.follow, goal, after) if after is not None else goal
        return await self.new_run(goal, Callbacks(record, approve, review), run_id=run_id).run(stop or Stop())

    def new_run(
        self,
        goal: Goal | str,
        callbacks: Callbacks | None = None,
        *,
        parent: str | None = None,
        reused: tuple[TaskReused, ...] = (),
        rehearsed: RehearsedRun | None = None,
        run_id: str | None = None,
    ) -> Run:
        """Return a new run, ready to start.

        `parent` is the run that it partly repeats, and `reused` are the outputs that it takes from there. A `rehearsed`
        run gives the new one its date, tools and tool results. `run_id` is a new id that the caller has made, for
        example to keep files in the run's folder.
        """
        callbacks = callbacks or Callbacks()
        goal = without_secrets(Goal.of(goal), os.environ)
        goal, settings = self._prepared(goal)
        if goal.stream is None:
            goal = replace(goal, stream=callbacks.record is not None)
        self.workspace.check(goal.skills)
        run_id = run_id or new_run_id()
        log = self.journal.begin(run_id, records.capture(self.paths, run_id))
        date = rehearsed.date if rehearsed is not None else ""
        opening = records.started(run_id, goal, self.workspace, settings, parent=parent, reused=reused, date=date)
        history = RunHistory()
        history.note(opening)
        if rehearsed is not None:
            history.finished.lent.update(rehearsed.tool_results)
        return Run(
            goal,
            self.workspace if rehearsed is None else rehearsed.workspace,
            settings,
            self.open_model,
            self.journal,
            log,
            opening,
            history,
            callbacks,
            spans=self.spans,
            tool_set=rehearsed.tool_set if rehearsed is not None else None,
        )

    async def resume(
        self,
        run: str,
        *,
        record: Record | None = None,
        stop: Stop | None = None,
        approve: Approve | None = None,
        review: Review | None = None,
        answers: Answers = (),
        plan: PlanFile | None = None,
    ) -> Result:
        """Continue a run where it stopped; returns the result of a finished run, and refuses a turn taken back.

        `answers` are by the ids of the run's requests; raises, and does nothing, if an id is unknown or answered.
        `plan` is the run's plan, edited by a person; tasks that have begun must be unchanged in it. `review` receives a
        plan of which no task has begun, as in `run`.
        """
        reopened = await self.reopened(run, Reopening(answers, plan), Callbacks(record, approve, review))
        return await reopened.run(stop or Stop()) if isinstance(reopened, Run) else reopened

    async def replan(
        self,
        run: str,
        request: str,
        *,
        record: Record | None = None,
        stop: Stop | None = None,
        approve: Approve | None = None,
    ) -> Result:
        """Have a model change the plan of a run as a person asks, and continue the run with the changed plan."""
        reopening = Reopening(asked=checked_request(request, os.environ))
        reopened = await self.reopened(run, reopening, Callbacks(record, approve))
        return await reopened.run(stop or Stop()) if isinstance(reopened, Run) else reopened

    async def reopened(self, run: str, reopening: Reopening, callbacks: Callbacks) -> Run | Result:
        """Return a stored run, claimed and ready to continue; its result if it is done and its plan does not change."""
        # The journal may be on another machine, so it is read in threads.
        summary = await asyncio.to_thread(self.journal.store.find, run)
        run_id = summary.run_id
        if summary.status == "done" and not reopening.changes:
            history = await asyncio.to_thread(self.history, run_id)
            check_not_taken_back(history)
            reopening.resolved(history, self.workspace)
            await self._restore_files(history, run_id, callbacks.record or _ignore)
            return await asyncio.to_thread(self.result, run_id)
        await claim(self.journal, run_id)
        try:
            resumed = await asyncio.to_thread(self._resumed, run_id, reopening, callbacks)
        except BaseException:
            await release(self.journal, run_id)
            raise
        if resumed is None:
            await release(self.journal, run_id)
            return await asyncio.to_thread(self.result, run_id)
        return resumed

    async def _restore_files(self, history: RunHistory, run_id: str, record: Record) -> None:
        """Restore missing files of a run that is done."""
        capture = records.capture(self.paths, run_id)
        contents = FileContents(Artifacts.of(self.paths.workspace, run_id), capture)
        kept = partial(kept_contents, self.journal.store, run_id, capture)
        await restore_files(history.ledger.files, contents, kept, record)

    def _resumed(self, run_id: str, reopening: Reopening, callbacks: Callbacks) -> Run | None:
        """Return a claimed run, ready to continue; None if another process finished it before the claim."""
        summary, history = self.journal.store.find(run_id), self.history(run_id)
        summary = replace(summary, early=history.ledger.done_early(), early_parts=history.ledger.early_parts)
        reopened = reopening.reopened(summary, history, self.workspace)
        if reopened is None or history.started is None:
            return None
        needs_model = reopening.asked is not None or self.models.needed_for(history.plan or reopened.goal.plan)
        settings = self.models.settings() if needs_model else self.settings
        settings = replace(settings, workspace_writes=records.writes_of(history.started.settings, settings))
        log = self.journal.resume(summary, records.capture(self.paths, run_id), history.last_seq)
        opening, workspace = RunResumed(run_id, records.plain(settings), history.lost), self._workspace_of(history)
        return Run(
            reopened.goal,
            workspace,
            settings,
            self.open_model,
            self.journal,
            log,
            opening,
            history,
            callbacks,
            reopened.ledger,
            reopened.events,
            self.spans,
        )

    def _workspace_of(self, history: RunHistory) -> Workspace:
        """Return the workspace with the functions that a run was offered, also those missing in this program."""
        here = self.workspace.tools.function_names
        gone = [tool for tool in history.functions if tool.name not in here]
        if not gone:
            return self.workspace
        return Workspace(self.paths, self.settings, self.workspace.skills.use, tools=[*self.own_tools, *gone])

    def from_recipe(self, name: str, values: Mapping[str, str] | None = None) -> Goal:
        """Return the goal of a recipe with these values and its plan; raises if the recipe or a value is invalid."""
        return self.recipes.by_name(name, values or {})

    def recipe_source(self, run: str) -> RecipeSource:
        """Return the goal, the last plan and the files of a stored run, to save them as a recipe."""
        history = self.history(self.journal.store.find(run).run_id)
        plan, goal = plan_in_hand(history).plan, records.goal_of(history)
        if goal.text == NO_GOAL:
            raise InputError("the run has a plan but no goal", hint="give its plan file a `goal`, and run it again")
        files = {self.recipes.relative_name(path): path for path in goal.files}
        return RecipeSource(goal.text, plan.to_dict(), files, history.started.run_id if history.started else "")

    def save_recipe(
        self, run: str, name: str, parameters: Mapping[str, str] | None = None, *, replaced: bool = False
    ) -> RecipeFile:
        """Save the plan of a stored run as a recipe; `parameters` adds parameters by their texts in goal or plan."""
        source = self.recipe_source(run)
        rows = named_parameters(parameters or {}, source, found_parameters(source))
        return self.recipes.save(name, source, rows, replaced=replaced)

    def follow(self, goal: Goal | str, run: str) -> Goal:
        """Return the goal with the results and files that it takes over from a finished run of this journal."""
        goal = Goal.of(goal)
        store = self._journal.store if self._journal is not None else records.recorded_runs(self.paths, self.settings)
        try:
            return replace(goal, after=earlier_run(store, run, partial(records.capture, self.paths)))
        finally:
            if self._journal is None:
                store.close()

    def plan_of(self, run: str) -> PlanInHand:
        """Return the last plan of a stored run, for a person to edit."""
        return plan_in_hand(self.history(self.journal.store.find(run).run_id))

    def result(self, run: str) -> Result:
        """Return the result of a stored run so far."""
        return self.history(self.journal.store.find(run).run_id).ledger.result(self.journal.url)

    def plan_rerun(self, run: str, begin: Collection[str], inputs: Mapping[str, str]) -> RerunPlan:
        """Return which tasks a rerun of a stored run would reuse, and which it would execute."""
        return plan_rerun(self.history(self.journal.store.find(run).run_id), begin, inputs)

    async def rerun(
        self,
        run: str,
        rerun_plan: RerunPlan,
        *,
        record: Record | None = None,
        stop: Stop | None = None,
        approve: Approve | None = None,
    ) -> Result:
        """Run a part of a stored run again, as a new run linked to it."""
        parent = self.journal.store.find(run).run_id
        history = self.history(parent)
        goal, files = replace(records.goal_of(history), plan=rerun_plan.plan), history.ledger.files
        reused = tuple(TaskReused(task, *output, **files.of_task(task)) for task, output in rerun_plan.given.items())
        again = self.new_run(goal, Callbacks(record, approve), parent=parent, reused=reused)
        return await again.run(stop or Stop())

    async def plan(self, goal: Goal | str, *, record: Record | None = None) -> Plan:
        """Plan a goal without running it."""
        return await Pipeline(self._unrecorded(goal, record or _ignore)).plan()

    async def preview(self, goal: Goal | str) -> Preview:
        """Return the selected skills, the prompt and an estimate for a goal, without calling a model."""
        return await preview(self._unrecorded(goal, _ignore))

    @asynccontextmanager
    async def llm_detector(self, record: Record | None = None) -> AsyncIterator[LlmDetector]:
        """The detector `llm` outside a run, for worker threads within the block."""
        models = self._role_models(self.models.settings(), Memo(record or _ignore))
        with BlockingModel(models.for_role("detector")) as ask:
            yield LlmDetector.of(self.workspace, models, ask)

    @asynccontextmanager
    async def events(self, goal: Goal | str, *, approve: Approve | None = None) -> AsyncIterator[AsyncIterator[Event]]:
        """Run a goal and iterate over its events as they happen; leaving the block early stops the run."""
        queue: asyncio.Queue[Event | None] = asyncio.Queue()
        work = asyncio.ensure_future(self.run(goal, record=queue.put_nowait, approve=approve))
        work.add_done_callback(lambda _: queue.put_nowait(None))

        async def iterate() -> AsyncIterator[Event]:
            while (event := await queue.get()) is not None:
                yield event
            await work

        try:
            yield iterate()
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)

    async def close(self) -> None:
        """Close the journal and the connections to providers and MCP servers."""
        await asyncio.to_thread(self.workspace.tools.close)
        if self._journal is not None:
            await asyncio.to_thread(self._journal.close)
            self._journal = None
        await lifecycle.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def history(self, run_id: str) -> RunHistory:
        """Return the recorded history of a run."""
        return RunHistory.of(self.journal.store.rows(run_id), records.capture(self.paths, run_id))

    def _prepared(self, goal: Goal) -> tuple[Goal, Settings]:
        """Return the goal with the files that it names, and its settings, with a model if the goal needs one."""
        settings = self.models.settings() if goal.data or self.models.needed_for(goal.plan) else self.settings
        return with_named_files(goal, self.paths.workspace, settings), settings

    def _unrecorded(self, goal: Goal | str, record: Record) -> RunContext:
        goal, settings = self._prepared(Goal.of(goal))
        memo, artifacts = Memo(record), Artifacts.of(self.paths.workspace, new_run_id())
        models = self._role_models(settings, memo)
        return RunContext(goal, self.workspace, settings, models, memo, artifacts, today())

    def _role_models(self, settings: Settings, memo: Memo) -> RoleModels:
        prices, assumes = PriceList(settings.prices or {}), settings.allow_unknown_cost
        budget = Budget(settings.max_cost, settings.max_tokens, price_of=prices, assumes=assumes)
        return RoleModels(settings, memo, budget, self.open_model)


def _ignore(event: Event) -> None:
    """Drop an event."""
