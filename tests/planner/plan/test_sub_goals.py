"""Sub-goals: their faults, and how the tasks of their plans join the plan of the run."""

from __future__ import annotations

from typing import Any

import pytest

from goalwright_planner.plan.change import joining
from goalwright_planner.plan.known import Known
from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.task import Task
from goalwright_planner.plan.validate import problems


def faults(row: dict[str, Any], *, max_depth: int = 2) -> list[str]:
    return problems({"tasks": [row]}, Known(max_depth=max_depth))


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        ({"instruction": " "}, "a goal task needs 'instruction', which says what to reach"),
        ({"most_tasks": 0}, "'most_tasks' must be a positive integer, not 0"),
        ({"most_tasks": True}, "'most_tasks' must be a positive integer, not True"),
        ({"max_cost": -1}, "'max_cost' must be a positive number of dollars, not -1"),
        ({"max_cost": float("nan")}, "'max_cost' must be a positive number of dollars, not nan"),
        ({"max_cost": "1"}, "'max_cost' must be a positive number of dollars, not '1'"),
        ({"check": {"ask": "?"}}, "a goal task cannot have 'check'; check the result in a task that depends on it"),
        ({"model": "fast"}, "a goal task cannot have 'model'; its tasks may"),
        ({"action_type": "llm", "most_tasks": 3}, "'most_tasks' is only for action_type 'goal'"),
        ({"action_type": "llm", "max_cost": 3}, "'max_cost' is only for action_type 'goal'"),
    ],
)
def test_every_fault_of_a_sub_goal_is_named(more: dict[str, Any], fault: str) -> None:
    row = {"id": "a", "action_type": "goal", "instruction": "Reach it", "most_tasks": 3, "max_cost": 0.5}
    assert faults(row) == []
    mine = {
        key: value
        for key, value in row.items()
        if more.get("action_type") != "llm" or key not in ("most_tasks", "max_cost")
    }
    assert faults(mine | more) == [f"task 'a': {fault}"]


def test_goals_are_refused_where_they_may_not_be_nested() -> None:
    row = {"id": "a", "action_type": "goal", "instruction": "Reach it"}
    assert faults(row, max_depth=1) == []
    deeper = "is not possible here, as goals are nested as deep as max_depth allows"
    assert faults(row, max_depth=0) == [
        f"task 'a': 'action_type' 'goal' {deeper}; plan the tasks themselves, or raise max_depth"
    ]


def test_the_tasks_of_a_sub_goal_keep_their_graph_under_new_ids() -> None:
    goal = Task("big[2]", "goal", depends_on=("scope", "lost"))
    plan = Plan(
        (
            Task("a", "llm", instruction="Begin"),
            Task("b", "llm", instruction="Use <<a.output>>, not <<zzz.output>>", depends_on=("a",)),
            Task(
                "c",
                "tool",
                name="t",
                arguments={"x": ["<<b.output>>"]},
                depends_on=("b",),
                when='<<a.status>> == "done"',
            ),
            Task("d", "llm", for_each="<<c.output.rows>>", instruction="<<item>>", depends_on=("c",)),
        ),
        synthesis="all",
    )
    joined = joining(goal, plan, {"scope": "text"})
    assert joined.synthesis == "all"
    assert [(task.id, task.depends_on) for task in joined.tasks] == [
        ("big[2]/a", ("scope",)),
        ("big[2]/b", ("big[2]/a",)),
        ("big[2]/c", ("big[2]/b",)),
        ("big[2]/d", ("big[2]/c",)),
    ]
    assert joined.tasks[1].instruction == "Use <<big[2]/a.output>>, not <<zzz.output>>"
    assert (joined.tasks[1].references, joined.tasks[2].references) == (("big[2]/a", "zzz"), ("big[2]/b",))
    assert joined.tasks[2].reads_status_of == {"big[2]/a"}
    assert joined.tasks[3].reads == ("big[2]/c",)
    assert [Task.from_dict(task.to_dict()) for task in joined.tasks] == list(joined.tasks)
    rewired = goal.rewired({"scope": "scope-2"})
    assert rewired.depends_on == ("scope-2", "lost")


def test_keys_of_a_sub_goal_are_written_only_if_set() -> None:
    task = Task("a", "goal", instruction="Reach it", most_tasks=3, max_cost=0.5)
    assert Task.from_dict(task.to_dict()) == task
    assert Task("a", "llm").to_dict().keys() == {"id", "action_type", "depends_on"}
