from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from weft.local.profile import CUT, bounded, parts, profile_for, profiles
from weft.local.shape import widen

if TYPE_CHECKING:
    from collections.abc import Sequence

SMALL = profiles()["small"]


def words(messages: Sequence[dict[str, Any]]) -> int:
    return sum(len(message["content"].split()) for message in messages)


def test_the_examples_shown_to_the_model_are_plans_of_its_schema() -> None:
    assert [len(widen(json.loads(example.plan))["tasks"]) for example in SMALL.examples] == [1, 2]


def test_the_goal_comes_last_with_the_best_skills_only() -> None:
    messages = SMALL.plan_messages("Describe the API", ["a", "b", "c", "d"])
    assert [message["role"] for message in messages] == [
        "system",
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
    ]
    assert messages[-1]["content"] == "Goal: Describe the API\nSkills: a, b, c"
    assert SMALL.plan_messages("x", [])[-1]["content"].endswith("Skills: none")


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
    assert SMALL.tasks(goal) == most


def test_a_list_counts_its_items() -> None:
    assert parts("- one thing") == 1
    assert parts("- one thing\n- another") == 2


def test_a_task_holds_goal_instruction_skill_and_inputs() -> None:
    system, user = SMALL.task_messages("Ship it", "Write notes", "# Notes", {"t1": "the facts"})
    assert system == {"role": "system", "content": "# Notes"}
    for text in ("Goal: Ship it", "Your task: Write notes", "Result of t1:\nthe facts"):
        assert text in user["content"]


def test_an_instruction_that_is_the_goal_is_said_once() -> None:
    (user,) = SMALL.task_messages("Write notes", "write  notes.")
    assert user["content"].lower().count("notes") == 1


def test_the_answer_is_made_of_all_outputs() -> None:
    (user,) = SMALL.answer_messages("Ship it", {"t1": "alpha", "t2": "beta"})
    assert user["content"].index("alpha") < user["content"].index("beta") < user["content"].index("Ship it")


def test_messages_that_fit_stay_as_they_are() -> None:
    messages = [{"role": "user", "content": "a few words"}]
    assert bounded(messages, words, 3) == messages


def test_the_longest_message_is_cut_in_the_middle_until_all_fit() -> None:
    long = " ".join(f"w{number}" for number in range(1000))
    messages = [{"role": "system", "content": long}, {"role": "user", "content": "the goal"}]
    fitting = bounded(messages, words, 200)
    assert words(fitting) <= 200
    assert fitting[1] == messages[1]
    assert fitting[0]["content"].startswith("w0 w1 ")
    assert fitting[0]["content"].endswith(" w999")
    assert CUT in fitting[0]["content"]
    assert messages[0]["content"] == long
    assert words(bounded(messages, words, 20)) <= 20


def test_what_can_never_fit_is_an_error_not_a_loop() -> None:
    with pytest.raises(ValueError, match="even when cut"):
        bounded([{"role": "user", "content": "hello"}], lambda _: 50, 10)


@pytest.mark.parametrize("name", ["ollama_chat/qwen3:4b", "ollama/gemma3:270m", "ollama_chat/llama3.2:1b-instruct"])
def test_small_models_of_other_servers_get_the_profile_too(name: str) -> None:
    assert profile_for(name) is SMALL


@pytest.mark.parametrize("name", ["gpt-6.1-sol", "ollama_chat/qwen3:32b", "claude-sonnet-5-5", "x/mixtral-8x7b"])
def test_large_ones_and_those_of_unknown_size_do_not(name: str) -> None:
    assert profile_for(name) is None
