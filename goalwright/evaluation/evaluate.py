"""An evaluation from start to end, for the command line and for programs.

open_evaluation validates cases and variants → run executes every trial in one batch → every run is scored → report
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goalwright.batch import results
from goalwright.batch.engines.open import open_engine
from goalwright.batch.goal_check import goal_check
from goalwright.batch.options import BatchOptions, batch_settings
from goalwright.batch.run_batch import Batch, started_batch
from goalwright.evaluation import store
from goalwright.evaluation.basis import basis_of, refuse_changed
from goalwright.evaluation.case import Case
from goalwright.evaluation.case_files import case_file, read_cases, with_stdin
from goalwright.evaluation.checks.command_check import check_trust
from goalwright.evaluation.errors import JudgeFailed, NoJudge
from goalwright.evaluation.judge import judge_settings
from goalwright.evaluation.report import (
    EvaluationReport,
    JudgeFigures,
    VariantFigures,
    differences,
    left_out,
    without_verdict,
)
from goalwright.evaluation.scoring import ScoredRun, all_of, judging
from goalwright.evaluation.trials import ONLY, Trials, Variant, check_names
from goalwright.models.budget import check_prices
from goalwright.runs.run_goal import with_model
from goalwright.settings.paths import Paths
from goalwright.settings.resolve import resolve
from goalwright.settings.settings import Settings
from goalwright.settings.untrusted import is_trusted
from goalwright.telemetry.otlp import SpanExporter
from goalwright.telemetry.spans import score_spans
from goalwright_planner.errors import BudgetSpent, ModelError
from goalwright_skills.errors import InputError, SetupError
from goalwright_skills.functions import installed
from goalwright_skills.preferences import switchable
from goalwright_skills.text.formatting import known_are

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from goalwright.batch.engine import BatchEngine
    from goalwright.batch.runner import BatchObserver, StopReason
    from goalwright.evaluation.case_files import Source
    from goalwright.evaluation.judge import Judge, Preference
    from goalwright.evaluation.scoring import RunScorer, Score
    from goalwright.models.budget import Budget

    Scored = tuple[list[Score], dict[str, list[Preference]] | None]

REPEAT = 3
_MOST_UNUSED = 10
_POLL = 0.2  # seconds between checks for a stop


@dataclass(frozen=True, slots=True)
class EvaluationOptions:
    """How an evaluation is run.

    `repeat` defaults to 1 for a single variant and to 3 for several. `judge` is the model that decides about
    expectations and, with `pairwise`, which of two answers is better. `trust` trusts the programs of checks as they
    are. `batch` has the limits, and whether an earlier evaluation is resumed.
    """

    repeat: int | None = None
    judge: str | None = None
    pairwise: bool = False
    trust: bool = False
    batch: BatchOptions = field(default_factory=BatchOptions)

    def __post_init__(self) -> None:
        if self.repeat is not None and self.repeat < 1:
            raise InputError(f"repeat must be 1 or more, not {self.repeat}", hint="omit it for the default")

    def repeats(self, variants: int) -> int:
        """Return how often each case runs with each variant."""
        return self.repeat or (REPEAT if variants > 1 else 1)


@dataclass(slots=True)
class OpenEvaluation:
    """A validated evaluation whose `batch` runs the trials; `spent` is set if the budget stopped it."""

    trials: Trials
    folder: store.EvaluationFolder
    batch: Batch
    settings: Settings
    options: EvaluationOptions
    warnings: list[str] = field(default_factory=list)
    spent: BudgetSpent | None = None
    _budget: Budget | None = None

    @property
    def budget(self) -> Budget:
        """What the runs and the judge have spent so far."""
        return self._budget or self.batch.engine.budget

    @property
    def judged(self) -> bool:
        """Whether a judge is needed."""
        return self.options.pairwise or any(case.expectations for case in self.trials.cases)

    @property
    def models(self) -> tuple[str, ...]:
        """All models that may be called, including the judge."""
        name = judge_settings(self.batch.goalwright.models.settings(), self.options.judge)[0].model_for("judge")
        return tuple(dict.fromkeys((*self.batch.models, *([name] if self.judged and name else []))))

    async def run(self, observer: BatchObserver | None = None) -> EvaluationReport:
        """Run the remaining trials and score all of them; call it while the batch is `locked`."""
        trials, variants = self.trials, self.trials.variants
        details = {"cases": [case.to_dict() for case in trials.cases], "repeat": trials.repeat, "basis": trials.basis}
        self.folder.begin(request_of(trials) | details)
        ended = await self.batch.run(observer)
        self.spent = ended.spent
        workspace, limits, spent = self.batch.goalwright.paths.workspace, self.options.batch, self.batch.engine.budget
        async with judging(workspace, self.settings, limits, judge=self.options.judge, after=spent) as (scorer, judge):
            self._budget = judge.budget
            scored, stopped = await self._score(scorer, judge) if ended.stopped is None else (None, ended.stopped)
            if scored is None:  # stopped: only checks without cost are applied
                scored = await replace(scorer, judge=None).score_all(self._runs()), None
                self.warnings += left_out(trials.cases)
            scores, preferences = scored
            report = EvaluationReport(
                self.folder.id,
                len(trials.cases),
                tuple(VariantFigures.of(variant.name, scores) for variant in variants),
                differences([variant.name for variant in variants], scores, preferences),
                tuple(scores),
                JudgeFigures(judge.model.name, judge.usage.calls, judge.cost) if self.judged else None,
                stopped,
                tuple(self.warnings),
                self.spent.message if self.spent is not None else None,
            )
        if self.settings.send_spans and (problem := await SpanExporter().send_spans(score_spans(report.to_dict()))):
            report = replace(report, warnings=(*report.warnings, problem))
        self.folder.end(report.to_dict())
        return report

    async def _score(self, scorer: RunScorer, judge: Judge) -> tuple[Scored | None, StopReason | None]:
        """Score all runs until the evaluation is stopped; returns the scores, or None and the reason for the stop."""
        work = asyncio.ensure_future(self._score_all(scorer, judge))
        try:
            while not work.done():
                await asyncio.wait({work}, timeout=_POLL)
                if not work.done() and self.batch.stopped is not None:
                    return None, self.batch.stopped
            return work.result(), None
        except BudgetSpent as spent:
            self.spent = spent
            return None, "budget"
        except ModelError as error:
            raise JudgeFailed(error, self.folder.id) from error
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)

    async def _score_all(self, scorer: RunScorer, judge: Judge) -> Scored:
        scores = await scorer.score_all(self._runs())
        pairwise = self.options.pairwise
        preferences = await _preferences(judge, self.trials.variants, scores) if pairwise else None
        judge.check_verdicts()
        self.warnings += without_verdict(judge.refused)
        return scores, preferences

    def check_models(self) -> None:
        """Raise if a model, including the judge, cannot be called; call it before anything is spent."""
        self.batch.check_models()
        for problem in self.batch.engine.problems(self.models):
            if problem.certain:
                raise SetupError(problem.what, hint=problem.remedy)
        limit = self.options.batch.max_cost
        check_prices(self.models, self.batch.goalwright.settings, limit)

    def _runs(self) -> list[ScoredRun]:
        """Return the trials that have a line in the results file."""
        rows = {row["id"]: row for row in results.read(self.folder.results)}
        finished = ((trial, rows.get(trial.id)) for trial in self.trials.each())
        return [
            ScoredRun(trial.case, trial.variant.name, trial.repeat, row["run_id"], row)
            for trial, row in finished
            if row is not None
        ]


def request_of(trials: Trials) -> dict[str, Any]:
    """Return what identifies an evaluation when it is resumed."""
    return {"sources": trials.name, "variants": [variant.to_dict() for variant in trials.variants]}


async def _preferences(
    judge: Judge, variants: Sequence[Variant], scores: Sequence[Score]
) -> dict[str, list[Preference]]:
    """Compare the answers of each other variant (`second`) with those of the first, pair by pair."""
    by_trial = {(score.case, score.variant, score.repeat): score.result for score in scores}
    first, *others = variants
    preferences: dict[str, list[Preference]] = {}
    for other in others:
        pairs = [
            (before, after)
            for (case, variant, repeat), before in by_trial.items()
            if variant == first.name and (after := by_trial.get((case, other.name, repeat))) is not None
        ]
        preferences[other.name] = await all_of(judge.prefer(before, after) for before, after in pairs)
    return preferences


@contextmanager
def open_evaluation(
    sources: Sequence[Source],
    variants: Sequence[Variant] = (),
    *,
    workspace: Path | str = ".",
    settings: Settings,
    options: EvaluationOptions | None = None,
    flags: Mapping[str, Any] | None = None,
) -> Iterator[OpenEvaluation]:
    """Validate cases and variants; all errors are reported at once."""
    options = options or EvaluationOptions()
    chosen = tuple(variants) or (ONLY,)
    check_names(chosen)
    sources = with_stdin(sources)
    trials = Trials(read_cases(sources), chosen, options.repeats(len(chosen)), source_names(sources))
    if options.pairwise and len(chosen) < 2:
        raise InputError("a pairwise comparison needs two variants", hint="define a second variant")
    home = Path(workspace).resolve()
    # A cache, or one run for equal goals, would make all repeats the same run.
    settings = replace(settings, cache=None)
    batch_options = replace(options.batch, dedupe=False)
    earlier = store.resumable(home, request_of(trials)) if batch_options.resume else None
    folder = earlier or store.new_evaluation(home)
    if earlier is None:
        batch_options = replace(batch_options, resume=False, retry_errors=False, rerun_changed=False)
    overrides = {**(flags or {}), **{key: None for variant in chosen for key in variant.settings}}
    engine = open_engine(home, settings, batch_options, overrides)
    _check(trials, engine)
    check_trust(trials.cases, engine.runtime(), trust=options.trust)
    trials = replace(trials, basis=(basis := basis_of(trials, engine)))
    if earlier is not None and not batch_options.rerun_changed:
        refuse_changed((earlier.request() or {}).get("basis"), basis)
    folder.path.mkdir(parents=True, exist_ok=True)
    batch = Batch(trials, folder.results, batch_options, engine, id=folder.id)
    with started_batch(batch):
        evaluation = OpenEvaluation(trials, folder, batch, settings, replace(options, batch=batch_options))
        evaluation.warnings += _unused(trials.cases)
        if evaluation.judged:
            evaluation.warnings += _judge_warnings(evaluation)
        yield evaluation


def _unused(cases: Sequence[Case]) -> list[str]:
    """Warn about unknown keys, each once."""
    first: dict[str, str] = {}
    for case in cases:
        for key in case.unused:
            first.setdefault(key, case.id)
    return [f"case {case}: unknown key {key!r}; it is ignored" for key, case in islice(first.items(), _MOST_UNUSED)]


def _judge_warnings(evaluation: OpenEvaluation) -> list[str]:
    """Warn if a model judges itself; raises NoJudge if each variant has its own model and no judge is chosen."""
    settings, variants = evaluation.settings, evaluation.trials.variants
    models = {variant.settings.get("model") for variant in variants}
    if not (evaluation.options.judge or settings.judge or settings.model) and None not in models:
        raise NoJudge("no judge is chosen, and each variant has its own model", hint="choose the judge's model")
    chosen, warning = judge_settings(evaluation.batch.goalwright.models.settings(), evaluation.options.judge)
    return [warning] if warning and (None in models or chosen.model in models) else []


def source_names(sources: Sequence[Source]) -> str:
    """Name the sources of cases, so that an evaluation of the same cases is found again."""
    names = [str(case_file(source).resolve()) for source in sources if isinstance(source, str | Path)]
    names += [str(source.get("id", "")) for source in sources if isinstance(source, Mapping)]
    names += [source.id for source in sources if isinstance(source, Case)]
    return "\n".join(names)


def _check(trials: Trials, engine: BatchEngine) -> None:
    """Raise if variants or cases name missing skills, models or files, with all faults."""
    base = engine.runtime()
    names = switchable(base.workspace.skills.registry.list_skills(all=True), installed.switch_names())
    faults: list[str] = []
    for variant in trials.variants:
        off = {*variant.settings.get("skills_off", ())} - {*base.settings.skills_off}
        off |= {*variant.settings.get("skills_without", ())}
        faults += [
            f"the variant {variant.name!r} excludes {name!r}, which does not exist; {known_are(name, sorted(names))}"
            for name in sorted(off - names)
        ]
        check = goal_check(engine.runtime(next(iter(Trials(trials.cases[:1], [variant], 1)))).workspace)
        for goal in Trials(trials.cases, [variant], 1):
            if fault := check(goal):
                faults.append(f"{goal.id.rpartition('#')[0]}: {fault}")
    if faults:
        shown = faults[:20] + ([f"and {len(faults) - 20} more"] if len(faults) > 20 else [])
        raise InputError(
            "the evaluation cannot run:" + "".join(f"\n  {text}" for text in shown),
            hint="fix these; nothing was run",
        )


async def evaluate(
    cases: str | Path | Mapping[str, Any] | Sequence[str | Path | Mapping[str, Any]],
    variants: Sequence[Variant] | Mapping[str, Mapping[str, Any]] = (),
    *,
    model: str | None = None,
    workspace: Path | str = ".",
    settings: Settings | Mapping[str, Any] | None = None,
    options: EvaluationOptions | None = None,
    observer: BatchObserver | None = None,
) -> EvaluationReport:
    """Evaluate cases, as `goalwright eval` does, and return the report.

    `cases` are files, skill folders, or mappings with the keys of a case. The first of `variants` is the baseline; a
    mapping gives their settings by name, with `skills` for skills that every case requires. `settings` are those of
    goalwright.toml: a mapping overrides files and the environment, a Settings object replaces them.
    """
    merged = with_model(settings, model)
    flags = None if isinstance(merged, Settings) else merged
    if not isinstance(merged, Settings):
        paths = Paths.of(Path(workspace), os.environ)
        trusted = is_trusted(paths)
        merged = batch_settings(resolve(merged or {}, os.environ, paths.workspace, paths.user_config, trusted=trusted))
    chosen = (
        [_variant(name, values) for name, values in variants.items()] if isinstance(variants, Mapping) else variants
    )
    with open_evaluation(
        [cases] if isinstance(cases, str | Path | Mapping) else cases,
        chosen,
        workspace=workspace,
        settings=merged,
        options=options,
        flags=flags,
    ) as evaluation:
        await asyncio.to_thread(evaluation.check_models)
        with evaluation.batch.locked():
            return await evaluation.run(observer)


def _variant(name: str, values: Mapping[str, Any]) -> Variant:
    settings = {key: value for key, value in values.items() if key != "skills"}
    return Variant(name, settings, tuple(values.get("skills", ())))
