"""The parameters of a recipe: how they are found in a goal and filled into its plan."""

from __future__ import annotations

from typing import Any

import pytest

from goalwright.runs.recipes.check import filled_plan
from goalwright.runs.recipes.parameters import (
    RecipeSource,
    found_parameters,
    made_recipe,
    named_parameters,
    phrases,
    words_beyond_goal,
)
from goalwright.runs.recipes.plan_texts import filled
from goalwright.runs.recipes.recipe import RecipeValueError, number_in
from goalwright_planner.plan.known import Known

GOAL = "Rewrite notes.md until it has fewer than 100 words"


def source(**more: Any) -> RecipeSource:
    task = {"id": "cut", "action_type": "llm", "instruction": "Rewrite notes.md in fewer than 100 words.", **more}
    return RecipeSource(GOAL, {"tasks": [task]})


def test_values_go_into_the_question_of_a_repeat() -> None:
    asked = source(repeat={"until": {"ask": "Has this fewer than 100 words: <<cut.output>>?"}, "most": 3})
    recipe = made_recipe("cut", asked, found_parameters(asked))
    plan, _ = filled_plan(recipe, recipe.values({"file": "log.md", "words": "250"}), Known())
    assert plan is not None
    (task,) = plan.tasks
    assert task.instruction == "Rewrite log.md in fewer than 250 words."
    assert task.repeat is not None
    assert task.repeat.text == "Has this fewer than 250 words: <<cut.output>>?"


@pytest.mark.parametrize(
    "more",
    [
        {"repeat": {"until": "<<cut.output.words>> < 100", "most": 3}},
        {"when": "<<cut.count>> < 100"},
        {"output_schema": {"type": "object", "properties": {"words": {"type": "integer", "maximum": 100}}}},
    ],
)
def test_texts_in_conditions_and_schemas_are_not_parameters(more: dict[str, Any]) -> None:
    compared = source(**more)
    assert [parameter.default for parameter in found_parameters(compared)] == ["notes.md"]
    with pytest.raises(RecipeValueError, match="in a condition or an output schema of the plan"):
        named_parameters({"limit": "100"}, compared, [])


def test_words_beyond_the_goal_are_listed() -> None:
    named = source(repeat={"until": '<<cut.output>> contains "the town of Loreley"', "most": 3})
    assert words_beyond_goal(named) == ["Loreley"]


@pytest.mark.parametrize("version", ["1.2.3", "$50", "10:30", "1,200", "2,5"])
def test_versions_prices_and_times_are_parameters(version: str) -> None:
    goal = f"Explain the notes of {version} to the board"
    origin = RecipeSource(goal, {"tasks": [{"id": "read", "action_type": "llm", "instruction": goal}]})
    assert version in [parameter.default for parameter in found_parameters(origin)]


@pytest.mark.parametrize(
    ("goal", "texts"),
    [
        ("Write a haiku about old bridges", ["old bridges"]),
        ("Extract the totals from a/b.pdf into a table", ["a/b.pdf"]),
        ('Translate "Good day" into German', ["Good day", "German"]),
        ("Write release notes for version 1.2 of the mobile app", ["1.2", "mobile app"]),
        ("Review the login module", ["login module"]),
        ("Summarise https://example.org/a?b=1 in 3 sentences", ["https://example.org/a?b=1", "3"]),
        ("把 notes.md 翻译成英文", ["notes.md"]),
        ("Do it", []),
    ],
)
def test_files_numbers_quotations_names_and_topics_are_found(goal: str, texts: list[str]) -> None:
    assert [phrase.text for phrase in phrases(goal)] == texts


def test_values_are_filled_in_one_pass() -> None:
    assert filled("Compare {a} and {b}, {c}", {"a": "{b}", "b": "z"}) == "Compare {b} and z, {c}"


def test_a_number_stays_text_where_a_tool_takes_a_string() -> None:
    takes = {"year": {"type": "string"}, "pages": {"type": "integer"}}
    known = Known(tools={"almanac_read": {"properties": takes}})
    arguments = {"year": "2026", "pages": 2026}
    task = {"id": "read", "title": "2026", "action_type": "tool", "name": "almanac_read", "arguments": arguments}
    origin = RecipeSource("Read the almanac of 2026 aloud", {"tasks": [task]})
    (parameter,) = found_parameters(origin)
    recipe = made_recipe("almanac", origin, [parameter])
    plan, faults = filled_plan(recipe, {parameter.name: "1999"}, known)
    assert plan is not None, faults
    assert (plan.tasks[0].title, plan.tasks[0].arguments) == ("1999", {"year": "1999", "pages": 1999})


@pytest.mark.parametrize(
    ("text", "number"),
    [("12", 12), ("-3", -3), ("1,200", 1200), ("12,345.5", 12345.5), ("0.5", 0.5), ("0,5", 0.5), ("1.2.3", None),
     ("1,2,3", None), ("$5", None), ("10:30", None), ("12,34,567", None), ("9" * 20_000, None), ("", None)],
)  # fmt: skip
def test_only_unambiguous_numbers_are_numbers(text: str, number: float | None) -> None:
    assert number_in(text) == number
