"""Experiments: every goal with every model, compared by their lines of results."""

from __future__ import annotations

from typing import Any

from weft.batch.experiment import comparison, variants
from weft.batch.goals import BatchGoal


def line(model: str, status: str, *skills: str, goal: str = "g", cost: float | None = 0.5) -> dict[str, Any]:
    tasks = [{"action_type": "skill", "name": name} for name in skills]
    usage = {"prompt_tokens": 10, "completion_tokens": 5}
    return {"goal": goal, "model": model, "status": status, "tasks": tasks, "usage": usage} | {
        "cost_usd": cost,
        "seconds": 2.0,
    }


def test_each_goal_runs_with_each_model_as_often_as_asked_under_ids_of_their_own() -> None:
    found = list(variants([BatchGoal("a", 1, "x"), BatchGoal("b", 2, "y", model="own")], ["m", "n"], 2))
    assert [goal.id for goal in found[:4]] == ["a@m#1", "a@m#2", "a@n#1", "a@n#2"]
    assert {goal.model for goal in found} == {"m", "n"}
    assert [goal.id for goal in variants([BatchGoal("b", 2, "y", model="own")], [], 1)] == ["b@own"]


def test_a_model_agrees_where_it_planned_as_most_did_and_one_unknown_cost_makes_the_sum_unknown() -> None:
    rows = [
        line("m", "done", "s"),
        line("m", "failed", "s", cost=None),
        line("n", "done", "other"),
        line("n", "done", "s"),
    ]
    strong, weak = comparison(rows)
    assert (strong["model"], strong["runs"], strong["success"], strong["cost_usd"]) == ("m", 2, 0.5, None)
    assert (strong["agreement"], weak["agreement"], weak["cost_usd"], weak["tokens"]) == (1.0, 0.5, 1.0, 15)
