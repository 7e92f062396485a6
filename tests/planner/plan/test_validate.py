"""All faults of a plan are found at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalwright_planner.plan.known import Known
from goalwright_planner.plan.validate import problems
from tests.plans import plans

if TYPE_CHECKING:
    from goalwright_planner.plan.plan import Plan

KNOWN = Known(
    ["cataloging-apis", "code-review"],
    {
        "excel_read": {
            "properties": {
                "path": {"type": "string"},
                "sheet": {},
                "rows": {"type": "integer"},
                "form": {"type": "string", "enum": ["csv", "json"]},
            },
            "required": ["path"],
        }
    },
    max_tasks=5,
)


def llm(task_id: Any, *before: str, **keys: Any) -> dict[str, Any]:
    return {"id": task_id, "action_type": "llm", "depends_on": list(before), **keys}


def faults_of(*tasks: Any, **keys: Any) -> str:
    return "\n".join(problems({"tasks": list(tasks), **keys}, KNOWN))


def test_the_example_of_the_contract_has_no_faults() -> None:
    survey = {"id": "s", "action_type": "skill", "name": "cataloging-apis", "arguments": "", "depends_on": []}
    sheet = {"id": "x", "action_type": "tool", "name": "excel_read", "arguments": {"path": "a.xlsx"}}
    assert faults_of(survey, sheet, llm("b", "s", "x", instruction="<<s.output>> <<x.output>>")) == ""


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ([llm("a"), llm("a")], "the id 'a' is used by 2 tasks"),
        ([llm("")], "task number 1 has no 'id'"),
        ([{"action_type": "llm"}], "task number 1 has no 'id'"),
        ([llm(7)], "'id' must be a string, not a number"),
        ([llm("a b")], "may hold only letters"),
        ([llm("a"), llm("b", "x")], "task 'b' depends on 'x', which is not in the plan; tasks are: a, b"),
        (
            [llm("a"), llm("b", "code-review")],
            "task 'b' depends on 'code-review', which is not in the plan; give it a task of its own, before this one",
        ),
        ([llm("a", "a")], "task 'a' depends on itself"),
        ([llm("a", "c"), llm("b", "a"), llm("c", "b")], "in a circle: a → c → b → a, each waiting for the next"),
        ([{"id": "a", "action_type": "skill", "name": "cataloging-api"}], "known are: cataloging-apis"),
        ([{"id": "a", "action_type": "skill"}], "needs 'name'"),
        ([{"id": "a", "action_type": "skill", "name": "excel_read"}], "use action_type 'tool'"),
        ([{"id": "a", "action_type": "tool", "name": "code-review"}], "use action_type 'skill'"),
        ([{"id": "a", "action_type": "tool", "name": "excel_raed", "arguments": {}}], "known are: excel_read"),
        ([{"id": "a", "action_type": "tool"}], "needs 'name'"),
        ([{"id": "a", "action_type": "tool", "name": "excel_read"}], "needs the argument 'path'"),
        (
            [{"id": "a", "action_type": "tool", "name": "excel_read", "arguments": {"path": "x", "seet": 1}}],
            "no argument 'seet'; known are: sheet",
        ),
        ([{"id": "a", "action_type": "tool", "name": "excel_read", "arguments": "x"}], "must be an object"),
        ([{"id": "a", "action_type": "skill", "name": "code-review", "arguments": {"x": 1}}], "must be a string"),
        ([{"id": "a", "action_type": "think"}], "'action_type' is 'think'"),
        ([{"id": "a"}], "'action_type' is missing"),
        ([llm("a") | {"depends_on": "b"}], "'depends_on' must be a list of task ids, not a string"),
        ([llm("a") | {"depends_on": [1]}], "task ids as strings"),
        ([llm("a", instruction=5)], "'instruction' must be a string, not a number"),
        ([llm("a", title=True)], "'title' must be a string, not a boolean"),
        (["a"], "task number 1 must be an object, not a string"),
        ([llm("a"), llm("b", instruction="<<a.output>>")], "'a' is not upstream of it; add 'a'"),
        ([llm("b", instruction="<<x.output>>")], "there is no task 'x'"),
        ([llm("b", instruction="<<b.output>>")], "task 'b' refers to <<b.output>>, its own output; leave that out"),
        (
            [llm("a", instruction="<<b.output>>"), llm("b", "a")],
            "'b' is not upstream of it; it waits for this task: leave the reference out",
        ),
        ([llm(str(n)) for n in range(6)], "6 tasks, more than the 5 allowed"),
    ],
)
def test_a_fault_is_named_with_its_remedy(tasks: list[Any], message: str) -> None:
    assert message in faults_of(*tasks)


def call(**arguments: Any) -> dict[str, Any]:
    return {"id": "b", "action_type": "tool", "name": "excel_read", "arguments": arguments, "depends_on": ["a"]}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"path": 5}, "tool 'excel_read' takes a string as 'path', not 5"),
        ({"path": "x", "rows": "ten"}, "takes an integer as 'rows', not 'ten'"),
        ({"path": "x", "rows": True}, "takes an integer as 'rows', not True"),
        ({"path": "x", "form": "xml"}, "takes one of 'csv', 'json' as 'form', not 'xml'"),
        ({"path": None}, "needs the argument 'path'"),
    ],
)
def test_an_argument_that_the_tool_would_refuse_is_found_before_it_runs(
    arguments: dict[str, Any], message: str
) -> None:
    assert message in faults_of(llm("a"), call(**arguments))


def test_an_argument_with_a_reference_is_not_checked() -> None:
    arguments = {"path": "x", "rows": "<<a.output>>", "form": "<<a.output>>", "sheet": [1]}
    assert faults_of(llm("a"), call(**arguments)) == ""
    assert faults_of(llm("a"), call(path="x", rows=None)) == ""


def test_all_faults_are_reported_at_once() -> None:
    faults = problems(
        {"tasks": [llm("a", "z"), llm("a"), {"id": "c", "action_type": "skill", "name": "nope"}], "synthesis": 3}, KNOWN
    )
    assert len(faults) == 4


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "not a list"),
        (None, "not null"),
        ("x", "not a string"),
        ({}, "'tasks' must be a list of tasks, not null"),
        ({"tasks": {}}, "not an object"),
        ({"tasks": []}, "no tasks"),
        ({"tasks": [], "clarification": " "}, "no tasks"),
        ({"tasks": [], "clarification": 4}, "'clarification' must be a string"),
    ],
)
def test_a_document_that_is_not_a_plan_is_a_fault(document: object, message: str) -> None:
    assert message in "\n".join(problems(document, KNOWN))


def test_a_question_instead_of_tasks_is_valid() -> None:
    assert problems({"clarification": "Which service?"}, KNOWN) == []
    assert problems({"tasks": [], "clarification": "Which service?"}, KNOWN) == []


@given(plans(), st.data())
def test_every_cycle_is_reported(plan: Plan, data: st.DataObject) -> None:
    known = Known(["a_name"], {"a_name": {}}, max_tasks=50)
    document = plan.to_dict()
    for row in document["tasks"]:
        row["arguments"] = {} if row["action_type"] == "tool" else ""
    assert problems(document, known) == []
    edges = [(row["id"], before) for row in document["tasks"] for before in row["depends_on"]]
    if edges:
        after, before = data.draw(st.sampled_from(edges))
        next(row for row in document["tasks"] if row["id"] == before)["depends_on"].append(after)
        assert any("circle" in fault for fault in problems(document, known))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda c: (
            st.lists(c)
            | st.dictionaries(st.sampled_from(["tasks", "id", "action_type", "name", "depends_on", "arguments"]), c)
        ),
        max_leaves=12,
    )
)
def test_no_document_crashes_validation(document: object) -> None:
    assert isinstance(problems(document, KNOWN), list)
