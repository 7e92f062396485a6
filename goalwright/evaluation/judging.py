"""A scorer with a judge, within limits, for the length of a block."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from goalwright.batch.engines.in_process import InProcess
from goalwright.evaluation.checks.command_check import CommandCheck
from goalwright.evaluation.judge import Judge, judge_settings
from goalwright.evaluation.scoring import RunScorer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from goalwright.batch.options import BatchOptions
    from goalwright.models.budget import Budget
    from goalwright.settings.settings import Settings


@asynccontextmanager
async def judging(
    workspace: Path, settings: Settings, limits: BatchOptions, *, judge: str | None = None, after: Budget | None = None
) -> AsyncIterator[tuple[RunScorer, Judge]]:
    """A scorer and its judge, which makes its calls as a batch does: queued, limited in rate, within the budget.

    It comes `after` the runs, whose budget this was: what they spent counts.
    """
    engine = InProcess.of(workspace, settings, limits)
    if after is not None:
        engine.budget.cost, engine.budget.usage = after.cost, after.usage
    goalwright = engine.runtime()
    chosen, _ = judge_settings(goalwright.models.settings(), judge)
    asked = Judge(goalwright, chosen, engine.budget)
    scorer = RunScorer(goalwright, asked, CommandCheck(goalwright))
    try:
        yield scorer, asked
    finally:
        scorer.matcher.close()
        await asked.settle()
        await engine.close()
