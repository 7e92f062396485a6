"""The measures of labelled goals, and misses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from goalwright_skills.evaluation.evaluate import Evaluation, Figures, Outcome, evaluate
from goalwright_skills.evaluation.labelled import LabelledGoal
from tests.skills.evaluation.pool import Fixed, pool

if TYPE_CHECKING:
    from pathlib import Path

NAMES = "abcdefgh"
TABLE = {
    "right": {"a": 0.9, "b": 0.6},
    "second": {"b": 0.9, "a": 0.8},
    "below": {"a": 0.4},
    "sixth": {"b": 0.9, "c": 0.8, "d": 0.4, "e": 0.3, "f": 0.2, "a": 0.1},
    "two": {"a": 0.9, "c": 0.8, "b": 0.45},
    "none picked": {"g": 0.7},
}


def measured(tmp_path: Path, *goals: tuple[str, tuple[str, ...]]) -> Evaluation:
    skills = pool(tmp_path, {name: (f"Does {name}.", "") for name in NAMES})
    rows = [LabelledGoal(goal, 1, goal, expected) for goal, expected in goals]
    return Evaluation.of(evaluate(rows, skills, Fixed(TABLE)), lambda miss: f"why {miss.goal.id}")


def test_the_measures_are_means_over_the_goals_that_expect_a_skill(tmp_path: Path) -> None:
    one = ("a",)
    outcomes = measured(
        tmp_path, ("right", one), ("second", one), ("below", one), ("sixth", one), ("none picked", ()), ("nothing", ())
    )
    figures = outcomes.figures
    assert figures.goals == 6
    assert (figures.r_at_1, figures.r_at_5, figures.r_at_30) == (0.5, 0.75, 1.0)
    assert (figures.set_recall, figures.nothing_selected, figures.picked_for_none) == (0.5, 1, 1)
    assert [(miss.outcome.goal.id, miss.why) for miss in outcomes.misses] == [
        ("second", "why second"), ("below", "why below"), ("sixth", "why sixth"), ("none picked", "why none picked"),
    ]  # fmt: skip


def test_several_expected_skills_count_in_shares(tmp_path: Path) -> None:
    outcomes = measured(tmp_path, ("two", ("a", "b")))
    assert (outcomes.figures.r_at_1, outcomes.figures.r_at_5, outcomes.figures.set_recall) == (1.0, 1.0, 0.5)
    assert outcomes.misses[0].outcome.missing == ("b",)


def test_more_expected_skills_than_places_can_still_be_found(tmp_path: Path) -> None:
    outcomes = measured(tmp_path, ("sixth", tuple("abcdef"))).figures
    assert (outcomes.r_at_1, outcomes.r_at_5) == (1.0, 1.0)


def test_without_goals_that_expect_a_skill_nothing_is_measured(tmp_path: Path) -> None:
    outcomes = measured(tmp_path, ("nothing", ()))
    assert outcomes.figures == Figures(1, None, None, None, 0, None, 0)
    assert outcomes.misses == ()


def test_goals_are_measured_by_set_or_pool(tmp_path: Path) -> None:
    skills = pool(tmp_path, {name: (f"Does {name}.", "") for name in NAMES})
    rows = [
        LabelledGoal("1", 1, "right", ("a",), "p", "s"),
        LabelledGoal("2", 2, "second", ("a",), "p"),
        LabelledGoal("3", 3, "none picked", (), "p"),
        LabelledGoal("4", 4, "below", ("a",)),
    ]
    outcomes = Evaluation.of(evaluate(rows, skills, Fixed(TABLE)), lambda _: "")
    assert list(outcomes.sets) == ["p", "s"]
    assert outcomes.sets["p"] == Figures(2, 0.0, 1.0, 1.0, 0, 1.0, 1)
    assert outcomes.sets["s"] == Figures(1, 1.0, 1.0, 1.0, 0, 1.0, 0)
    assert outcomes.figures.goals == 4


@pytest.mark.parametrize(("goal", "expected", "miss"), [("right", ("a",), False), ("second", ("a",), True)])
def test_a_skill_that_is_selected_but_does_not_come_first_is_a_miss(
    goal: str, expected: tuple[str, ...], miss: bool, tmp_path: Path
) -> None:
    skills = pool(tmp_path, {name: (f"Does {name}.", "") for name in NAMES})
    (outcome,) = evaluate([LabelledGoal("1", 1, goal, expected)], skills, Fixed(TABLE))
    assert isinstance(outcome, Outcome)
    assert outcome.is_miss is miss


def test_unknown_names_from_a_detector_are_ignored(tmp_path: Path) -> None:
    skills = pool(tmp_path, {"a": ("Does a.", "")})
    (outcome,) = evaluate([LabelledGoal("1", 1, "none picked", ())], skills, Fixed(TABLE))
    assert (outcome.selected, outcome.is_miss) == ((), False)
