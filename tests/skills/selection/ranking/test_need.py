"""The need of a goal for a skill, and the probability of the right skill."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from goalwright_skills.selection.query.goal_words import implied_terms
from goalwright_skills.selection.ranked import RankedDetector
from goalwright_skills.selection.ranking.combination import Combination
from goalwright_skills.selection.ranking.signals import strength
from tests.skills.tree import put, registry

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_skills.skill import Skill

POOL = {
    "weekly-report": "Turns a week's notes into a report of plans and progress.",
    "ab-testing": "Plans an A/B test.",
    "continuous-delivery": "Continues a deployment after a failure.",
    "options": "Weighs alternatives: compare options, choose and decide.",
    "naming": "Finds a name for a product.",
}


@pytest.fixture
def pool(tmp_path: Path) -> list[Skill]:
    for name, description in POOL.items():
        put(tmp_path / "skills" / name, name, f'"{description}"')
    return registry(tmp_path).list_skills()


def test_strength_grows_with_the_number_of_words() -> None:
    assert strength(10, 5, 4, 1) < strength(10, 5, 4, 2) < strength(10, 5, 4, 5)
    assert strength(10, 0, 4, 2) == 0


@pytest.mark.parametrize(
    "goal", ["Continue", "Do a and b", "What is your name?", "Plan my week", "Name", "A/B", "Plan a week of notes"]
)
def test_single_words_and_everyday_words_select_nothing(pool: list[Skill], goal: str) -> None:
    assert RankedDetector().detect(goal, pool) == []


@pytest.mark.parametrize(
    "goal",
    [
        "Compare React and Vue",
        "Which database should I use",
        "Postgres or MySQL?",
        "Redis vs Memcached",
        "对比这两个方案",
        "比较一下这两个方案",
        "Recommend Postgres or MySQL",
    ],
)
def test_goals_that_compare_select_a_skill_that_weighs_options(pool: list[Skill], goal: str) -> None:
    assert implied_terms(goal)
    selections = RankedDetector().rank(goal, pool, 1)
    assert selections[0].name == "options"
    assert "the goal asks for a choice" in selections[0].reason


@pytest.mark.parametrize(
    "goal",
    [
        "Is a tomato a fruit or a vegetable?",
        "Should I drink more water?",
        "Recommend a good book",
        "Sort it",
        "晚饭后散步多久比较合适",
    ],
)
def test_other_goals_do_not_ask_for_a_choice(goal: str) -> None:
    assert implied_terms(goal) == []


def test_further_skills_are_less_likely_than_the_first(pool: list[Skill]) -> None:
    selections = RankedDetector().rank("Compare the options in a report of plans and progress", pool, 3)
    assert selections[0].score > selections[1].score > selections[2].score


def test_everyday_talk_needs_a_better_match(pool: list[Skill]) -> None:
    explained = [
        RankedDetector().explain(goal, pool, 1).candidates[0].change
        for goal in (
            "Which board games work well on a rainy Sunday with my kids?",
            "Deploy the API after a failed release",
        )
    ]
    assert "it sounds like everyday talk" in explained[0]
    assert "everyday talk" not in explained[1]


def test_foreign_goals_have_their_own_threshold(pool: list[Skill]) -> None:
    shipped = Combination.shipped()
    english, german = (
        RankedDetector().explain(goal, pool, 1).candidates[0].change
        for goal in ("How old is the bridge over the river?", "Wie alt ist die Brücke über den Fluss?")
    )
    assert f"selected from {shipped.whole:.2f}" in english
    assert f"selected from {shipped.foreign:.2f}" in german
    assert shipped.foreign != shipped.whole


def test_foreign_goals_select_by_meaning(pool: list[Skill]) -> None:
    assert RankedDetector().detect("部署失败以后继续发布", pool)[0].name == "continuous-delivery"


def test_lacking_words_are_named_in_scripts_without_spaces(pool: list[Skill]) -> None:
    assert 'lacks "部署"' in RankedDetector().explain("部署失败以后继续发布", pool, 2).candidates[1].change
