"""Scores recorded runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from goalwright.evaluation import store
from goalwright.evaluation.case_files import read_cases, with_stdin
from goalwright.evaluation.checks.command_check import check_trust
from goalwright.evaluation.errors import JudgeFailed
from goalwright.evaluation.evaluate import EvaluationOptions, source_names
from goalwright.evaluation.report import EvaluationReport, JudgeFigures, VariantFigures, left_out, without_verdict
from goalwright.evaluation.scoring import ScoredRun, judging
from goalwright.evaluation.trials import ONLY
from goalwright.runs.stored import records
from goalwright_planner.errors import ModelError
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from goalwright.evaluation.case import Case
    from goalwright.evaluation.case_files import Source
    from goalwright.settings.settings import Settings
    from goalwright_executor.stores.row import RunSummary


async def score_runs(
    sources: Sequence[Source],
    runs: Sequence[str],
    *,
    workspace: Path,
    settings: Settings,
    options: EvaluationOptions | None = None,
    judged: bool = False,
) -> EvaluationReport:
    """Score runs, each by the case with its goal; no model is called unless `judged`, and verdicts are reused."""
    sources = with_stdin(sources)
    options, cases = options or EvaluationOptions(), read_cases(sources)
    async with judging(workspace, settings, options.batch, judge=options.judge) as (scorer, judge):
        goalwright = scorer.goalwright
        check_trust(cases, goalwright, trust=options.trust)
        summaries = [records.local_summary(goalwright.journal.store.find(run), goalwright.paths) for run in runs]
        matched = _match(cases, summaries)
        try:
            scores = await (scorer if judged else replace(scorer, judge=None)).score_all(matched)
            judge.check_verdicts()
        except ModelError as error:
            raise JudgeFailed(error) from error
        figures = JudgeFigures(judge.model.name, judge.usage.calls, judge.cost) if judged else None
    folder, variants = store.new_evaluation(workspace), (VariantFigures.of(ONLY.name, scores),)
    warnings = without_verdict(judge.refused) if judged else left_out(cases)
    count = len({run.case.id for run in matched})
    report = EvaluationReport(folder.id, count, variants, (), tuple(scores), figures, warnings=warnings)
    folder.begin({"sources": source_names(sources), "variants": [], "cases": [case.to_dict() for case in cases]})
    folder.end(report.to_dict())
    return report


def _match(cases: Sequence[Case], runs: Sequence[RunSummary]) -> list[ScoredRun]:
    """Find the case of each run."""
    by_goal: dict[str, list[Case]] = {}
    for case in cases:
        by_goal.setdefault(case.goal, []).append(case)
    by_id = {case.id: case for case in cases}
    repeats: dict[str, int] = {}
    matched: list[ScoredRun] = []
    for run in runs:
        case = _case_of(run, by_goal.get(run.goal, []), by_id)
        repeats[case.id] = repeats.get(case.id, 0) + 1
        matched.append(ScoredRun(case, ONLY.name, repeats[case.id], run.run_id))
    return matched


def _case_of(run: RunSummary, same_goal: Sequence[Case], by_id: Mapping[str, Case]) -> Case:
    """Find the case of a run by its goal; if that is ambiguous, by the id that its batch recorded.

    Evaluations append the variant and the repeat to the id. The goal comes first because case files can share ids.
    """
    goal_id = run.batch_goal or ""
    recorded = next(filter(None, map(by_id.get, (goal_id, goal_id.rpartition("@")[0]))), None)
    if recorded is not None and (recorded in same_goal or not same_goal):
        return recorded
    if len(same_goal) == 1:
        return same_goal[0]
    if same_goal:
        names = ", ".join(repr(case.id) for case in same_goal)
        raise InputError(
            f"the goal of run {run.run_id} matches several cases: {names}",
            hint="leave only one of them in the case files",
        )
    raise InputError(
        f"no case has the goal of run {run.run_id}: {run.goal[:100]!r}",
        hint="add the file with its case, or leave the run out",
    )
