"""The development goals keep their form, and the checker finds what is wrong with them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from training.goals import check
from training.goals.check import Goal, content, half, problems, read

TEXT = "Read tables from scanned invoices"
GOOD = Goal("other-words-001", "other-words", half("other-words-001"), "office", "bills as rows please", ("pdf",), "en")
POOLS = {"office": {"pdf": TEXT}}


def faults(*goals: Goal) -> list[str]:
    """The problems of goals, without those of sets that are too small."""
    return [fault for fault in problems(goals, POOLS) if "are needed" not in fault]


def test_every_goal_is_in_the_half_that_its_id_says() -> None:
    assert [goal.id for goal in read() if goal.half != half(goal.id)] == []


def test_every_set_has_enough_goals_of_its_length() -> None:
    goals = read()
    for name, (fewest, most, count) in check.SHAPES.items():
        group = [goal for goal in goals if goal.set == name]
        assert len(group) >= count, name
        assert [goal.id for goal in group if not fewest <= len(goal.words) <= most] == []


def test_no_id_and_no_goal_is_there_twice() -> None:
    goals = read()
    assert len({goal.id for goal in goals}) == len({goal.goal for goal in goals}) == len(goals)


def test_everyday_goals_and_those_near_a_field_expect_no_skill() -> None:
    for goal in read():
        if goal.set in {"everyday-short", "everyday-long", "everyday-languages", "near-none"}:
            assert goal.expected == (), goal.id
        elif goal.set != "languages":
            assert goal.expected, goal.id


def test_a_goal_in_other_words_passes() -> None:
    assert faults(GOOD) == []


@pytest.mark.parametrize("word", ["invoice", "Scanning", "tables", "PDF", "readers"])
def test_a_word_shared_in_another_form_is_found(word: str) -> None:
    assert any("shares" in fault for fault in faults(replace(GOOD, goal=f"bills as rows {word}")))


def test_a_goal_written_twice_is_found() -> None:
    again = replace(GOOD, id="other-words-002", half=half("other-words-002"))
    assert faults(GOOD, again) == ["other-words-002: nearly the same as other-words-001"]


def test_an_unknown_skill_pool_or_half_is_found() -> None:
    wrong = "tune" if GOOD.half == "report" else "report"
    assert "skill 'docx' is not in pool 'office'" in faults(replace(GOOD, expected=("docx",)))[0]
    assert "pool 'garden' is not in the corpus" in faults(replace(GOOD, pool="garden"))[0]
    assert "its id says" in faults(replace(GOOD, half=wrong))[0]


def test_stop_words_numbers_and_single_letters_do_not_count() -> None:
    assert content("Please use 12 x of the") == set()
