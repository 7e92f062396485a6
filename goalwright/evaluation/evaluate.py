"""An evaluation from start to end: the one path that the command line and programs take.

open_evaluation: cases and variants are checked whole → run: one batch runs every trial → score: each run is held
against its case's checks → report
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
from goalwright.evaluation.judge import judge_failed, judge_settings
from goalwright.evaluation.judging import judging
from goalwright.evaluation.report import (
    EvaluationReport,
    JudgeFigures,
    VariantFigures,
    differences,
    left_out,
    without_verdict,
)
from goalwright.evaluation.scoring import ScoredRun, all_of
from goalwright.evaluation.trials import Trials
from goalwright.evaluation.variant import ONLY, Variant, check_names
from goalwright.models.budget import check_prices
from goalwright.runs.run_goal import with_model
from goalwright.settings.paths import Paths
from goalwright.settings.resolve import resolve
from goalwright.settings.settings import Settings
from goalwright.settings.untrusted import is_trusted
from goalwright.telemetry.exporter import SpanExporter
from goalwright.telemetry.score_spans import score_spans
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
_LOOK = 0.2  # seconds between two looks whether it was stopped


@dataclass(frozen=True, slots=True)
class EvaluationOptions:
    """How an evaluation is run: `repeat` is 1 for a single variant and 3 for several, unless it is given.

    `judge` is the model that decides about expectations. With `pairwise`, it also says which of two answers is better.
    `batch` has the limits, and whether an earlier evaluation of the same is resumed. With `trust`, the programs of
    checks are trusted as they are.
    """

    repeat: int | None = None
    judge: str | None = None
    pairwise: bool = False
    trust: bool = False
    batch: BatchOptions = field(default_factory=BatchOptions)

    def __post_init__(self) -> None:
        if self.repeat is not None and self.repeat < 1:
            raise InputError(f"repeat must be 1 or more, not {self.repeat}", hint="leave it out for the default")

    def repeats(self, variants: int) -> int:
        """How often each case is run with each variant."""
        return self.repeat or (REPEAT if variants > 1 else 1)


@dataclass(slots=True)
class OpenEvaluation:
    """A checked evaluation; its `batch` runs the trials. `spent` is what its budget said, if that stopped it."""

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
        """What its runs and its judge spent, as far as they have come."""
        return self._budget or self.batch.engine.budget

    @property
    def judged(self) -> bool:
        """Whether a judge is asked anything."""
        return self.options.pairwise or any(case.expectations for case in self.trials.cases)

    @property
    def models(self) -> tuple[str, ...]:
        """Every model that may be called, the judge's included."""
        name = judge_settings(self.batch.goalwright.models.settings(), self.options.judge)[0].model_for("judge")
        return tuple(dict.fromkeys((*self.batch.models, *([name] if self.judged and name else []))))

    async def run(self, observer: BatchObserver | None = None) -> EvaluationReport:
        """Run what is left and score all of it. Call it within the batch's `locked`."""
        trials, variants = self.trials, self.trials.variants
        asked = {"cases": [case.to_dict() for case in trials.cases], "repeat": trials.repeat, "basis": trials.basis}
        self.folder.begin(asked_for(trials) | asked)
        ended = await self.batch.run(observer)
        self.spent = ended.spent
        home, limits, spent = self.batch.goalwright.paths.workspace, self.options.batch, self.batch.engine.budget
        async with judging(home, self.settings, limits, judge=self.options.judge, after=spent) as (scorer, judge):
            self._budget = judge.budget
            scored, stopped = await self._scored(scorer, judge) if ended.stopped is None else (None, ended.stopped)
            if scored is None:  # stopped: what costs nothing is still said
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

    async def _scored(self, scorer: RunScorer, judge: Judge) -> tuple[Scored | None, StopReason | None]:
        """The scores, and what the judge prefers; None and the reason if the evaluation is stopped meanwhile."""
        work = asyncio.ensure_future(self._judged(scorer, judge))
        try:
            while not work.done():
                await asyncio.wait({work}, timeout=_LOOK)
                if not work.done() and self.batch.stopped is not None:
                    return None, self.batch.stopped
            return work.result(), None
        except BudgetSpent as spent:
            self.spent = spent
            return None, "budget"
        except ModelError as error:
            what = f"the judge of evaluation {self.folder.id} cannot be asked"
            raise judge_failed(error, what, "continue with --resume: runs and verdicts are kept") from error
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)

    async def _judged(self, scorer: RunScorer, judge: Judge) -> Scored:
        scores = await scorer.score_all(self._runs())
        wanted = self.options.pairwise
        preferences = await _preferences(judge, self.trials.variants, scores) if wanted else None
        judge.check_verdicts()
        self.warnings += without_verdict(judge.refused)
        return scores, preferences

    def check_models(self) -> None:
        """Raise if a model cannot be called at all, the judge's included, before anything is spent."""
        self.batch.check_models()
        for problem in self.batch.engine.problems(self.models):
            if problem.certain:
                raise SetupError(problem.what, hint=problem.remedy)
        limit = self.options.batch.max_cost
        check_prices(self.models, self.batch.goalwright.settings, limit)

    def _runs(self) -> list[ScoredRun]:
        """The trials that have a line of results."""
        rows = {row["id"]: row for row in results.read(self.folder.results)}
        found = ((trial, rows.get(trial.id)) for trial in self.trials.each())
        return [
            ScoredRun(trial.case, trial.variant.name, trial.repeat, row["run_id"], row)
            for trial, row in found
            if row is not None
        ]


