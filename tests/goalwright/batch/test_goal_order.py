"""The selection and order of the goals of a file."""

from __future__ import annotations

from goalwright.batch.goals import BatchGoal
from goalwright.batch.options import GoalOrder

GOALS = [BatchGoal(f"g{number}", number, f"goal {number}") for number in range(100)]


def test_limit_takes_the_first_goals() -> None:
    assert [goal.id for goal in GoalOrder(limit=2).goals(GOALS)] == ["g0", "g1"]
    assert list(GoalOrder().goals(GOALS)) == GOALS
    assert (GoalOrder().count(100), GoalOrder(limit=2).count(100), GoalOrder(limit=2).count(1)) == (100, 2, 1)


def test_shuffled_order_is_repeatable() -> None:
    lineup = GoalOrder(shuffle=True, limit=50, seed=0.5)
    found = list(lineup.goals(GOALS))
    assert found == list(lineup.goals(GOALS))
    assert len({goal.id for goal in found}) == 50
    assert found != GOALS[:50]


def test_begun_goals_are_taken_first_within_limit() -> None:
    for shuffle in (False, True):
        order = GoalOrder(limit=10, shuffle=shuffle, begun=frozenset(("g50", "g7", "gone")))
        found = [goal.id for goal in order.goals(GOALS)]
        assert found == [goal.id for goal in order.goals(GOALS)]
        assert (len(found), len(set(found)), {"g50", "g7"} <= set(found)) == (10, 10, True)
    begun = frozenset(f"g{number}" for number in range(50, 60))
    assert [goal.id for goal in GoalOrder(limit=2, begun=begun).goals(GOALS)] == ["g50", "g51"]
    assert {goal.id for goal in GoalOrder(limit=10, shuffle=True, begun=begun).goals(GOALS)} == begun
