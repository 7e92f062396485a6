"""The evidence of the words of a goal."""

from __future__ import annotations

import pytest

from goalwright_skills.selection.query.goal_words import GoalWords


@pytest.mark.parametrize("goal", ["1. 2. 3. 4.", "24/12/2026 at 10:30", "3,000 of 5%", "12 km, 5 kg, $40"])
def test_numbers_do_not_count_as_words(goal: str) -> None:
    assert not any(term.isdecimal() for term in GoalWords.of(goal).evidence)


def test_numbers_inside_words_are_kept() -> None:
    assert "h5ad" in GoalWords.of("open pbmc3k.h5ad").evidence


def test_everyday_words_and_file_endings_count_half() -> None:
    words = GoalWords.of("put the plan for Friday into budget.md, with a histogram").evidence
    assert words["plan"] == words["md"] == 0.5
    assert words["histogram"] == 1.0


@pytest.mark.parametrize(("goal", "says"), [("Continue", False), ("plan my week", False), ("plan a histogram", True)])
def test_single_words_and_everyday_words_cannot_select(goal: str, says: bool) -> None:
    assert GoalWords.of(goal).can_select is says


def test_a_choice_implies_words() -> None:
    assert GoalWords.of("Postgres or MySQL?").implied
