"""A batch from start to end, for the command line and for programs.

open_batch validates the whole goal file, `Batch.locked` reserves the results file and reads earlier results, and
`Batch.run` runs the remaining goals and writes a line of results for each.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goalwright.batch import goals as goal_files
from goalwright.batch import results
from goalwright.batch.engine import goal_of, settings_of
from goalwright.batch.engines.open import open_engine
from goalwright.batch.goal_check import goal_check, recipe_filler
from goalwright.batch.options import BatchOptions, GoalOrder, batch_settings
from goalwright.batch.preview import preview
from goalwright.batch.results import EarlierResult, Results
from goalwright.batch.runner import BatchObserver, BatchRunner, earlier_results_to_redo
from goalwright.batch.summary import BatchSummary
from goalwright.models.budget import WrittenOff, check_prices
from goalwright.runs.goal import without_secrets
from goalwright.runs.run_goal import with_model
from goalwright.runs.run_id import new_batch_id
from goalwright.runs.stored import records
from goalwright.settings.paths import Paths
from goalwright.settings.resolve import resolve
from goalwright.settings.settings import Settings
from goalwright.settings.untrusted import is_trusted
from goalwright_executor.stores.errors import UnknownRun
from goalwright_skills.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from goalwright.batch.engine import BatchEngine
    from goalwright.batch.goals import BatchGoal, CheckedGoals
    from goalwright.batch.preview import BatchPreview, NoteGoal
    from goalwright.batch.runner import StopReason
    from goalwright.runs.runtime import Goalwright
    from goalwright_planner.errors import BudgetSpent

# The newest earlier runs that are searched for the batch's id.
_NEWEST_RUNS = 20


@dataclass(frozen=True, slots=True)
class BatchReport:
    """The end of a batch: its summary, and why it stopped early, if it did.

    `spent` is the budget's error, if that stopped it; `written_off` was allotted to workers that died.
    """

    summary: BatchSummary
    stopped: StopReason | None
    output: Path
    written_off: WrittenOff = field(default_factory=WrittenOff)
    spent: BudgetSpent | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the report as `--json` prints it."""
        reason = self.spent.message if self.spent is not None else None
        document = self.summary.to_dict() | {"stopped": self.stopped, "reason": reason, "output": str(self.output)}
        if self.written_off.workers:
            workers, cost, tokens = self.written_off
            document["written_off"] = {"workers": workers, "cost_usd": cost, "tokens": int(tokens)}
        return document


