"""From a goal to a plan in as few calls as possible, at most three."""

from __future__ import annotations

import json

import pytest

from goalwright_planner.decompose.brief import Brief
from goalwright_planner.decompose.decompose import decompose
from goalwright_planner.decompose.prompt import messages
from goalwright_planner.errors import PlanError
from goalwright_planner.events import PlanMade, PlanRefused, PromptMade
from goalwright_planner.model import Reply
from goalwright_planner.plan.known import Known
from goalwright_planner.prompting.prompts import Prompts
from tests.fakes import Recorder, ScriptedModel, saying

GOOD = json.dumps({"tasks": [{"id": "a", "action_type": "llm", "instruction": "do", "depends_on": []}]})
DANGLING = GOOD.replace('"depends_on": []', '"depends_on": ["z"]')
BRIEF = Brief(
    "reach the moon",
    "<available_skills/>",
    "<available_tools/>",
    "Sunday",
    Known(["s"]),
    files=("notes.md",),
    answers=("blue",),
)


async def plan_with(model: ScriptedModel) -> Recorder:
    record = Recorder()
    await decompose(BRIEF, model, Prompts(), record)
    return record


async def test_valid_plan_takes_one_call() -> None:
    model = saying(GOOD)
    record = await plan_with(model)
    assert len(model.asked) == 1
    assert model.asked[0].schema is not None
    assert [type(event) for event in record.events] == [PromptMade, PlanMade]


async def test_invalid_plan_is_asked_again_with_all_faults_and_previous_answer() -> None:
    model = saying(DANGLING, GOOD)
    record = await plan_with(model)
    first, second = model.asked
    assert second.messages[: len(first.messages)] == first.messages
    assert second.messages[-2].content == DANGLING
    assert "task 'a' depends on 'z', which is not in the plan" in second.messages[-1].content
    assert len(record.of(PlanRefused)) == 1


async def test_a_truncated_answer_is_asked_again_even_if_it_would_parse() -> None:
    model = saying(Reply(GOOD, finish="length"), GOOD)
    await plan_with(model)
    assert "cut off" in model.asked[1].messages[-1].content


async def test_planning_gives_up_after_three_attempts() -> None:
    model = saying("I would rather talk.")
    with pytest.raises(PlanError, match="no valid plan in 3 attempts") as caught:
        await plan_with(model)
    assert len(model.asked) == 3
    assert caught.value.faults
    assert "choose a stronger model" in caught.value.hint


async def test_an_empty_answer_is_asked_again() -> None:
    model = saying("", GOOD)
    await plan_with(model)
    assert model.asked[1].messages[-2].content == "(an empty answer)"


@pytest.mark.parametrize("text", [json.dumps(json.loads(GOOD)["tasks"]), json.dumps({"plan": json.loads(GOOD)})])
async def test_a_bare_list_or_a_wrapped_plan_is_understood(text: str) -> None:
    model = saying(text)
    await plan_with(model)
    assert len(model.asked) == 1


async def test_a_question_ends_planning() -> None:
    record = Recorder()
    plan = await decompose(BRIEF, saying('{"tasks": [], "clarification": "Which one?"}'), Prompts(), record)
    assert (plan.tasks, plan.clarification) == ((), "Which one?")


def test_prompt_contains_goal_skills_tools_date_files_and_answers() -> None:
    system, user = messages(BRIEF, Prompts())
    for text in ("<available_skills/>", "<available_tools/>", "Sunday", "<<id.output>>"):
        assert text in system.content
    for text in ("reach the moon", "notes.md", "blue"):
        assert text in user.content
    assert "reach the moon" not in system.content
