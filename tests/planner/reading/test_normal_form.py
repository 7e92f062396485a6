"""The normal form of a plan: documented aliases, the list of edges, and unknown keys."""

from __future__ import annotations

import json
from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalwright_planner.json_answer import NotJson
from goalwright_planner.plan.known import Known
from goalwright_planner.plan.plan import Plan
from goalwright_planner.reading.plan_answer import Reading, read_answer, read_plan
from goalwright_planner.reading.shape import SHAPES

Edge = tuple[str, str]
JOIN = {("survey", "brief"), ("sheet", "brief")}


def row(task_id: str, **keys: Any) -> dict[str, Any]:
    return {"id": task_id, "action_type": "llm", "instruction": "go", **keys}


ROWS = [row("survey"), row("sheet"), row("brief")]


def read(*tasks: dict[str, Any], **keys: Any) -> Reading:
    return read_plan({"tasks": list(tasks or ROWS), **keys}, Known())


def edges(reading: Reading) -> set[Edge]:
    return {(before, task["id"]) for task in reading.document["tasks"] for before in task.get("depends_on") or ()}


@pytest.mark.parametrize(
    "value",
    [
        [["survey", "brief"], ["sheet", "brief"]],
        [{"from": "survey", "to": "brief"}, {"from": "sheet", "to": "brief"}],
        [["survey", "brief"], {"to": "brief", "from": "sheet"}, ["survey", "brief"]],
    ],
)
def test_a_plans_edges_become_dependencies(value: Any) -> None:
    reading = read(Edges=value)
    assert (reading.faults, edges(reading)) == ((), JOIN)
    assert reading.repairs == ("the plan's key 'Edges' read as 'depends_on'",)


def test_edges_are_added_to_dependencies() -> None:
    tasks = [row("survey", depends_on=[]), row("sheet", depends_on=["survey"]), row("brief", depends_on=[])]
    reading = read(*tasks, edges=[["sheet", "brief"]])
    assert (reading.faults, edges(reading)) == ((), {("survey", "sheet"), ("sheet", "brief")})
    (fault,) = read(*tasks, edges=[{"from": "sheet", "to": "survey"}]).faults
    assert "in a circle" in fault


@pytest.mark.parametrize(
    "value",
    [
        [["brief", "survey"]],
        [["survey", "bref"]],
        [["survey", "sheet", "brief"]],
        [{"from": "survey", "to": "brief", "condition": "if it is long"}],
        [{"source": "survey", "target": "brief"}],
        ["survey -> brief"],
        {"survey": ["brief"]},
        "first to last",
        2,
    ],
)
def test_edges_in_another_form_are_a_fault(value: Any) -> None:
    (fault,) = read(edges=value).faults
    assert fault.startswith("the plan's key 'edges' must be a list of [before, after], in the order of the tasks, or")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("links", [{"source": "survey", "target": "brief"}]),
        ("dependencies", {"brief": ["survey", "sheet"]}),
        ("dependencies", ["brief depends on survey"]),
        ("next", {"survey": ["brief"]}),
        ("dag", "graph TD\n  survey --> brief"),
        ("mermaid", "graph TD\n  A[Survey] --> B[Brief]"),
        ("execution_order", ["survey", "sheet", "brief"]),
        ("order", "first to last"),
        ("parallel", False),
        ("sequential", True),
        ("constraints", "two sources at most"),
        ("final_task", "brief"),
        ("result", {"text": "<<brief.output>>"}),
        ("reasoning", "survey -> sheet -> brief"),
        ("more", [{"id": "x", "action_type": "llm", "instruction": "go"}]),
        ("...", "more tasks here"),
        ("_comment", "... more tasks here"),
    ],
)
def test_a_key_of_the_plan_that_may_change_its_tasks_is_a_fault(key: str, value: Any) -> None:
    (fault,) = read(**{key: value}).faults
    assert f"'{key}'" in fault