def asked_for(trials: Trials) -> dict[str, Any]:
    """What makes an evaluation the same one when it is resumed."""
    return {"sources": trials.name, "variants": [variant.to_dict() for variant in trials.variants]}


async def _preferences(
    judge: Judge, variants: Sequence[Variant], scores: Sequence[Score]
) -> dict[str, list[Preference]]:
    """For each variant but the first, whether its answers are the better ones (`second`), pair by pair."""
    by_trial = {(score.case, score.variant, score.repeat): score.result for score in scores}
    first, *others = variants
    found: dict[str, list[Preference]] = {}
    for other in others:
        pairs = [
            (before, after)
            for (case, variant, repeat), before in by_trial.items()
            if variant == first.name and (after := by_trial.get((case, other.name, repeat))) is not None
        ]
        found[other.name] = await all_of(judge.prefer(before, after) for before, after in pairs)
    return found


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
    """Check cases and variants whole; everything that is wrong is reported at once."""
    options = options or EvaluationOptions()
    chosen = tuple(variants) or (ONLY,)
    check_names(chosen)
    sources = with_stdin(sources)
    trials = Trials(read_cases(sources), chosen, options.repeats(len(chosen)), named(sources))
    if options.pairwise and len(chosen) < 2:
        raise InputError("--pairwise compares the answers of two variants", hint="name two with --variant")
    home = Path(workspace).resolve()
    # Results of other runs and one reply to equal calls would make repeats the same run.
    settings = replace(settings, cache=None)
    batch_options = replace(options.batch, dedupe=False)
    earlier = store.resumable(home, asked_for(trials)) if batch_options.resume else None
    folder = earlier or store.new_evaluation(home)
    if earlier is None:
        batch_options = replace(batch_options, resume=False, retry_errors=False, rerun_changed=False)
    given = {**(flags or {}), **{key: None for variant in chosen for key in variant.settings}}
    engine = open_engine(home, settings, batch_options, given)
    _check(trials, engine)
    check_trust(trials.cases, engine.runtime(), trust=options.trust)
    trials = replace(trials, basis=(basis := basis_of(trials, engine)))
    if earlier is not None and not batch_options.rerun_changed:
        refuse_changed((earlier.asked() or {}).get("basis"), basis)
    folder.path.mkdir(parents=True, exist_ok=True)
    batch = Batch(trials, folder.results, batch_options, engine, id=folder.id)
    with started_batch(batch):
        evaluation = OpenEvaluation(trials, folder, batch, settings, replace(options, batch=batch_options))
        evaluation.warnings += _unused(trials.cases)
        if evaluation.judged:
            evaluation.warnings += _judge_warnings(evaluation)
        yield evaluation


