"""Goals that need the web are told so where a run has none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from goalwright.runs.runtime import Goalwright
from goalwright.settings.settings import Settings
from goalwright_planner.events import Warned
from tests.fakes import Recorder, ScriptedModel
from tests.goalwright.recorded import answering

if TYPE_CHECKING:
    from pathlib import Path


async def warned(workspace: Path, goal: str, allow: tuple[str, ...] = ()) -> list[str]:
    model, record = ScriptedModel(answering), Recorder()
    async with Goalwright(workspace, Settings(model="m", allow_web=allow), open_model=lambda _: model) as goalwright:
        await goalwright.run(goal, record=record)
    return [event.message for event in record.events if isinstance(event, Warned) and "web access" in event.message]


@pytest.mark.parametrize(
    ("goal", "said"),
    [
        ("What is the weather in Lisbon tomorrow?", "the goal asks for current data (weather)"),
        ("Show the latest Bitcoin\n prices", "the goal asks for current data (bitcoin prices)"),
        ("Summarise https://Example.org/a?b=1.", "names example.org"),
    ],
)
async def test_goals_that_need_the_web_cause_a_warning(workspace: Path, goal: str, said: str) -> None:
    (message,) = await warned(workspace, goal)
    assert said in message
    assert "allow_web" in message
    assert not await warned(workspace, goal, allow=("example.org",))


@pytest.mark.parametrize(
    "goal", ["Explain how weather forecasts work", "Plan my day today", "Write a news article about a lost cat"]
)
async def test_other_goals_cause_no_warning(workspace: Path, goal: str) -> None:
    assert not await warned(workspace, goal)