@dataclass(slots=True)
class Batch:
    """Validated goals, ready to run into a results file; `id` is the batch's id in the journal."""

    goals: CheckedGoals
    output: Path
    options: BatchOptions
    engine: BatchEngine
    errors: Path | None = None
    order: GoalOrder = field(init=False)
    summary: BatchSummary = field(init=False)
    id: str = ""
    _earlier: dict[str, EarlierResult] = field(default_factory=dict)
    _knows_runs: bool = False
    _files: list[Path] = field(default_factory=list)
    _runner: BatchRunner | None = None

    def __post_init__(self) -> None:
        options = self.options
        self.errors = options.errors
        self.order = GoalOrder(options.limit, options.shuffle)
        self.summary = BatchSummary(self.order.count(self.goals.count))
        self._files = list(filter(None, (self.output, self.errors)))

    @property
    def goalwright(self) -> Goalwright:
        """The runtime of goals without a model of their own."""
        return self.engine.runtime()

    @property
    def models(self) -> tuple[str, ...]:
        """Every model that the goals may call, including fallbacks and models of single roles."""
        return tuple(dict.fromkeys(name for goalwright in self._runtimes() for name in goalwright.models.names))

    def preview(self, note: NoteGoal | None = None) -> BatchPreview:
        """Return what would run, without calling or writing anything; `note` receives each goal and its skills."""
        if not self.options.resume:
            return preview(self._runs(), self.goalwright.workspace.skills, note)
        self._read_earlier(untouched=True)
        self._again()
        left = (goal for goal in self._runs() if not self._has_ended(goal))
        result = preview(left, self.goalwright.workspace.skills, note)
        return replace(result, skipped=self.summary.goals - result.goals)

    def start(self) -> None:
        """Start loading what the goals need to call a model, while the rest is validated."""
        self.engine.start(self._runtimes().total(), self.models)

    def check_models(self) -> None:
        """Raise if a model cannot be called or the budget not enforced, before thousands of goals fail one by one."""
        settings = self.goalwright.settings
        limit = self.options.max_cost if self.options.max_cost is not None else settings.max_cost
        check_prices(self.models, settings, limit)
        for problem in self.engine.problems(self.models):
            if problem.certain:
                raise SetupError(problem.what, hint=problem.remedy)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the results file within the block; checks that it can be written, and reads its rows."""
        with results.locked(self.output):
            if not self.options.resume:
                results.refuse_existing(self.output, self.errors)  # another batch may have ended meanwhile
                results.forget_runs(self.output)
            _ = self.goalwright.journal  # report an unusable journal before any goal starts
            self.goalwright.workspace.prompts().check_overrides()  # and invalid prompt templates
            if self.options.resume:
                self._read_earlier()
            self.id = self.id or self._earlier_id() or new_batch_id(self.output)
            if self._earlier and not self._knows_runs:
                self._find_runs()
            if self._earlier:
                self._take_up()
            yield

    async def run(self, observer: BatchObserver | None = None) -> BatchReport:
        """Run the remaining goals. Call it within `locked`."""
        file, observer = Results(self.output, self.errors), observer or BatchObserver()
        self._runner = runner = BatchRunner(
            self.engine,
            file,
            self._earlier,
            self.engine.budget,
            self.options,
            self.summary,
            observer,
            self.id,
        )
        complete = False
        try:
            await self.engine.warm(observer.say, self._runs())
            await runner.run(self._runs())
            complete = runner.is_complete
        finally:
            await self.engine.close()
            file.close(complete=complete)
        spent = runner.spent if runner.stopped == "budget" else None
        return BatchReport(self.summary, runner.stopped, self.output, self.engine.budget.written_off, spent)

    @property
    def stopped(self) -> StopReason | None:
        """Why no further goal starts, if so."""
        return self._runner.stopped if self._runner is not None else None

    def finish_running(self) -> None:
        """Start no further goal; running goals end normally."""
        if self._runner is not None:
            self._runner.finish_running()

    def stop_now(self) -> None:
        """Stop the running goals too; what they finished is kept."""
        if self._runner is not None:
            self._runner.stop_now()

    def _runs(self) -> Iterator[BatchGoal]:
        return self.order.goals(self.goals)

    def _runtimes(self) -> Counter[Goalwright]:
        """Count the goals of each runtime, without goals that need no model."""
        needed_for, runtime = self.goalwright.models.needed_for, self.engine.runtime
        goals = (goal for goal in self._runs() if goal.plan is None or needed_for(goal_of(goal).plan))
        return Counter(runtime(goal) if settings_of(goal) else self.goalwright for goal in goals)

    def _earlier_id(self) -> str | None:
        """Return the id of this batch in the journal, from its newest runs."""
        for earlier in islice(reversed(self._earlier.values()), _NEWEST_RUNS):
            with suppress(UnknownRun):
                if batch := self.goalwright.journal.store.find(earlier.run_id).batch:
                    return batch
        return None

    def _find_runs(self) -> None:
        """Find the runs of unfinished goals in the journal, for example on another machine, and record them in `.runs`.

        All of them are recorded, because goals that begin later are appended to that file.
        """
        newest: dict[str, str] = {}
        for run in self.goalwright.journal.store.summaries(batch=self.id):
            if run.batch_goal and run.batch_goal not in self._earlier:
                newest.setdefault(run.batch_goal, run.run_id)
        runs = {
            goal.id: EarlierResult(goal.content_hash, newest[goal.id])
            for goal in (self.goals if newest else ())
            if goal.id in newest and self._is_run_of(newest[goal.id], goal)
        }
        results.record_runs(self.output, runs)
        self._earlier |= runs

    def _is_run_of(self, run_id: str, goal: BatchGoal) -> bool:
        """Whether a run is this goal's, and not that of a different goal with the same id."""
        try:
            begun = records.first_event(self.goalwright.journal.store, run_id, self.goalwright.paths)
        except UnknownRun:  # its process died before its first event was recorded
            return False
        asked = without_secrets(goal_of(goal), os.environ)
        if (begun.goal, tuple(begun.asked_skills)) != (asked.text, asked.skills):
            return False
        if goal.model is not None and begun.settings.get("model") != goal.model:
            return False
        return begun.plan == asked.plan

    def _read_earlier(self, *, untouched: bool = False) -> None:
        """Read the results of earlier runs of this batch."""
        before = results.errors_files(self.output, untouched=untouched)
        if self.errors is None and before:
            self.errors = before[-1]
        files = filter(None, (self.output, *before, self.errors))
        self._files = list({file.resolve(): file for file in files}.values())
        self._earlier = earlier = results.read_earlier(*self._files, untouched=untouched)
        self._knows_runs = any(result.status is None for result in earlier.values())

    def _take_up(self) -> None:
        """Prefer goals that have begun, and drop the lines of goals that run again."""
        again = self._again()
        results.record_runs(self.output, {name: self._earlier[name] for name in again if name in self._earlier})
        for path in self._files:
            results.drop(path, again)

    def _again(self) -> set[str]:
        """Return the goals that run again although they have a result; with a limit, begun goals come first."""
        if self.options.limit is not None:
            self.order = replace(self.order, begun=frozenset(self._earlier))
        return earlier_results_to_redo(self._runs(), self._earlier, self.options, self._goes_on)

    def _has_ended(self, goal: BatchGoal) -> bool:
        before = self._earlier.get(goal.id)
        return before is not None and before.status is not None

    def _goes_on(self, run_id: str) -> bool:
        """Whether a goal that waited for a person can continue: it was answered since, or everything is approved."""
        try:
            return self.options.approve_all or self.goalwright.journal.store.find(run_id).status != "waiting"
        except UnknownRun:
            return True  # its run was deleted, so the goal starts again


