"""Scoring runs that are on record: many of them, without a call."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from goalwright import Goalwright, evaluate
from goalwright.evaluation.recorded import score_runs
from goalwright.settings.settings import Settings
from goalwright_executor.stores.row import Row
from goalwright_skills.errors import InputError
from tests.evaluated import answering

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.openai_server import OpenAIServer, Script

pytestmark = pytest.mark.slow

GOAL = "Write a letter to Ann"
MANY = 100


async def test_recorded_runs_are_scored_without_model_calls(
    tmp_path: Path, serve: Callable[[Script], OpenAIServer]
) -> None:
    server = serve(answering(lambda goal, _: f"Dear Ann, about: {goal}"))
    async with Goalwright(tmp_path, {"model": "openai/test-model"}) as goalwright:
        run = await goalwright.run(GOAL)
        store = goalwright.journal.store
        rows, summary = list(store.rows(run.run_id)), store.find(run.run_id)
        names = [f"{run.run_id}-{number}" for number in range(MANY)]
        copies = (
            ([Row(name, row.seq, row.at, row.type, row.body) for row in rows], {name: replace(summary, run_id=name)})
            for name in names
        )
        store.import_runs(copies)
    before = len(server.calls)
    case = {"id": "ann", "goal": GOAL, "checks": [{"contains": "Dear"}, {"max_calls": 5}], "expectations": ["Kind"]}
    report = await score_runs([case], names, workspace=tmp_path, settings=Settings())
    assert len(report.scores) == MANY
    assert {score.passed for score in report.scores} == {True}
    assert report.variants[0].calls == 2
    assert len(server.calls) == before


async def test_run_without_a_case_is_named(workspace: Path, serve: Callable[[Script], OpenAIServer]) -> None:
    serve(answering(lambda goal, _: goal))
    async with Goalwright(workspace, {"model": "openai/test-model"}) as goalwright:
        run = await goalwright.run(GOAL)
    case = {"id": "bob", "goal": "Write a letter to Bob", "checks": [{"contains": "Dear"}]}
    with pytest.raises(InputError, match=f"no case has the goal of run {run.run_id}"):
        await score_runs([case], [run.run_id], workspace=workspace, settings=Settings())


async def test_runs_of_cases_with_equal_goals_are_scored_by_their_own_case(
    workspace: Path, serve: Callable[[Script], OpenAIServer]
) -> None:
    serve(answering(lambda goal, _: f"Dear Ann, about: {goal}"))
    cases = [{"id": name, "goal": GOAL, "checks": [{"contains": name}]} for name in ("Dear", "Hello")]
    made = await evaluate(cases, model="openai/test-model", workspace=workspace)
    runs = [score.result.run_id for score in made.scores]
    report = await score_runs(cases, runs, workspace=workspace, settings=Settings())
    assert [(score.case, score.passed) for score in report.scores] == [("Dear", True), ("Hello", False)]
    other = await score_runs([cases[0] | {"id": "other"}], runs, workspace=workspace, settings=Settings())
    assert [(score.case, score.passed) for score in other.scores] == [("other", True)] * 2
    async with Goalwright(workspace, {"model": "openai/test-model"}) as goalwright:
        run = await goalwright.run(GOAL)
    with pytest.raises(InputError, match=f"the goal of run {run.run_id} matches several cases: 'Dear', 'Hello'"):
        await score_runs(cases, [run.run_id], workspace=workspace, settings=Settings())
