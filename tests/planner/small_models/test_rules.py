"""Plans without a model: one task for one thing, or one for each part."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from goalwright_planner.plan.known import Known
from goalwright_planner.plan.validate import problems
from goalwright_planner.prompting.profile import FULL, profile_of, profiles
from goalwright_planner.small_models.rules import PlannedGoal, plan_by_rule

if TYPE_CHECKING:
    from goalwright_planner.plan.plan import Plan

SMALL = profiles()["small"]
PLANNER = profiles()["small-planner"]
LISTED = "Write a haiku, explain DNS, then write a page from both"


def skill_for(text: str) -> str | None:
    return next((name for word, name in {"haiku": "poetry", "DNS": "networks"}.items() if word in text), None)


def plan(goal: PlannedGoal, max_tasks: int = 20) -> Plan:
    made = plan_by_rule(goal, SMALL, max_tasks)
    assert made is not None
    assert problems(made.plan.to_dict(), Known(["poetry", "networks", "best", "asked"])) == []
    return made.plan


def test_each_part_is_a_task_with_its_best_skill() -> None:
    tasks = plan(PlannedGoal(LISTED, "best", skill_for)).tasks
    assert [(task.id, task.action_type, task.name, task.depends_on) for task in tasks] == [
        ("t1", "skill", "poetry", ()),
        ("t2", "skill", "networks", ()),
        ("t3", "llm", None, ("t1", "t2")),
    ]
    assert [task.instruction for task in tasks] == ["Write a haiku.", "Explain DNS.", "Write a page from both."]


def test_single_request_is_one_task_with_whole_goal_and_best_skill() -> None:
    (task,) = plan(PlannedGoal("  Write a haiku about rain\n", "best", skill_for)).tasks
    assert (task.name, task.instruction, task.title) == ("best", "Write a haiku about rain", "Write a haiku about rain")
    (task,) = plan(PlannedGoal("Write a haiku about rain")).tasks
    assert (task.action_type, task.name) == ("llm", None)


def test_goal_without_clear_parts_is_one_task_for_models_that_do_not_plan() -> None:
    goal = "Write a story about a cat, a dog and a mouse"
    (task,) = plan(PlannedGoal(goal)).tasks
    assert task.instruction == goal
    assert plan_by_rule(PlannedGoal(goal), PLANNER, 20) is None


def test_asked_skills_are_used() -> None:
    names = [task.name for task in plan(PlannedGoal(LISTED, "asked", skill_for, ("asked",))).tasks]
    assert names == ["poetry", "networks", "asked"]
    both = "Write a haiku and explain DNS"
    assert [task.name for task in plan(PlannedGoal(both, "asked", skill_for, ("asked",))).tasks] == [
        "asked",
        "networks",
    ]


def test_notes_are_added_to_every_instruction() -> None:
    tasks = plan(PlannedGoal(LISTED, notes=("Note: in German",))).tasks
    assert all(task.instruction.endswith("Note: in German") for task in tasks)


def test_more_parts_than_max_tasks_are_one_task() -> None:
    (task,) = plan(PlannedGoal(LISTED), max_tasks=2).tasks
    assert task.instruction == LISTED


def test_planning_model_is_asked_unless_parts_are_certain() -> None:
    assert plan_by_rule(PlannedGoal("Write a poem about tea and a song about rain"), PLANNER, 20) is None
    assert plan_by_rule(PlannedGoal("Explain how tides work"), PLANNER, 20) is not None
    made = plan_by_rule(PlannedGoal(LISTED), PLANNER, 20)
    assert made is not None
    assert made.plan == plan(PlannedGoal(LISTED))
    assert plan_by_rule(PlannedGoal(LISTED), FULL, 20) is None
    assert plan_by_rule(PlannedGoal("Explain how tides work"), FULL, 20) is None


@pytest.mark.parametrize(
    ("model", "plans"),
    [("ollama/qwen2.5:0.5b", False), ("ollama_chat/gemma3:270m", False), ("ollama/qwen2.5:1.5b", True)],
)
def test_model_size_decides_whether_it_plans(model: str, plans: bool) -> None:
    assert profile_of(model) == (PLANNER if plans else SMALL)
    alike = replace(PLANNER, name="small", parts_by_rule=True, candidates=None)
    assert replace(alike, function_candidates=None, tool_candidates=None) == SMALL