@pytest.mark.parametrize(
    "keys",
    [
        {"metadata": {"author": "me"}, "version": 3},
        {"reasoning": "First the survey, then the sheet; the brief is last."},
        {"title": "Write the brief"},
        {"edges": [], "order": None, "parallel": True},
    ],
)
def test_other_keys_of_the_plan_are_dropped_with_a_warning(keys: dict[str, Any]) -> None:
    reading = read(**keys)
    assert (reading.faults, edges(reading)) == ((), set())
    assert reading.repairs == tuple(f"the unknown key '{key}' of the plan was dropped" for key in keys)


@pytest.mark.parametrize(
    ("dependencies", "expected"),
    [
        ({"deps": ["survey", "sheet"]}, JOIN),
        ({"DependsOn": "survey, sheet"}, JOIN),
        ({"requires": "survey"}, {("survey", "brief")}),
        ({"depends_on": None, "after": ["survey", "sheet"]}, JOIN),
        (
            {"depends_on": ["survey"], "dependencies": ["survey"], "inputs": ["<<survey.output>>"]},
            {("survey", "brief")},
        ),
    ],
)
def test_dependencies_are_read_under_their_aliases(dependencies: dict[str, Any], expected: set[Edge]) -> None:
    reading = read(*ROWS[:2], row("brief", **dependencies))
    assert (reading.faults, edges(reading)) == ((), expected)


@pytest.mark.parametrize(
    ("keys", "fault"),
    [
        ({"inputs": {"field": "<<survey.output>>", "file": "x"}}, "names other tasks (survey); list what it waits for"),
        ({"uses": ["$survey", "{{sheet.output}}"]}, "names other tasks (sheet, survey); list what it waits for"),
        ({"wait_for": "Survey and `sheet`"}, "names other tasks (sheet, survey); list what it waits for"),
        ({"depends_on": [], "dependencies": ["survey"]}, "names other tasks (survey); list what it waits for"),
        ({"depends_on": ["sheet"], "parallel_with": ["sheet", "survey"]}, "names other tasks (survey); list what"),
        ({"children": [{"id": "x", "instruction": "go"}]}, "holds tasks; put all tasks into 'tasks' of the plan"),
        ({"requires_approval": True}, "would have no effect; use 'needs_approval'"),
        ({"humanInput": "Is it right?"}, "would have no effect; use 'needs_approval'"),
        ({"skip_if": "it is empty"}, "would have no effect; use 'when'"),
        ({"unless": "it is empty"}, "would have no effect; use 'when'"),
        ({"until": "it is good"}, "would have no effect; use 'repeat' or 'for_each'"),
        ({"loop": {"times": 3}}, "would have no effect; use 'repeat' or 'for_each'"),
        ({"phase": 2}, "would have no effect; write what each task waits for in its 'depends_on'"),
        ({"constraints": ["two sources at most"]}, "would have no effect; say it in 'instruction'"),
        ({"note": "other tasks go here"}, "says that something was left out; write it all"),
    ],
)
def test_a_key_of_a_task_that_may_change_the_plan_is_a_fault(keys: dict[str, Any], fault: str) -> None:
    (found,) = read(*ROWS[:2], row("brief", **keys)).faults
    assert f"task 'brief': the unknown key '{list(keys)[-1]}' {fault}" in found


def test_two_aliases_that_differ_are_faults() -> None:
    faults = read(*ROWS[:2], row("brief", deps=["survey"], after=["sheet"])).faults
    assert [fault.partition(";")[0] for fault in faults] == [
        "task 'brief': the unknown key 'deps' names other tasks (survey)",
        "task 'brief': the unknown key 'after' names other tasks (sheet)",
    ]


def test_text_under_an_unknown_key_is_a_fault_without_an_instruction() -> None:
    (fault,) = read({"id": "b", "action_type": "llm", "what": "Write it"}).faults[:1]
    assert fault == "task 'b': the unknown key 'what' holds text, but 'instruction' is missing; use that key"


def test_arguments_of_a_tool_under_another_key_are_a_fault() -> None:
    known = Known((), {"add": {"properties": {"x": {"type": "string"}}}})
    tool = {"id": "brief", "action_type": "tool", "name": "add", "args": {"x": "1"}}
    (fault,) = read_plan({"tasks": [tool]}, known).faults
    assert fault == "task 'brief': the unknown key 'args' would have no effect; use 'arguments'"


