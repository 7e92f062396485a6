"""Which words of a goal become parameters, where its plan has questions, conditions and rounds."""

from __future__ import annotations

from typing import Any

import pytest

from weft.runs.recipes.filling import fill
from weft.runs.recipes.making import RecipeSource, found_parameters, made, named_parameters, said_besides, shareable
from weft.runs.recipes.matching import RecipeMatcher
from weft.runs.recipes.recipe import RecipeValueError
from weft_planner.plan.validate import Known

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
