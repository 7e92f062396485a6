"""Changes of a plan: tasks that have begun stay, and every fault is found at once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalwright_planner.plan.change import Change, problems
from goalwright_planner.plan.known import Known
from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.task import Task
from tests.plans import plans

PLAN = Plan(
    (
        Task("a", "llm", instruction="look"),
        Task("b", "llm", instruction="Use <<a.output>>.", depends_on=("a",)),
        Task("c", "tool", name="t_x", arguments={"of": ["<< b.output >>", 1]}, depends_on=("b",)),
    ),
    synthesis="all of it",
)
BEGUN = {"a": "done", "b": "failed"}
KNOWN = Known(skills=["s"], tools={"t_x": {}}, max_grown=3, max_depth=1)


def llm(task_id: str, *depends_on: str, instruction: str = "do it") -> Task:
    return Task(task_id, "llm", instruction=instruction, depends_on=depends_on)


def test_a_change_adds_drops_and_rewires_tasks_in_a_new_plan() -> None:
    change = Change((llm("b2", "a"),), ("b",), {"b": "b2"}, "in short")
    assert problems(change, PLAN, {"a": "done"}, KNOWN) == []
    after = change.applied(PLAN)
    assert [task.id for task in after.tasks] == ["a", "c", "b2"]
    assert after.task("c").depends_on == ("b2",)
    assert after.task("c").arguments == {"of": ["<< b2.output >>", 1]}
    assert (after.synthesis, after.grown, set(after.dropped)) == ("in short", 1, {"b"})
    assert [task.id for task in PLAN.tasks] == ["a", "b", "c"], "a plan itself never changes"


def test_a_failed_task_stays_and_is_replaced_by_another() -> None:
    change = Change((llm("again", "a"),), (), {"b": "again"})
    assert problems(change, PLAN, BEGUN, KNOWN) == []
    after = change.applied(PLAN)
    assert after.task("c").depends_on == ("again",)
    assert after.synthesis == "all of it"


FAULTS = {
    "an id that is in the plan": (Change((llm("b"),)), ["the id 'b' was used before; give the added task another"]),
    "a dropped task that began": (
        Change((), ("a",)),
        [
            "task 'a' has begun and cannot be dropped: it is done",
            "task 'b' depends on 'a', which is dropped; drop it too, or rewire 'a'",
            "task 'b' refers to <<a.output>>, but there is no task 'a'; tasks are: b, c",
        ],
    ),
    "a dropped task that is not there": (Change((), ("x",)), ["there is no task 'x' to drop"]),
    "a rewired task that is not there": (
        Change((llm("d"),), (), {"x": "d"}),
        ["there is no task 'x' to rewire"],
    ),
    "rewired to nothing": (
        Change((), (), {"b": "d"}),
        [
            "'b' cannot be rewired to 'd', which is not in the plan; add it",
            "task 'c' depends on 'd', which is not in the plan; tasks are: a, b, c",
            "task 'c' refers to <<d.output>>, but there is no task 'd'; tasks are: a, b, c",
        ],
    ),
    "rewiring a task that began": (
        Change((llm("d"),), (), {"a": "d"}),
        ["task 'b' has begun and cannot be rewired: it is failed"],
    ),
    "a dependency on a failed task": (
        Change((llm("d", "b"),)),
        ["task 'd' depends on 'b', which failed; depend on what replaces it"],
    ),
    "a dependency on a dropped task": (
        Change((llm("d", "c"),), ("c",)),
        ["task 'd' depends on 'c', which is dropped; drop it too, or rewire 'c'"],
    ),
    "a dependency that is not there": (
        Change((llm("d", "x"),)),
        ["task 'd' depends on 'x', which is not in the plan; tasks are: a, b, c, d"],
    ),
    "a circle": (
        Change((llm("d", "e"), llm("e", "d"))),
        ["the dependencies go in a circle: d → e → d, each waiting for the next; remove one of them"],
    ),
    "a reference that is not upstream": (
        Change((llm("d", instruction="<<a.output>>"),)),
        ["task 'd' refers to <<a.output>>, but 'a' is not upstream of it; add 'a' to its depends_on"],
    ),
    "two added tasks of one id": (
        Change((llm("d"), llm("d"))),
        ["the id 'd' is used by 2 tasks; ids must be unique"],
    ),
    "an id with a character too many": (
        Change((llm("d d"),)),
        ["task id 'd d' may hold only letters, digits, '_' and '-', 64 at most"],
    ),
    "an unknown skill": (
        Change((Task("d", "skill", name="nope"),)),
        ["task 'd': there is no skill 'nope'; known are: s"],
    ),
    "more than max_grown": (
        Change(tuple(llm(f"d{number}") for number in range(4))),
        ["the plan may grow by 3 tasks in all; this would add 4: raise max_grown, or add fewer"],
    ),
    "deeper than max_depth": (
        Change((llm("a/b/c"),)),
        ["sub-goals may be nested 1 deep, not 2: raise max_depth, or plan it in one"],
    ),
    "an id over 200 characters": (
        Change((llm("/".join(["a" * 64] * 4)),)),
        [
            "sub-goals may be nested 1 deep, not 3: raise max_depth, or plan it in one",
            f"the task id '{'a' * 60}'… has 259 characters; 200 are allowed at most",
        ],
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_is_named_with_a_remedy(name: str) -> None:
    change, expected = FAULTS[name]
    assert problems(change, PLAN, BEGUN, KNOWN) == expected


def test_the_growth_limit_counts_earlier_growth() -> None:
    grown = Change((llm("d"), llm("e"))).applied(PLAN)
    (fault,) = problems(Change((llm("f"), llm("g"))), grown, BEGUN, KNOWN)
    assert fault.startswith("the plan may grow by 3 tasks in all; it has grown by 2 already, and this would add 2")


def test_a_dropped_id_is_never_used_again() -> None:
    without = Change((), ("c",)).applied(PLAN)
    assert problems(Change((llm("c"),)), without, BEGUN, KNOWN) == [
        "the id 'c' was used before; give the added task another"
    ]


@given(plans(), st.data())
def test_equal_tasks_make_equal_plans(plan: Plan, data: st.DataObject) -> None:
    """Adding tasks in one change or in several, and dropping what was added, gives the same tasks and graph."""
    cut = data.draw(st.integers(0, len(plan.tasks)))
    stepwise = Plan(plan.tasks[:cut], plan.synthesis)
    for task in plan.tasks[cut:]:
        stepwise = stepwise.changed([task])
    assert stepwise == plan
    assert set(stepwise.graph.edges) == set(plan.graph.edges)
    assert stepwise.grown == len(plan.tasks) - cut
    extra = Task("extra", "llm")
    assert plan.changed([extra]).changed(dropped=["extra"]) == plan


def test_a_grown_task_is_a_part_of_its_parent_and_no_final_task() -> None:
    plan = Plan((Task("a", "llm"), Task("b", "llm", depends_on=("a",)))).changed(
        [Task("b[1]", "llm"), Task("b[2]", "llm"), Task("a/x", "llm")]
    )
    assert [task.id for task in plan.finals] == ["b"]
    assert [task.id for task in plan.parts_of("b")] == ["b[1]", "b[2]"]
    assert ("b[1]", "b") in plan.graph.edges
    assert [task.id for task in plan.without_grown().tasks] == ["a", "b"]


def test_a_replaced_task_is_not_part_of_the_answer() -> None:
    plan = PLAN.changed([llm("b2", "a")], (), {"b": "b2"})
    assert plan.replaced == {"b"}
    assert [task.id for task in plan.finals] == ["c"]
    assert [task.id for task in plan.without_replaced().tasks] == ["a", "c", "b2"]
    last = plan.changed([llm("c2", "b2")], (), {"c": "c2"}).changed([], ["c2"])
    assert last.replaced == {"b", "c"}
    assert last.finals == ()


def test_an_empty_synthesis_removes_the_synthesis() -> None:
    assert PLAN.changed(synthesis="").synthesis is None
    assert PLAN.changed(synthesis=None).synthesis == "all of it"


def test_an_edited_task_keeps_its_id() -> None:
    change = Change((llm("c", "a"),), ("c",))
    assert problems(change, PLAN, {"a": "done"}, KNOWN) == ["the id 'c' was used before; give the added task another"]
    assert problems(change, PLAN, {"a": "done"}, KNOWN, edited=["c"]) == []
