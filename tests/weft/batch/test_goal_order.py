"""Which goals of a file a sitting is for."""

from __future__ import annotations

from weft.batch.goal_order import GoalOrder
from weft.batch.goals import BatchGoal

GOALS = [BatchGoal(f"g{number}", number, f"goal {number}") for number in range(100)]


def test_a_limit_takes_the_first_goals() -> None:
    assert [goal.id for goal in GoalOrder(limit=2).goals(GOALS)] == ["g0", "g1"]
    assert list(GoalOrder().goals(GOALS)) == GOALS
    assert (GoalOrder().count(100), GoalOrder(limit=2).count(100), GoalOrder(limit=2).count(1)) == (100, 2, 1)


def test_shuffled_goals_come_in_the_same_order_however_often_they_are_asked_for() -> None:
    lineup = GoalOrder(shuffle=True, limit=50, seed=0.5)
    found = list(lineup.goals(GOALS))
    assert found == list(lineup.goals(GOALS))
    assert len({goal.id for goal in found}) == 50
    assert found != GOALS[:50]
