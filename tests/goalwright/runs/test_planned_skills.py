"""A run of a given plan takes the skills that the plan names; nothing is selected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from goalwright.batch.goals import BatchGoal
from goalwright.batch.preview import preview
from goalwright.interfaces.cli.view.event_text import describe
from goalwright.runs.goal import Goal
from goalwright.settings.paths import Paths
from goalwright.settings.settings import Settings
from goalwright.traces.reselect import reselect
from goalwright.workspace.workspace import Workspace
from goalwright_planner.events import CatalogueTaken, SkillsSelected
from goalwright_planner.plan.plan import Plan
from tests.fakes import Recorder, ScriptedModel
from tests.goalwright.recorded import GOAL, NOTES, SKILL, SURVEY, answering, goalwright, prepare, replayed, rows

if TYPE_CHECKING:
    from pathlib import Path

OTHER = {"id": "other", "action_type": "skill", "name": "cataloging-apis", "instruction": "List more"}
UNRELATED = "Bake a sourdough loaf"


@pytest.fixture(autouse=True)
def skill(workspace: Path) -> None:
    prepare(workspace)


def planned(*tasks: dict[str, Any], text: str = UNRELATED, **more: Any) -> Goal:
    return Goal(text, plan=Plan.from_dict({"tasks": list(tasks), "synthesis": "short"}), **more)


async def test_the_skills_are_those_of_the_plan_in_plan_order(workspace: Path) -> None:
    record = Recorder()
    async with goalwright(workspace, ScriptedModel(answering)) as runtime:
        goal = planned(SURVEY, NOTES, OTHER, {**SURVEY, "id": "again"})
        result = await runtime.run(goal, record=record)
    assert (result.status, result.skills) == ("done", (SKILL, "cataloging-apis"))
    (selected,) = record.of(SkillsSelected)
    assert isinstance(selected, SkillsSelected)
    assert selected.detector == "plan"
    assert {one.reason for one in selected.selections} == {"the plan names it"}
    assert describe(selected) == f"skills of the plan: {SKILL}, cataloging-apis"
    (taken,) = record.of(CatalogueTaken)
    assert isinstance(taken, CatalogueTaken)
    assert taken.skill_listing.index(SKILL) < taken.skill_listing.index("<name>cataloging-apis</name>")
    assert taken.skill_listing.count("<selected>true</selected>") == 2
    assert (await replayed(workspace, rows(workspace))).drift == ()


async def test_no_model_is_asked_to_select_for_a_plan(workspace: Path) -> None:
    model = ScriptedModel(answering)
    async with goalwright(workspace, model, detector="llm") as runtime:
        assert (await runtime.run(planned(SURVEY))).skills == (SKILL,)
        seen = await runtime.preview(planned(SURVEY))
    assert {request.role for request in model.asked} == {"task", "synthesis"}
    assert ([one.name for one in seen.selections], "to select" in seen.calls) == ([SKILL], False)


async def test_a_skill_asked_for_beside_the_plan_counts_too(workspace: Path) -> None:
    async with goalwright(workspace, ScriptedModel(answering)) as runtime:
        result = await runtime.run(planned(SURVEY, skills=("cataloging-apis",)))
    assert set(result.skills) == {SKILL, "cataloging-apis"}


async def test_a_plan_that_names_no_skill_leaves_the_selection_to_the_detector(workspace: Path) -> None:
    async with goalwright(workspace, ScriptedModel(answering)) as runtime:
        assert SKILL in (await runtime.run(planned(NOTES, text=GOAL))).skills


async def test_a_rerun_has_the_skills_of_its_plan(workspace: Path) -> None:
    async with goalwright(workspace, ScriptedModel(answering)) as runtime:
        first = await runtime.run(GOAL)
        again = await runtime.rerun(first.run_id, runtime.plan_rerun(first.run_id, ["brief"], {}))
    assert again.skills == (SKILL,)
    assert (await replayed(workspace, rows(workspace, again.run_id))).drift == ()


async def test_a_stopped_run_is_resumed_with_the_skills_of_its_plan(workspace: Path) -> None:
    async with goalwright(workspace, ScriptedModel(answering), max_tokens=1) as runtime:
        stopped = await runtime.run(planned(SURVEY, NOTES))
    async with goalwright(workspace, ScriptedModel(answering)) as runtime:
        result = await runtime.resume(stopped.run_id)
    assert (result.status, result.skills) == ("done", (SKILL,))


async def test_a_selection_is_not_compared_where_a_plan_named_the_skills(workspace: Path) -> None:
    async with goalwright(workspace, ScriptedModel(answering)) as runtime:
        await runtime.run(planned(SURVEY))
        planned_rows = rows(workspace)
        await runtime.run(GOAL)
    here = Workspace(Paths.of(workspace, {}), Settings())
    assert [one.goal for one in reselect([planned_rows, rows(workspace)], here)] == [GOAL]


def test_a_batch_preview_counts_the_skills_of_plans(workspace: Path) -> None:
    plan = {"tasks": [SURVEY, OTHER]}
    goals = [BatchGoal("a", 1, UNRELATED, plan=plan), BatchGoal("b", 2, UNRELATED)]
    seen = preview(goals, Workspace(Paths.of(workspace, {}), Settings()).skills)
    assert (seen.without_skill, seen.skills) == (1, {SKILL: 1, "cataloging-apis": 1})
