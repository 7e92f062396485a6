"""Each miss is explained by words, with the description to change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from goalwright_skills.evaluation.evaluate import evaluate
from goalwright_skills.evaluation.explain import Explainer
from goalwright_skills.evaluation.labelled import LabelledGoal
from goalwright_skills.selection.ranked import RankedDetector
from tests.skills.evaluation.pool import Fixed, pool

if TYPE_CHECKING:
    from pathlib import Path

SKILLS = {
    "brewing-tea": ("Brews tea by leaf and water. Use when asked for tea.", "Heat the kettle, then pour."),
    "roasting": ("Roasts beans for espresso. Use for coffee in a kettle.", "Turn the drum."),
    "baking": ("Bakes loaves.", "Knead the dough."),
}
POUR = "Pour tea from the kettle quickly"


@pytest.fixture
def explained(tmp_path: Path) -> Explained:
    return Explained(tmp_path)


class Explained:
    """Explains one goal for a table of scores."""

    def __init__(self, folder: Path) -> None:
        self.skills = pool(folder, SKILLS)

    def __call__(self, goal: str, expected: tuple[str, ...], scores: dict[str, float], **absent: str) -> str:
        detector = Fixed({goal: scores})
        (outcome,) = evaluate([LabelledGoal("1", 1, goal, expected)], self.skills, detector)
        assert outcome.is_miss
        return Explainer(self.skills, detector, absent).why(outcome)


def test_the_winner_its_words_and_the_lacking_words_are_named(explained: Explained) -> None:
    said = explained(POUR, ("brewing-tea",), {"roasting": 0.8, "brewing-tea": 0.6})
    assert said == (
        'roasting comes first (0.80), for "kettle" in its description; brewing-tea ranks 2nd with 0.60. '
        'The description of brewing-tea lacks "kettle", "pour" and "quickly" (its body has "kettle" and "pour"): '
        "add what fits, or write `For …, use brewing-tea.` in that of roasting."
    )


def test_a_skill_that_ranks_first_but_too_low(explained: Explained) -> None:
    said = explained("Knead dough slowly", ("baking",), {"baking": 0.3})
    assert said == (
        'baking ranks first with 0.30, too little to be selected. The description of baking lacks "knead", "dough" '
        'and "slowly" (its body has "knead" and "dough"): add what fits.'
    )


def test_a_skill_that_shares_no_word_is_not_ranked(explained: Explained) -> None:
    said = explained("煮咖啡", ("baking",), {"roasting": 0.7})
    assert said.startswith("roasting comes first (0.70), the table says so; baking is not ranked. The description of")


def test_a_description_that_has_every_word_is_too_long(explained: Explained) -> None:
    said = explained("Tea water", ("brewing-tea",), {"brewing-tea": 0.2})
    assert "has every word of the goal, among others: shorten it." in said


def test_every_missing_skill_of_several_is_explained(explained: Explained) -> None:
    said = explained("Tea and loaves", ("brewing-tea", "baking"), {"brewing-tea": 0.9, "baking": 0.4})
    assert said.startswith("baking ranks 2nd with 0.40, too little to be selected.")
    assert "brewing-tea" not in said


@pytest.mark.parametrize(
    ("name", "absent", "said"),
    [
        ("bakin", {}, "There is no skill 'bakin' here; the nearest names are baking, "),
        (
            "old",
            {"old": "disabled (disabled by X)"},
            "The skill 'old' is disabled (disabled by X) and cannot be selected.",
        ),
    ],
)
def test_missing_skills_are_named(name: str, absent: dict[str, str], said: str, explained: Explained) -> None:
    assert explained("Bake", (name,), {"baking": 0.9}, **absent).startswith(said)


def test_wrong_picks_are_explained_by_their_words(explained: Explained) -> None:
    said = explained("My kettle leaks", (), {"roasting": 0.7})
    assert said == (
        'No skill should be selected, but roasting (0.70, for "kettle" in its description) is: use narrower words in '
        "its description."
    )
    said = explained("My kettle dough", (), {"roasting": 0.7, "baking": 0.6})
    assert (
        'roasting (0.70, for "kettle" in its description) and baking (0.60, for "dough" in its body) are: use' in said
    )


def test_a_miss_is_explained_by_the_language(tmp_path: Path) -> None:
    skills, detector = pool(tmp_path, SKILLS), RankedDetector()
    (outcome,) = evaluate([LabelledGoal("1", 1, "Wie koche ich eine Kanne Tee?", ("brewing-tea",))], skills, detector)
    assert Explainer(skills, detector, {}).why(outcome) == (
        "The goal is in German and the skills are described in English: a run asks its model for English keywords. "
        "To do without, add a German sentence to the description of brewing-tea."
    )


def test_a_skill_between_two_expected_ones_is_not_called_first(explained: Explained) -> None:
    scores = {"brewing-tea": 0.9, "roasting": 0.5, "baking": 0.1}
    said = explained("Tea and loaves", ("brewing-tea", "baking"), scores)
    assert said.startswith("roasting comes before baking (0.50), the table says so; baking ranks 3rd with 0.10.")
