"""Which words of a goal become parameters, where its plan has questions, conditions and rounds."""

from __future__ import annotations

from typing import Any

import pytest

from goalwright.runs.recipes.filling import fill
from goalwright.runs.recipes.making import (
    RecipeSource,
    found_parameters,
    made,
    named_parameters,
    said_besides,
    shareable,
)
from goalwright.runs.recipes.matching import RecipeMatcher
from goalwright.runs.recipes.recipe import RecipeValueError, number_in
from goalwright_planner.plan.validate import Known

GOAL = "Rewrite notes.md until it has fewer than 100 words"


def source(**more: Any) -> RecipeSource:
    task = {"id": "cut", "action_type": "llm", "instruction": "Rewrite notes.md in fewer than 100 words.", **more}
    return RecipeSource(GOAL, {"tasks": [task]})


def test_a_question_that_ends_rounds_has_the_values_of_each_use() -> None:
    asked = source(repeat={"until": {"ask": "Has this fewer than 100 words: <<cut.output>>?"}, "most": 3})
    recipe = made("cut", asked, found_parameters(asked))
    match = RecipeMatcher().match("Rewrite log.md until it has fewer than 250 words", [recipe])
    assert match is not None
    plan = fill(recipe, recipe.values(match.values), Known()).plan
    assert plan is not None
    (task,) = plan.tasks
    assert task.instruction == "Rewrite log.md in fewer than 250 words."
    assert task.repeat is not None
    assert task.repeat.told == "Has this fewer than 250 words: <<cut.output>>?"


@pytest.mark.parametrize(
    "more",
    [
        {"repeat": {"until": "<<cut.output.words>> < 100", "most": 3}},
        {"when": "<<cut.count>> < 100"},
        {"output_schema": {"type": "object", "properties": {"words": {"type": "integer", "maximum": 100}}}},
    ],
)
def test_what_a_plan_compares_is_no_parameter(more: dict[str, Any]) -> None:
    compared = source(**more)
    recipe = made("cut", compared, found_parameters(compared))
    assert "100" not in [one.default for one in recipe.parameters]
    assert RecipeMatcher().match("Rewrite log.md until it has fewer than 250 words", [recipe]) is None
    assert RecipeMatcher().match("Rewrite log.md until it has fewer than 100 words", [recipe]) is not None
    with pytest.raises(RecipeValueError, match="stands in a condition or a form of the plan"):
        named_parameters({"limit": "100"}, compared, [])


def test_a_plan_whose_condition_names_what_its_goal_does_not_serves_no_other_goal() -> None:
    named = source(repeat={"until": '<<cut.output>> contains "the town of Loreley"', "most": 3})
    assert said_besides(named) == ["Loreley"]
    assert shareable("cut", named) is None


@pytest.mark.parametrize(
    ("first", "then"), [("1.2.3", "1.2.4"), ("$50", "$70"), ("10:30", "11:45"), ("1,200", "2,400"), ("2,5", "3,75")]
)
def test_versions_prices_and_times_vary_as_they_are_written(first: str, then: str) -> None:
    goal = f"Explain the notes of {first} to the board"
    task = {"id": "read", "action_type": "llm", "instruction": goal}
    origin = RecipeSource(goal, {"tasks": [task]})
    recipe = made("notes", origin, found_parameters(origin))
    match = RecipeMatcher().match(f"Explain the notes of {then} to the board", [recipe])
    assert match is not None
    plan = fill(recipe, recipe.values(match.values), Known()).plan
    assert plan is not None
    assert plan.tasks[0].instruction == f"Explain the notes of {then} to the board"


def test_a_number_is_one_where_a_tool_takes_numbers_and_text_elsewhere() -> None:
    takes = {"year": {"type": "string"}, "pages": {"type": "integer"}}
    known = Known(tools={"almanac_read": {"properties": takes}})
    arguments = {"year": "2026", "pages": 2026}
    task = {"id": "read", "title": "2026", "action_type": "tool", "name": "almanac_read", "arguments": arguments}
    origin = RecipeSource("Read the almanac of 2026 aloud", {"tasks": [task]})
    (parameter,) = found_parameters(origin)
    recipe = made("almanac", origin, [parameter])
    filled = fill(recipe, {parameter.name: "1999"}, known)
    assert filled.plan is not None, filled.faults
    assert (filled.plan.tasks[0].title, filled.plan.tasks[0].arguments) == ("1999", {"year": "1999", "pages": 1999})


@pytest.mark.parametrize(
    ("text", "number"),
    [("12", 12), ("-3", -3), ("1,200", 1200), ("12,345.5", 12345.5), ("0.5", 0.5), ("0,5", 0.5), ("1.2.3", None),
     ("1,2,3", None), ("$5", None), ("10:30", None), ("12,34,567", None), ("9" * 20_000, None), ("", None)],
)  # fmt: skip
def test_a_number_can_mean_one_thing_only(text: str, number: float | None) -> None:
    assert number_in(text) == number