@pytest.mark.parametrize("key", ["confirm", "until", "loop", "constraints"])
@pytest.mark.parametrize("value", [False, None, "", []])
def test_a_controlling_key_without_a_value_is_dropped(key: str, value: object) -> None:
    reading = read(row("a", **{key: value}))
    assert (reading.faults, reading.repairs) == ((), (f"task 'a': the unknown key '{key}' was dropped",))


def test_other_keys_of_a_task_are_dropped_with_a_warning() -> None:
    reading = read(row("a", priority="high", description="more"))
    assert (reading.faults, reading.document["tasks"]) == ((), [row("a")])
    assert reading.repairs == (
        "task 'a': the unknown key 'priority' was dropped",
        "task 'a': the unknown key 'description' was dropped",
    )


IDS = ("a", "b-2", "step_3", "1", "2", "task", "from", "Report", "order", "tasks")
CASES = (str, str.upper, str.title, lambda key: key.replace("_", "-"), lambda key: key.replace("_", ""))
TASK_KEYS = ("depends_on", "dependencies", "deps", "requires", "after", "wait_for", "blocked_by", "inputs", "next")


def by_task(ids: list[str], pairs: list[Edge]) -> dict[str, list[str]]:
    return {task_id: [after for before, after in pairs if before == task_id] for task_id in ids}


@st.composite
def stated_edges(draw: st.DrawFn) -> tuple[str, list[Edge]]:
    """An answer that states edges in some form, and these edges."""
    ids = draw(st.lists(st.sampled_from(IDS), min_size=2, max_size=6, unique=True))
    pairs = [(before, after) for number, after in enumerate(ids) for before in ids[:number]]
    edges = draw(st.lists(st.sampled_from(pairs), min_size=1, unique=True))
    listed = draw(st.permutations(ids)) if draw(st.booleans()) else ids
    tasks = [row(task_id) | ({"depends_on": []} if draw(st.booleans()) else {}) for task_id in listed]
    document: dict[str, Any] = {"tasks": tasks}
    beside: dict[str, Any] = {}
    place = draw(st.sampled_from(["plan", "task", "beside"]))
    if place == "task":
        key = draw(st.sampled_from(CASES))(draw(st.sampled_from(TASK_KEYS)))
        form = draw(st.sampled_from(["{}", "<<{}.output>>", "{{{{{}.output}}}}"]))
        for task in tasks:
            names = [form.format(before) for before, after in edges if after == task["id"]]
            if names and not task.get("depends_on"):
                task[key] = draw(st.sampled_from([names, ", ".join(names)]))
    else:
        forms: dict[str, Any] = {
            "edges": draw(st.sampled_from([edges, [{"from": before, "to": after} for before, after in edges]])),
            "links": [{"source": before, "target": after} for before, after in edges],
            "flow": "; ".join(f"{before} --> {after}" for before, after in edges),
            "dag": draw(st.sampled_from([{"edges": edges}, by_task(ids, edges)])),
            "next": by_task(ids, edges),
            "dependencies": by_task(ids, [(after, before) for before, after in edges]),
            "anything": edges,
        }
        key = draw(st.sampled_from(list(forms)))
        stated = {draw(st.sampled_from(CASES))(key): forms[key]}
        document, beside = (stated | document, {}) if place == "plan" else (document, stated)
    text = json.dumps(document)
    return (f"```json\n{text}\n```\nand\n```json\n{json.dumps(beside)}\n```" if beside else text), edges


@given(stated_edges())
def test_an_accepted_plan_has_every_edge_that_its_text_states(answer: tuple[str, list[Edge]]) -> None:
    text, stated = answer
    try:
        reading = read_answer(text, SHAPES["full"], Known())
    except NotJson:
        return
    if reading.faults:
        return
    closure = nx.transitive_closure_dag(Plan.from_dict(reading.document).graph)
    assert set(map(tuple, stated)) <= set(closure.edges), (text, list(closure.edges))
    again = read_answer(json.dumps(reading.document), SHAPES["full"], Known())
    assert (again.document, again.faults, again.repairs) == (reading.document, (), ()), "it is in normal form"
