"""Profiles: small models get short prompts and plans that cannot be wrong."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from goalwright_planner.decompose.brief import Brief
from goalwright_planner.decompose.decompose import decompose
from goalwright_planner.decompose.prompt import messages
from goalwright_planner.events import PlanMade, Warned
from goalwright_planner.plan.known import Known
from goalwright_planner.plan.validate import problems
from goalwright_planner.prompting.profile import FULL, profile_of, profiles
from goalwright_planner.prompting.prompts import Prompts
from goalwright_planner.reading.shape import SHAPES, AskedPlan, listed
from goalwright_planner.small_models.skill_digest import SkillDigest, digest
from tests.fakes import Recorder, saying

SMALL = profiles()["small"]
PLANNER = profiles()["small-planner"]
GOAL = "Describe the API"


def brief(goal: str = GOAL, *names: str) -> Brief:
    return Brief(goal, "<available_skills/>", "", "today", Known(names), names, profile=PLANNER)


def test_example_plans_fit_the_schema() -> None:
    assert [len(SMALL.shape.widen(json.loads(example.plan))["tasks"]) for example in SMALL.examples] == [
        1,
        4,
        2,
        2,
        3,
        4,
        4,
        3,
        4,
    ]


def test_the_goal_comes_last_with_the_best_skills_only() -> None:
    sent = messages(brief(GOAL, "a", "b", "c", "d"), Prompts())
    assert [message.role for message in sent] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert sent[-1].content == "Goal: Describe the API\nSkills: a, b, c"
    assert messages(brief(), Prompts())[-1].content.endswith("Skills: none")


@pytest.mark.parametrize(
    ("goal", "most"),
    [
        ("Write API documentation for GET /todos and POST /todos", 2),
        ("Describe the API, then write its changelog", 2),
        ("Compare tea, coffee and juice", 3),
        ("1. survey\n2. compare\n3. decide\n4. report\n5. rest", 4),
        ("", 1),
    ],
)
def test_schema_has_room_for_the_listed_things(goal: str, most: int) -> None:
    schema = SMALL.shape.schema(AskedPlan(goal, ["a"], 4))
    tasks = schema["properties"]["tasks"]
    assert (len(tasks["anyOf"]) if "anyOf" in tasks else 1) == most


def test_listed_counts_items() -> None:
    assert listed("- one thing") == 1
    assert listed("- one thing\n- another") == 2


async def test_numbered_plan_is_widened_to_full_plan() -> None:
    answer = '{"tasks":[{"id":"t1","use":"a","instruction":"Describe the API; errors included","depends_on":[]}]}'
    model = saying(answer)
    plan = await decompose(brief("Describe the API; errors included", "a"), model, Prompts(), Recorder())
    (task,) = plan.tasks
    assert (task.action_type, task.name, task.instruction) == ("skill", "a", "Describe the API; errors included")
    assert not plan.needs_synthesis
    assert model.asked[0].schema != FULL.shape.schema(AskedPlan(GOAL, ["a"], 3))


async def test_plan_by_rule_makes_no_call_and_records_the_rule() -> None:
    record, model = Recorder(), saying("never asked")
    small = replace(brief("Write a haiku and explain DNS", "a"), profile=SMALL, skill_for=lambda text: "a")
    plan = await decompose(small, model, Prompts(), record)
    assert [(task.id, task.name) for task in plan.tasks] == [("t1", "a"), ("t2", "a")]
    assert model.asked == []
    assert record.events == [PlanMade(plan, 0, rule="the goal lists 2 parts")]


async def test_lost_parts_are_put_back_and_reported() -> None:
    record = Recorder()
    answer = '{"tasks":[{"id":"t1","use":"no skill","instruction":"Write a haiku.","depends_on":[]}]}'
    plan = await decompose(brief("Write a haiku and explain DNS too"), saying(answer), Prompts(), record)
    assert [task.instruction for task in plan.tasks] == ["Write a haiku.", "Explain DNS too."]
    (made,) = record.of(PlanMade)
    assert isinstance(made, PlanMade)
    assert made.repairs == ("the plan left out 'DNS': it has one task for each part of the goal now",)
    assert "left out 'DNS'" in str(record.of(Warned))


@pytest.mark.parametrize(
    "document",
    [
        {"tasks": [{"id": "a", "action_type": "llm"}]},
        {"tasks": "x"},
        [],
        "x",
        {"tasks": [{"use": "a"}]},
        {"tasks": [3]},
    ],
)
def test_document_outside_numbered_schema_is_left_to_validation(document: object) -> None:
    assert isinstance(problems(SHAPES["numbered"].widen(document), Known(["a"])), list)


@pytest.mark.parametrize("name", ["ollama_chat/qwen3:4b", "ollama/gemma3:270m", "ollama_chat/llama3.2:1b-instruct"])
def test_small_models_on_other_servers_get_small_profile(name: str) -> None:
    assert profile_of(name) in (SMALL, PLANNER)


@pytest.mark.parametrize("name", ["gpt-6.1-sol", "ollama_chat/qwen3:32b", "claude-sonnet-5-5", "openai/some-1b"])
def test_large_models_and_unknown_sizes_get_full_profile(name: str) -> None:
    assert profile_of(name) is FULL


def test_instruction_equal_to_goal_is_shown_once() -> None:
    variables = {"goal": "Write notes", "instruction": "write notes.", "results": [], "title": "", "files": ()}
    once = Prompts().render("task-small", "user", variables)
    assert once.lower().count("write notes") == 1
    both = Prompts().render("task-small", "user", variables | {"instruction": "Find facts"})
    assert "Goal: Write notes\n\nYour task: Find facts" in both


def test_goal_with_material_is_shown_beside_instruction() -> None:
    given = {"instruction": "count the loans", "results": [], "title": "", "files": ()}
    shown = [
        Prompts().render("task-small", "user", given | {"goal": goal})
        for goal in ("Count the loans and the books", "Count the loans and the books of [3, 4, 5]")
    ]
    assert [text.strip() for text in shown] == [
        "count the loans",
        "Goal: Count the loans and the books of [3, 4, 5]\n\nYour task: count the loans",
    ]


def test_only_small_models_get_skill_without_template() -> None:
    skill = "Say it briefly.\n\n## Output\n\n```\n<Name>\n" + "row\n" * 1000
    assert digest(skill, SMALL.skill_characters).text == "Say it briefly."
    assert digest(skill, SMALL.skill_characters).left_out == ("Output",)
    assert digest(skill, FULL.skill_characters) == SkillDigest(skill)
    assert digest("short", SMALL.skill_characters) == SkillDigest("short")
