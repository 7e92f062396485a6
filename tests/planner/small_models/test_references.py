"""Intermediate results that belong in the answer."""

from __future__ import annotations

import pytest

from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.task import Task
from goalwright_planner.small_models.parts import parts_of
from goalwright_planner.small_models.references import deliverables
from goalwright_planner.small_models.rules import PlannedGoal, plan_of_parts


@pytest.mark.parametrize(
    ("goal", "kept"),
    [
        ("Write a haiku, then list three primes", {"t1"}),
        ("Write a function that adds; write tests for it; document it", {"t1"}),
        ("Write a poem, then shorten it", set()),
        ("Write a poem, explain DNS, then combine everything into a page", set()),
        ("Compare tea, coffee and juice and recommend one", set()),
        ("Summarise Hamlet, summarise Macbeth, then write a quiz from them", {"t1", "t2"}),
        ("Write a haiku and explain DNS", set()),
        ("Schreibe ein Gedicht, dann nenne drei Primzahlen", {"t1"}),
        ("Schreibe ein Gedicht, dann kürze es", set()),
    ],
)
def test_result_that_no_later_task_replaces_belongs_in_the_answer(goal: str, kept: set[str]) -> None:
    assert deliverables(plan_of_parts(parts_of(goal).parts, PlannedGoal(goal))) == kept


def test_result_of_a_tool_does_not_belong_in_the_answer() -> None:
    plan = Plan((Task("t1", "tool", name="sheet_read"), Task("t2", "llm", instruction="List it", depends_on=("t1",))))
    assert deliverables(plan) == frozenset()
