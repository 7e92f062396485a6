"""A run's listing and trace say what its skills need and tasks do not have."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from goalwright.runs.goal import Goal
from goalwright.workspace.run_capabilities import capabilities
from goalwright_planner.events import Warned
from goalwright_planner.model import Reply, Request
from goalwright_planner.plan.plan import Plan
from goalwright_skills.programs.manifest import Manifest
from goalwright_skills.tools.parameter import Parameter
from tests.conftest import add_skill
from tests.fakes import Recorder, ScriptedModel
from tests.goalwright.recorded import answering, goalwright, replayed, rows

GOAL = "Extract the table of prices from https://example.com"
FETCHING = """---
name: reading-prices
description: Extract prices and tables from pages. Use when asked for the prices on a page.
allowed-tools: Read WebFetch
---
Read the page, then write the table.
"""
TASK = {"id": "prices", "action_type": "skill", "name": "reading-prices", "instruction": "Extract the prices"}
PLAN = {"tasks": [TASK, {**TASK, "id": "more"}], "synthesis": "short"}
NOTE = "<needs>web access: not available</needs>"
URL = (Parameter("url", "string", "The address."),)


def planning(request: Request) -> Reply:
    return Reply(json.dumps(PLAN)) if request.role == "decomposer" else answering(request)


@pytest.fixture(autouse=True)
def skill(workspace: Path) -> None:
    add_skill(workspace, "reading-prices", FETCHING)


def warned(record: Recorder) -> list[str]:
    return [event.message for event in record.events if isinstance(event, Warned) and "needs" in event.message]


async def test_an_unmet_need_is_in_the_prompt_and_warned_about_once(workspace: Path) -> None:
    model, record = ScriptedModel(planning), Recorder()
    async with goalwright(workspace, model) as runtime:
        assert (await runtime.run(GOAL, record=record)).status == "done"
    system = model.asked[0].messages[0].content
    assert NOTE in system.partition("<name>reading-prices</name>")[2].partition("</skill>")[0]
    assert "If it is not available" in system
    assert NOTE in str(next(tool for tool in model.asked[1].tools if "Skill" in str(tool)))
    (message,) = warned(record)
    assert message.startswith("the plan uses the skill 'reading-prices', which needs web access, but tasks do not")
    assert (await replayed(workspace, rows(workspace))).drift == ()


async def test_a_given_plan_with_an_unmet_need_causes_a_warning(workspace: Path) -> None:
    goal, record = Goal(GOAL, plan=Plan.from_dict(PLAN)), Recorder()
    async with goalwright(workspace, ScriptedModel(planning)) as runtime:
        assert len((await runtime.preview(goal)).warnings) == 1
        assert (await runtime.run(goal, record=record)).status == "done"
    assert len(warned(record)) == 1


async def test_a_resumed_run_does_not_warn_again(workspace: Path) -> None:
    async with goalwright(workspace, ScriptedModel(planning), max_tokens=1) as runtime:
        stopped = await runtime.run(Goal(GOAL, plan=Plan.from_dict(PLAN)))
    record = Recorder()
    async with goalwright(workspace, ScriptedModel(planning)) as runtime:
        assert (await runtime.resume(stopped.run_id, record=record)).status == "done"
    assert warned(record) == []


def test_a_tool_that_takes_an_address_and_has_the_network_gives_web_access() -> None:
    tool = Manifest("page_read", "Read a page.", "python", "main.py", Path("/t"), URL)
    assert capabilities([tool], []) == frozenset()
    assert capabilities([replace(tool, network=True)], []) == {"web access"}
    assert capabilities([replace(tool, network=True, parameters=())], []) == frozenset()
