"""When another goal starts: as soon as a call slot would be idle without it."""

from __future__ import annotations

from contextlib import ExitStack

from goalwright.batch.limits.limited_model import Demand


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_goals_start_until_slots_and_spares_are_used() -> None:
    demand = Demand()
    assert [running for running in range(30) if demand.has_room(16, running)] == list(range(18))
    assert demand.has_room(1, 1)
    assert not demand.has_room(1, 2)


def test_goal_with_many_calls_leaves_no_room() -> None:
    demand = Demand()
    with demand.goal("wide"), ExitStack() as calls:
        for _ in range(18):
            assert demand.has_room(16, 1)
            calls.enter_context(demand.call("wide"))
        assert not demand.has_room(16, 1)
    assert demand.has_room(16, 0)


def test_goal_between_calls_counts_briefly() -> None:
    clock = Clock()
    demand = Demand(clock)
    with demand.goal("a"), demand.goal("b"):
        assert not demand.has_room(1, 2)
        with demand.call("a"), demand.call("b"):
            clock.now = 5.0
            assert not demand.has_room(1, 2)
        clock.now = 5.9
        assert not demand.has_room(1, 2)
        clock.now = 6.1
        assert demand.has_room(1, 2)
        with demand.call("a"):
            assert demand.has_room(1, 2)


def test_goals_without_calls_are_limited() -> None:
    clock = Clock()
    demand = Demand(clock)
    with ExitStack() as goals:
        for number in range(8):
            goals.enter_context(demand.goal(str(number)))
        clock.now = 60.0
        assert demand.has_room(4, 8)
        assert not demand.has_room(2, 8)