@contextmanager
def open_batch(
    goals: str | Path | Iterable[str | Mapping[str, Any]],
    output: Path,
    *,
    workspace: Path | str = ".",
    settings: Settings,
    options: BatchOptions,
    flags: Mapping[str, Any] | None = None,
    dry_run: bool = False,
) -> Iterator[Batch]:
    """Open a batch of a goal file (`-` is stdin) or goals in memory; all faults are reported at once with their lines.

    `flags` are the settings that the caller passed explicitly: they override the settings of every machine.
    """
    if not options.resume and not dry_run:
        results.refuse_existing(output, options.errors)
    engine = open_engine(Path(workspace), settings, options, flags)
    home = engine.runtime()
    with (
        goal_files.opened(goals, check=goal_check(home.workspace), fill=recipe_filler(home.recipes)) as checked,
        started_batch(Batch(checked, output, options, engine), dry_run=dry_run) as batch,
    ):
        yield batch


@contextmanager
def started_batch(batch: Batch, *, dry_run: bool = False) -> Iterator[Batch]:
    """Start loading what a batch needs; anything unused is stopped after the block."""
    try:
        if not dry_run:
            batch.start()
        yield batch
    finally:
        batch.engine.abandon()


async def run_batch(
    goals: str | Path | Iterable[str | Mapping[str, Any]],
    output: Path | str,
    *,
    model: str | None = None,
    workspace: Path | str = ".",
    settings: Settings | Mapping[str, Any] | None = None,
    options: BatchOptions | None = None,
    observer: BatchObserver | None = None,
) -> BatchReport:
    """Run goals and write a line of results for each to `output`, as `goalwright batch` does.

    `goals` is a goal file, or goals in memory: texts, or mappings with the keys of a goal file. `settings` are those of
    goalwright.toml: a mapping overrides files and the environment, a Settings object replaces them. `observer` receives
    every event.
    """
    merged = with_model(settings, model)
    flags = {"model": model} if isinstance(merged, Settings) and model else merged
    if not isinstance(merged, Settings):
        paths = Paths.of(Path(workspace), os.environ)
        trusted = is_trusted(paths)
        merged = batch_settings(resolve(merged or {}, os.environ, paths.workspace, paths.user_config, trusted=trusted))
    with open_batch(
        goals,
        Path(output),
        workspace=workspace,
        settings=merged,
        options=options or BatchOptions(),
        flags=None if isinstance(flags, Settings) else flags,
    ) as batch:
        await asyncio.to_thread(batch.check_models)  # loads litellm, which takes seconds
        with batch.locked():
            return await batch.run(observer)
