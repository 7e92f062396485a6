"""Each difference is one line that names the skill, task or prompt."""

from __future__ import annotations

import pytest

from goalwright_executor.history.difference import difference, of_listings, of_names, of_plans
from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.task import Task


def listing(kind: str, *names: str) -> str:
    return "\n".join(f"<{kind}>\n<name>{name}</name>\n<description>d</description>\n</{kind}>" for name in names)


def test_the_first_different_line_is_shown_before_and_after() -> None:
    assert difference("a\nb", "a\nb") is None
    assert difference("a\nb", "a\nc") == "line 2 was 'b', is 'c'"
    assert difference("a", "a\nb") == "line 2 was missing, is 'b'"


@pytest.mark.parametrize(("kind", "what"), [("skill", "skill"), ("tool", "prompt of planning: tool")])
def test_listings_are_compared_entry_by_entry(kind: str, what: str) -> None:
    then, now = listing(kind, "a", "b"), listing(kind, "b", "c").replace("<description>d", "<description>e", 1)
    gone, changed, new = of_listings(then, now, kind)
    assert gone == f"{what} 'a' is no longer in the listing"
    assert changed.startswith(f"{what} 'b' is listed differently: line 3 was '<description>d</description>', is ")
    assert new == f"{what} 'c' is new in the listing"
    (order,) = of_listings(listing(kind, "a", "b"), listing(kind, "b", "a"), kind)
    assert order == f"prompt of planning: the listing of {kind}s differs: a, b → b, a"
    assert list(of_listings(then, then, kind)) == []


def test_selections_are_compared_skill_by_skill() -> None:
    assert list(of_names(["a", "b"], ["b", "c"])) == [
        "skill 'a' is no longer selected",
        "skill 'c' is newly selected",
    ]
    assert list(of_names(["a", "b"], ["b", "a"])) == ["skills are selected in another order: a, b → b, a"]
    assert list(of_names(["a"], ["a"])) == []


def test_plans_are_compared_task_by_task() -> None:
    a, b, c = Task("a", "llm", instruction="x"), Task("b", "llm"), Task("c", "llm")
    assert list(of_plans(Plan((a, b)), Plan((a, c)))) == [
        "task 'b' is no longer in the plan",
        "task 'c' is new in the plan",
    ]
    (changed,) = of_plans(Plan((a,)), Plan((Task("a", "llm", instruction="y"),)))
    assert changed.startswith("task 'a' is planned differently: line ")
    assert list(of_plans(Plan((a, b)), Plan((b, a)))) == ["tasks are in another order: a, b → b, a"]
    assert list(of_plans(Plan((a,), "short"), Plan((a,), "long"))) == [
        "prompt of synthesis: the plan's synthesis: line 1 was 'short', is 'long'"
    ]
    assert list(of_plans(Plan((a,)), Plan((a,)))) == []
