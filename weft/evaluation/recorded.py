"""Scores runs that are on record."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from weft.evaluation import store
from weft.evaluation.case_files import read_cases, with_stdin
from weft.evaluation.checks.command_check import check_trust
from weft.evaluation.evaluate import EvaluationOptions, named
from weft.evaluation.judging import judging
from weft.evaluation.report import EvaluationReport, JudgeFigures, VariantFigures, left_out
from weft.evaluation.scoring import ScoredRun
from weft.evaluation.variant import ONLY
from weft.runs.stored import records
from weft_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from weft.evaluation.case import Case
    from weft.evaluation.case_files import Source
    from weft.settings.settings import Settings
    from weft_executor.stores.row import RunSummary


async def score_runs(
    sources: Sequence[Source],
    runs: Sequence[str],
    *,
    workspace: Path,
    settings: Settings,
    options: EvaluationOptions | None = None,
    judged: bool = False,
) -> EvaluationReport:
    """Score runs, each by the case that has its goal. Unless `judged`, no model is asked anything.

    What a judge said of a run before is taken from its record.
    """
    sources = with_stdin(sources)
    options, cases = options or EvaluationOptions(), read_cases(sources)
    async with judging(workspace, settings, options.batch, judge=options.judge) as (scorer, judge):
        weft = scorer.weft
        check_trust(cases, weft, trust=options.trust)
        wanted = _matched(cases, [records.local_summary(weft.journal.store.find(run), weft.paths) for run in runs])
        scores = await (scorer if judged else replace(scorer, judge=None)).score_all(wanted)
        figures = JudgeFigures(judge.model.name, judge.usage.calls, judge.cost) if judged else None
    folder, variants = store.new_evaluation(workspace), (VariantFigures.of(ONLY.name, scores),)
    warnings = () if judged else left_out(cases)
    count = len({run.case.id for run in wanted})
    report = EvaluationReport(folder.id, count, variants, (), tuple(scores), figures, warnings=warnings)
    folder.begin({"sources": named(sources), "variants": [], "cases": [case.to_dict() for case in cases]})
    folder.end(report.to_dict())
    return report


def _matched(cases: Sequence[Case], runs: Sequence[RunSummary]) -> list[ScoredRun]:
    """The runs with their cases: by the goal's text, or by the id of a batch's goal."""
    by_goal = {case.goal: case for case in cases}
    by_id = {case.id: case for case in cases}
    times: dict[str, int] = {}
    found: list[ScoredRun] = []
    for run in runs:
        case = by_goal.get(run.goal) or by_id.get((run.batch_goal or "").rpartition("@")[0])
        if case is None:
            raise InputError(
                f"no case has the goal of run {run.run_id}: {run.goal[:100]!r}",
                hint="name the file with its case in --cases, or leave the run out",
            )
        times[case.id] = times.get(case.id, 0) + 1
        found.append(ScoredRun(case, ONLY.name, times[case.id], run.run_id))
    return found
