"""Plans and their graphs."""

from __future__ import annotations

from hypothesis import given

from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.task import Task
from tests.plans import plans


def test_finals_are_the_tasks_that_no_other_depends_on() -> None:
    plan = Plan((Task("a", "llm"), Task("b", "llm", depends_on=("a",)), Task("c", "llm", depends_on=("a",))))
    assert [task.id for task in plan.finals] == ["b", "c"]
    assert plan.needs_synthesis


def test_a_single_final_task_without_a_synthesis_needs_no_synthesis_call() -> None:
    chain = (Task("a", "llm"), Task("b", "llm", depends_on=("a",)))
    assert not Plan(chain).needs_synthesis
    assert Plan(chain, synthesis="in one sentence").needs_synthesis
    assert not Plan.from_dict(Plan(chain, synthesis=" \n").to_dict()).needs_synthesis


def test_a_plan_of_tools_with_one_final_result_needs_no_model() -> None:
    count, again = Task("a", "tool", name="t_x"), Task("b", "tool", name="t_x", depends_on=("a",))
    assert not Plan((count, again)).needs_model
    assert Plan((count, again), synthesis="in one sentence").needs_model
    assert Plan((count, Task("b", "llm", depends_on=("a",)))).needs_model
    assert Plan((count, Task("b", "tool", name="t_x"))).needs_model


def test_references_are_found_in_instruction_and_nested_arguments() -> None:
    task = Task("c", "tool", name="t_x", instruction="<<a.output>>", arguments={"x": ["<<b.output>> <<a.output>>"]})
    assert task.references == ("a", "b")


@given(plans())
def test_a_plan_is_equal_after_a_round_trip_through_json(plan: Plan) -> None:
    assert Plan.from_dict(plan.to_dict()) == plan


@given(plans())
def test_the_graph_has_every_task_and_every_dependency(plan: Plan) -> None:
    assert set(plan.graph) == {task.id for task in plan.tasks}
    assert set(plan.graph.edges) == {(before, task.id) for task in plan.tasks for before in task.depends_on}
