"""Skills that every plan must use: required of every answer, without exceptions."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from goalwright_planner.decompose.brief import Brief
from goalwright_planner.decompose.decompose import decompose
from goalwright_planner.decompose.required import Unused
from goalwright_planner.errors import PlanError, SkillNotUsed
from goalwright_planner.events import PlanMade, PlanRefused
from goalwright_planner.plan.known import Known
from goalwright_planner.prompting.profile import FULL
from goalwright_planner.prompting.prompts import Prompts
from tests.fakes import Recorder, ScriptedModel, saying

BRIEF = Brief("reach the moon", "", "", "Sunday", Known(["s", "t"]), names=("s",), certain=("s",), required=("s",))
WITHOUT: dict[str, Any] = {"tasks": [{"id": "a", "action_type": "llm", "instruction": "reach the moon"}]}
WITH: dict[str, Any] = {"tasks": [{"id": "a", "action_type": "skill", "name": "s", "instruction": "reach the moon"}]}


async def planned(brief: Brief, *answers: dict[str, Any] | str) -> tuple[Recorder, ScriptedModel]:
    record, model = Recorder(), saying(*(text if isinstance(text, str) else json.dumps(text) for text in answers))
    await decompose(brief, model, Prompts(), record)
    return record, model


async def test_reason_does_not_excuse_required_skill() -> None:
    excused = WITHOUT | {"unused": {"s": "it does not fit"}}
    record, model = await planned(BRIEF, excused, excused, WITH)
    assert len(model.asked) == 3
    assert [len(one.faults) for one in record.of(PlanRefused)] == [1, 1]
    assert record.of(PlanMade)[0].plan.tasks[0].name == "s"


CONDITION = '<<a.output>> contains "x"'


@pytest.mark.parametrize(
    ("tasks", "certain"),
    [
        ([{"id": "b", "when": CONDITION, "depends_on": ["a"]}], False),
        ([{"id": "c", "when": CONDITION, "depends_on": ["a"], "action_type": "llm"}, {"id": "b", "depends_on": ["c"]}],
         False),
        ([{"id": "c", "when": CONDITION, "depends_on": ["a"], "action_type": "llm"},
          {"id": "b", "depends_on": ["c", "a"]}], True),
        ([{"id": "b", "when": CONDITION, "depends_on": ["a"]}, {"id": "c", "depends_on": ["b", "a"]}], True),
        ([{"id": "b", "for_each": "<<a.output>>", "instruction": "Do <<item>>", "depends_on": ["a"]}], True),
    ],
)  # fmt: skip
async def test_conditional_task_does_not_count_for_required_skill(
    tasks: list[dict[str, Any]], *, certain: bool
) -> None:
    row = {"action_type": "skill", "name": "s", "instruction": "reach it"}
    first = {"tasks": [*WITHOUT["tasks"], *({**row, **task} for task in tasks)]}
    record, model = await planned(BRIEF, first, WITH)
    assert len(model.asked) == (1 if certain else 2)
    assert [one.faults for one in record.of(PlanRefused)] == (
        [] if certain else [(Unused("s", conditional=True).fault,)]
    )
    if not certain:
        with pytest.raises(SkillNotUsed, match="does not use the required skill 's' in every case"):
            await planned(BRIEF, first, first, first)


async def test_certain_skills_are_asked_for_together_with_required_skill() -> None:
    record, model = await planned(replace(BRIEF, names=("s", "t"), certain=("s", "t")), WITHOUT, WITH)
    assert len(model.asked) == 2
    (refused,) = record.of(PlanRefused)
    assert [fault.split(",")[0] for fault in refused.faults] == [
        "no task uses the skill 's'",
        "no task uses the skill 't'",
    ]
    assert "'unused'" in refused.faults[1]


async def test_faulty_plan_also_gets_fault_for_required_skill() -> None:
    broken = {"tasks": [WITHOUT["tasks"][0] | {"depends_on": ["nobody"]}], "unused": {"s": "it does not fit"}}
    record, _ = await planned(BRIEF, broken, WITH)
    (refused,) = record.of(PlanRefused)
    assert "which the user requires of every plan" in refused.faults[-1]
    assert "'unused'" not in refused.faults[-1]


async def test_error_names_required_skill_that_last_plan_left_out() -> None:
    with pytest.raises(SkillNotUsed, match="the last of 3 plans of scripted does not use the required skill 's'") as no:
        await planned(BRIEF, "no plan", WITHOUT, WITHOUT)
    assert "choose a stronger model" in no.value.message


async def test_other_faults_raise_plan_error() -> None:
    with pytest.raises(PlanError, match="gave no valid plan in 3 attempts") as caught:
        await planned(BRIEF, WITHOUT, WITHOUT, "no plan")
    assert not isinstance(caught.value, SkillNotUsed)


async def test_question_needs_no_required_skill() -> None:
    record, _ = await planned(BRIEF, {"tasks": [], "clarification": "Which moon?"})
    assert record.of(PlanMade)[0].plan.clarification == "Which moon?"


async def test_required_skill_left_out_twice_is_added_to_small_models_plan() -> None:
    small = replace(BRIEF, profile=replace(FULL, whole_goal=True))
    record, model = await planned(small, WITHOUT, WITHOUT)
    assert len(model.asked) == 2
    (made,) = record.of(PlanMade)
    assert (made.plan.tasks[0].name, "left out the skill 's'" in made.repairs[-1]) == ("s", True)


async def test_plan_by_rule_uses_required_skill_or_model_is_asked() -> None:
    ruled = replace(BRIEF, profile=replace(FULL, simple_by_rule=True), goal="Write a haiku")
    record, model = await planned(ruled, WITH)
    assert (model.asked, record.of(PlanMade)[0].plan.tasks[0].name) == ([], "s")
    both = {"tasks": [*WITH["tasks"], {"id": "b", "action_type": "skill", "name": "t", "instruction": "again"}]}
    record, model = await planned(replace(ruled, required=("s", "t")), both)
    assert (len(model.asked), len(record.of(PlanMade)[0].plan.tasks)) == (1, 2)
