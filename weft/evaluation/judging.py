"""A scorer with a judge, within limits, for the length of a block."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from weft.batch.engines.in_process import InProcess
from weft.evaluation.checks.command_check import CommandCheck
from weft.evaluation.judge import Judge, judge_settings
from weft.evaluation.scoring import RunScorer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from weft.batch.options import BatchOptions
    from weft.models.budget import Budget
    from weft.settings.settings import Settings


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
    weft = engine.runtime()
    chosen, _ = judge_settings(weft.models.settings(), judge)
    asked = Judge(weft, chosen, engine.budget)
    scorer = RunScorer(weft, asked, CommandCheck(weft))
    try:
        yield scorer, asked
    finally:
        scorer.matcher.close()
        await asked.settle()
        await engine.close()
