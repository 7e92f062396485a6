"""Judges that are given up: what was paid for is on record all the same."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from goalwright import BatchOptions, Goalwright
from goalwright.evaluation.case_files import read_cases
from goalwright.evaluation.judge import Judge
from goalwright.evaluation.scoring import ScoredRun, judging
from goalwright.settings.settings import Settings
from tests.evaluated import answering, is_judge

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from goalwright_planner.events import AnswerJudged
    from tests.openai_server import OpenAIServer, Script

pytestmark = pytest.mark.slow

MODEL = "openai/test-model"


async def test_reply_of_a_cancelled_question_is_recorded(
    workspace: Path, serve: Callable[[Script], OpenAIServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(answering(lambda goal, _: f"Dear Ann, about: {goal}"))
    async with Goalwright(workspace, {"model": MODEL}) as goalwright:
        run = await goalwright.run("Write a letter")
    (case,) = read_cases([{"id": "a", "goal": "Write a letter", "expectations": ["It is kind"]}])
    wanted = [ScoredRun(case, "all", 1, run.run_id)]
    arrived, on = asyncio.Event(), asyncio.Event()
    record = Judge._record

    async def held(judge: Judge, run_id: str, event: AnswerJudged) -> None:
        arrived.set()
        await on.wait()
        await record(judge, run_id, event)

    monkeypatch.setattr(Judge, "_record", held)
    async with judging(workspace, Settings(model=MODEL), BatchOptions()) as (scorer, _):
        work = asyncio.ensure_future(scorer.score_all(wanted))
        await arrived.wait()
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        on.set()
    async with judging(workspace, Settings(model=MODEL), BatchOptions()) as (scorer, judge):
        (score,) = await scorer.score_all(wanted)
    assert (score.passed, judge.usage.calls, sum(map(is_judge, server.calls))) == (True, 0, 1)