def _unused(cases: Sequence[Case]) -> list[str]:
    """What to say of keys without a meaning, each once."""
    first: dict[str, str] = {}
    for case in cases:
        for key in case.unused:
            first.setdefault(key, case.id)
    return [f"case {case}: unknown key {key!r}; it is ignored" for key, case in islice(first.items(), _MOST_UNUSED)]


def _judge_warnings(evaluation: OpenEvaluation) -> list[str]:
    """What to say of the judge; raises if none is chosen, and the variants' models leave it open which one judges."""
    settings, variants = evaluation.settings, evaluation.trials.variants
    own = {variant.settings.get("model") for variant in variants}
    if not (evaluation.options.judge or settings.judge or settings.model) and None not in own:
        raise InputError(
            "each variant has a model of its own, and it is open which one judges", hint="name the judge with --judge"
        )
    chosen, warning = judge_settings(evaluation.batch.goalwright.models.settings(), evaluation.options.judge)
    return [warning] if warning and (None in own or chosen.model in own) else []


def named(sources: Sequence[Source]) -> str:
    """Where the cases come from, so that an evaluation of the same is found again."""
    names = [str(case_file(source).resolve()) for source in sources if isinstance(source, str | Path)]
    names += [str(source.get("id", "")) for source in sources if isinstance(source, Mapping)]
    names += [source.id for source in sources if isinstance(source, Case)]
    return "\n".join(names)


def _check(trials: Trials, engine: BatchEngine) -> None:
    """Raise if a variant or a case asks for what is not there, with all that is wrong."""
    base = engine.runtime()
    every = switchable(base.workspace.skills.registry.list_skills(all=True), installed.switch_names())
    faults: list[str] = []
    for variant in trials.variants:
        off = {*variant.settings.get("skills_off", ())} - {*base.settings.skills_off}
        off |= {*variant.settings.get("skills_without", ())}
        faults += [
            f"the variant {variant.name!r} is without {name!r}, which does not exist; {known_are(name, sorted(every))}"
            for name in sorted(off - every)
        ]
        check = goal_check(engine.runtime(next(iter(Trials(trials.cases[:1], [variant], 1)))).workspace)
        for goal in Trials(trials.cases, [variant], 1):
            if fault := check(goal):
                faults.append(f"{goal.id.rpartition('#')[0]}: {fault}")
    if faults:
        shown = faults[:20] + ([f"and {len(faults) - 20} more"] if len(faults) > 20 else [])
        raise InputError(
            "the evaluation cannot be run:" + "".join(f"\n  {text}" for text in shown),
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

    `cases` are files, skills' folders or mappings with the keys of a case. `variants` are compared with the first of
    them: as a mapping, settings by name, with `skills` for those that every case asks for. `settings` are those of
    goalwright.toml: a mapping overrides files and the environment, a Settings replaces them.
    """
    merged = with_model(settings, model)
    flags = None if isinstance(merged, Settings) else merged
    if not isinstance(merged, Settings):
        paths = Paths.of(Path(workspace), os.environ)
        trusted = is_trusted(paths)
        merged = batch_settings(resolve(merged or {}, os.environ, paths.workspace, paths.user_config, trusted=trusted))
    chosen = [_variant(name, given) for name, given in variants.items()] if isinstance(variants, Mapping) else variants
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


def _variant(name: str, given: Mapping[str, Any]) -> Variant:
    return Variant(
        name, {key: value for key, value in given.items() if key != "skills"}, tuple(given.get("skills", ()))
    )
