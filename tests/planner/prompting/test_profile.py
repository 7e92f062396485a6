"""Profiles: small models get short prompts and plans that cannot be wrong."""

from __future__ import annotations

import json

import pytest

from planner.decompose.decompose import Brief, decompose, messages
from planner.plan.shape import SHAPES, parts, widen
from planner.plan.validate import Known, problems
from planner.prompting.profile import FULL, profile_of, profiles
from planner.prompting.prompts import Prompts
from tests.fakes import Recorder, saying

SMALL = profiles()["small"]
GOAL = "Describe the API"


def brief(goal: str = GOAL, *names: str) -> Brief:
    return Brief(goal, "<available_skills/>", "", "today", Known(names), names, profile=SMALL)


def test_the_examples_shown_to_the_model_are_plans_of_its_schema() -> None:
    assert [len(widen(json.loads(example.plan))["tasks"]) for example in SMALL.examples] == [1, 2]


def test_the_goal_comes_last_with_the_best_skills_only() -> None:
    sent = messages(brief(GOAL, "a", "b", "c", "d"), Prompts())
    assert [message.role for message in sent] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert sent[-1].content == "Goal: Describe the API\nSkills: a, b, c"
    assert messages(brief(), Prompts())[-1].content.endswith("Skills: none")


@pytest.mark.parametrize(
    ("goal", "most"),
    [
        ("Write API documentation for GET /todos and POST /todos", 1),
        ("Describe the API, then write its changelog", 2),
        ("1. survey\n2. compare\n3. decide\n4. report\n5. rest", 3),
        ("", 1),
    ],
)
def test_a_plan_has_room_for_the_parts_that_the_goal_names(goal: str, most: int) -> None:
    schema = SMALL.shape.schema(goal, ["a"], 3)
    tasks = schema["properties"]["tasks"]
    assert (len(tasks["anyOf"]) if "anyOf" in tasks else 1) == most


def test_a_list_counts_its_items() -> None:
    assert parts("- one thing") == 1
    assert parts("- one thing\n- another") == 2


async def test_a_small_plan_becomes_a_full_one() -> None:
    answer = '{"tasks":[{"id":"t1","use":"a","instruction":"Describe it.","depends_on":[]}]}'
    model = saying(answer)
    plan = await decompose(brief(GOAL, "a"), model, Prompts(), Recorder())
    (task,) = plan.tasks
    assert (task.action_type, task.name, task.instruction) == ("skill", "a", "Describe it.")
    assert not plan.needs_synthesis
    assert model.asked[0].schema != FULL.shape.schema(GOAL, ["a"], 3)


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
def test_a_document_that_does_not_follow_the_small_schema_is_left_to_validation(document: object) -> None:
    assert isinstance(problems(SHAPES["small"].widen(document), Known(["a"])), list)


@pytest.mark.parametrize("name", ["ollama_chat/qwen3:4b", "ollama/gemma3:270m", "ollama_chat/llama3.2:1b-instruct"])
def test_small_models_of_other_servers_get_the_profile_too(name: str) -> None:
    assert profile_of(name) is SMALL


@pytest.mark.parametrize("name", ["gpt-6.1-sol", "ollama_chat/qwen3:32b", "claude-sonnet-5-5", "openai/some-1b"])
def test_large_models_and_those_of_unknown_size_do_not(name: str) -> None:
    assert profile_of(name) is FULL


def test_an_instruction_that_repeats_the_goal_is_given_once() -> None:
    variables = {"goal": "Write notes", "instruction": "write notes.", "results": [], "title": "", "files": ()}
    once = Prompts().render("task-small", "user", variables)
    assert once.lower().count("write notes") == 1
    both = Prompts().render("task-small", "user", variables | {"instruction": "Find facts"})
    assert "Goal: Write notes\n\nYour task: Find facts" in both


def test_a_small_model_gets_the_beginning_of_a_skill_before_its_template() -> None:
    skill = "Base directory: /x\n\nSay it briefly.\n\n## Output\n\n```\n<Name>\n" + "row\n" * 200
    assert SMALL.digest(skill) == "Base directory: /x\n\nSay it briefly."
    assert FULL.digest(skill) == skill
    assert SMALL.digest("short") == "short"
    long = "word " * 50 + "\n" + "more " * 200
    assert SMALL.digest(long) == "word " * 50
