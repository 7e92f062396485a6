"""Which goals of a file a sitting is for."""

from __future__ import annotations

from weft.batch.goal_order import GoalOrder
from weft.batch.goals import BatchGoal

GOALS = [BatchGoal(f"g{number}", number, f"goal {number}") for number in range(100)]


def test_a_limit_is_of_goals_and_each_meets_every_model() -> None:
    lineup = GoalOrder(limit=2, models=("a", "b"), repeat=2)
    found = [goal.id for goal in lineup.runs(GOALS)]
    assert found == [f"g{goal}@{model}#{time}" for goal in (0, 1) for model in "ab" for time in (1, 2)]
    assert lineup.count(100) == len(found) == 8
    assert lineup.count(1) == 4


def test_without_an_experiment_goals_keep_their_ids() -> None:
    assert [goal.id for goal in GoalOrder(limit=2).runs(GOALS)] == ["g0", "g1"]
    assert list(GoalOrder().runs(GOALS)) == GOALS
    assert GoalOrder().count(100) == 100


def test_shuffled_goals_come_in_the_same_order_however_often_they_are_asked_for() -> None:
    lineup = GoalOrder(shuffle=True, limit=50, seed=0.5)
    found = list(lineup.runs(GOALS))
    assert found == list(lineup.runs(GOALS))
    assert len({goal.id for goal in found}) == 50
    assert found != GOALS[:50]
