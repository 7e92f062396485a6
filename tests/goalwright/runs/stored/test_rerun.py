"""A part of a run anew: upstream reused, the rest executed."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from goalwright.runs.goal import Goal
from goalwright.runs.runtime import Goalwright
from goalwright.settings.settings import Settings
from goalwright_planner.events import TaskReused
from goalwright_planner.plan.plan import Plan
from goalwright_skills.errors import InputError
from tests.fakes import Recorder, ScriptedModel
from tests.goalwright.recorded import GOAL, PLAN, SKILL, answering, goalwright, prepare, replayed, rows, store

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
async def parent(workspace: Path) -> str:
    prepare(workspace)
    async with goalwright(workspace, ScriptedModel(answering)) as runtime:
        return (await runtime.run(GOAL)).run_id


async def test_upstream_results_are_reused(workspace: Path, parent: str) -> None:
    model = ScriptedModel(answering)
    async with goalwright(workspace, model) as runtime:
        division = runtime.plan_rerun(parent, ["brief"], {})
        assert (list(division.reused), division.executed) == (["survey", "notes"], ("brief",))
        result = await runtime.rerun(parent, division)
    assert [request.task for request in model.asked] == ["brief", None]
    assert result.run_id != parent
    assert result.usage.calls == 2
    assert {task.id: (task.status, task.attempts) for task in result.tasks} == {
        "survey": ("done", 0), "notes": ("done", 0), "brief": ("done", 1),
    }  # fmt: skip
    opened = store(workspace)
    assert opened.find(result.run_id).parent == parent
    opened.close()
    assert (await replayed(workspace, rows(workspace, result.run_id))).drift == ()


async def test_an_output_may_come_from_a_file(workspace: Path, parent: str) -> None:
    model = ScriptedModel(answering)
    async with goalwright(workspace, model) as runtime:
        division = runtime.plan_rerun(parent, [], {"survey": "by hand"})
        result = await runtime.rerun(parent, division)
    assert {task.id: task.output for task in result.tasks}["brief"] == "brief did: Brief: by hand"
    assert "by hand" in model.asked[0].messages[1].content


async def test_a_skill_can_be_replaced_by_a_file(workspace: Path, parent: str, tmp_path: Path) -> None:
    draft = tmp_path / "draft"
    draft.mkdir()
    (draft / "SKILL.md").write_text(
        "---\nname: tabulating-endpoints\ndescription: New.\n---\nDo it anew.", encoding="utf-8"
    )
    model = ScriptedModel(answering)
    settings = Settings(model="scripted")
    async with Goalwright(workspace, settings, open_model=lambda _: model, use={SKILL: draft}) as runtime:
        await runtime.rerun(parent, runtime.plan_rerun(parent, ["survey"], {}))
    assert "Do it anew." in model.asked[0].messages[0].content
    assert f"Base directory for this skill: {draft}" in model.asked[0].messages[0].content
    assert (await replayed(workspace, rows(workspace))).drift == ()
    (draft / "SKILL.md").rename(tmp_path / "elsewhere.md")
    drift = (await replayed(workspace, rows(workspace))).drift
    assert (drift[0].where, SKILL in drift[0].what) == ("skills", True)
    (tmp_path / "elsewhere.md").rename(draft / "SKILL.md")


async def test_a_stopped_rerun_keeps_reused_results_on_resume(workspace: Path, parent: str) -> None:
    async with goalwright(workspace, ScriptedModel(answering), max_tokens=1) as runtime:
        stopped = await runtime.rerun(parent, runtime.plan_rerun(parent, ["brief"], {}))
    async with goalwright(workspace, ScriptedModel(answering)) as runtime:
        result = await runtime.resume(stopped.run_id)
    assert result.status == "done"


@pytest.mark.parametrize("last", ["run_started", "skills_selected", "plan_made", "task_reused"])
async def test_a_rerun_killed_at_its_start_can_be_resumed(workspace: Path, parent: str, last: str) -> None:
    async with goalwright(workspace, ScriptedModel(answering)) as runtime:
        child = (await runtime.rerun(parent, runtime.plan_rerun(parent, [], {"survey": "by hand"}))).run_id
    cut_after(workspace, child, last)
    model, seen = ScriptedModel(answering), Recorder()
    async with goalwright(workspace, model) as runtime:
        result = await runtime.resume(child, record=seen)
    assert [request.task for request in model.asked] == ["brief", None]
    assert {task.id: (task.status, task.output) for task in result.tasks}["survey"] == ("done", "by hand")
    assert {task.id: task.output for task in result.tasks}["brief"] == "brief did: Brief: by hand"
    reused = [row.body["task"] for row in rows(workspace, child) if row.type == "task_reused"]
    assert reused == ["survey", "notes"]
    assert [event.task for event in seen.events if isinstance(event, TaskReused)] == ["survey", "notes"]


async def test_a_given_plan_is_resumed_even_if_the_run_ended_before_planning(workspace: Path) -> None:
    prepare(workspace)
    async with goalwright(workspace, ScriptedModel(answering)) as runtime:
        run = (await runtime.run(Goal(GOAL, plan=Plan.from_dict(PLAN)))).run_id
    cut_after(workspace, run, "run_started")
    model = ScriptedModel(answering)
    async with goalwright(workspace, model) as runtime:
        assert (await runtime.resume(run)).status == "done"
    assert "decomposer" not in {request.role for request in model.asked}


def cut_after(workspace: Path, run_id: str, last: str) -> None:
    """Leave of a run what a kill after its first event of a type leaves."""
    seq = next(row.seq for row in rows(workspace, run_id) if row.type == last)
    with closing(sqlite3.connect(workspace / ".agents" / "journal.sqlite")) as database, database:
        run = "(SELECT id FROM runs WHERE run_id = ?)"
        database.execute(f"DELETE FROM events WHERE run = {run} AND seq > ?", (run_id, seq))  # noqa: S608 - no input
        database.execute("UPDATE runs SET status = 'running' WHERE run_id = ?", (run_id,))


async def test_unknown_tasks_are_refused(workspace: Path, parent: str) -> None:
    async with goalwright(workspace, ScriptedModel(answering)) as runtime:
        with pytest.raises(InputError, match=r"no task 'brif'.*brief"):
            runtime.plan_rerun(parent, ["brif"], {})


async def test_unknown_skills_cannot_be_replaced(workspace: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no SKILL.md"):
        Goalwright(workspace, Settings(), use={"cataloging-apis": tmp_path / "nowhere"})
