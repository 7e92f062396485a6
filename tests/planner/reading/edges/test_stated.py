"""What plans state about the order of their tasks, however models write it: read exactly, or a fault."""

from __future__ import annotations

from typing import Any

import pytest

from goalwright_planner.plan.validate import Known
from goalwright_planner.reading.plan_answer import Reading, read_plan

JOIN = {("survey", "brief"), ("sheet", "brief")}
CHAIN = {("survey", "sheet"), ("sheet", "brief")}
TITLES = {"survey": "Survey the field", "sheet": "Read the sheet", "brief": "Write the brief"}


def row(task_id: str, **more: Any) -> dict[str, Any]:
    return {"id": task_id, "title": TITLES[task_id], "action_type": "llm", "instruction": "go", **more}


ROWS = [row("survey"), row("sheet"), row("brief")]


def edges(reading: Reading) -> set[tuple[str, str]]:
    return {(before, task["id"]) for task in reading.document["tasks"] for before in task.get("depends_on") or ()}


READ: dict[str, tuple[dict[str, Any], set[tuple[str, str]]]] = {
    "edges as pairs": ({"edges": [["survey", "brief"], ["sheet", "brief"]]}, JOIN),
    "edges from to": ({"edges": [{"from": "survey", "to": "brief"}, {"source": "sheet", "target": "brief"}]}, JOIN),
    "edges with labels": ({"edges": [{"id": "e1", "type": "data", "from": ["survey", "sheet"], "to": "brief"}]}, JOIN),
    "edges as arrows": ({"edges": ["survey -> brief", "sheet → brief"]}, JOIN),
    "edges by task": ({"edges": {"survey": ["brief"], "sheet": "brief"}}, JOIN),
    "edges in another case": ({"Edges": [["SURVEY", "brief"], ["sheet", "Brief"]]}, JOIN),
    "links": ({"links": [{"source": "survey", "target": "brief"}, {"source": "sheet", "target": "brief"}]}, JOIN),
    "connections": ({"connections": ["survey, sheet -> brief"]}, JOIN),
    "dependencies by task": ({"dependencies": {"brief": ["survey", "sheet"], "survey": []}}, JOIN),
    "dependencies by title": ({"dependencies": {"Write the brief": ["survey the field", "Read the sheet"]}}, JOIN),
    "dependencies in rows": ({"dependencies": [{"task": "brief", "depends_on": ["survey", "sheet"]}]}, JOIN),
    "dependencies in words": ({"dependencies": ["brief depends on survey", "brief after sheet"]}, JOIN),
    "successors": ({"next": {"survey": ["brief"], "sheet": ["brief"]}}, JOIN),
    "dag with edges": ({"dag": {"nodes": list(TITLES), "edges": [["survey", "brief"], ["sheet", "brief"]]}}, JOIN),
    "dag in words": ({"dag": "survey -> brief; sheet -> brief"}, JOIN),
    "dag by task": ({"dag": {"brief": {"depends_on": ["survey", "sheet"]}}}, JOIN),
    "mermaid": ({"dag": "graph TD\n  A[Survey the field] --> C[Write the brief]\n  B(sheet) --> C"}, JOIN),
    "mermaid with ids": ({"mermaid": "flowchart LR\n  survey & sheet --> brief"}, JOIN),
    "dot": ({"graph": 'digraph G {\n rankdir=LR;\n survey -> brief [label="x"];\n brief <- sheet;\n}'}, JOIN),
    "order": ({"order": ["survey", "sheet", "brief"]}, CHAIN),
    "order in words": ({"order": "survey, sheet, brief"}, CHAIN),
    "order with arrows": ({"execution_order": "survey -> sheet -> brief"}, CHAIN),
    "order in levels": ({"execution_order": [["survey", "sheet"], ["brief"]]}, JOIN),
    "order by number": ({"order": {"survey": 1, "sheet": 1, "brief": 2}}, JOIN),
    "levels by number": ({"levels": {"level 1": ["survey", "sheet"], "level 2": ["brief"]}}, JOIN),
    "stages": ({"stages": [{"stage": 1, "tasks": ["survey", "sheet"]}, {"stage": 2, "tasks": ["brief"]}]}, JOIN),
    "phases": ({"phases": [{"name": "get", "tasks": ["survey", "sheet"]}, {"name": "put", "tasks": ["brief"]}]}, JOIN),
    "in sequence": ({"execution_mode": "sequential"}, CHAIN),
    "not in parallel": ({"parallel": False}, CHAIN),
}  # fmt: skip


@pytest.mark.parametrize("form", READ)
def test_what_a_key_of_the_plan_states_is_read(form: str) -> None:
    more, wanted = READ[form]
    reading = read_plan({"tasks": ROWS, **more}, Known())
    assert (reading.faults, edges(reading)) == ((), wanted)
    assert reading.repairs, "and said to be"


FAULTS: dict[str, dict[str, Any]] = {
    "pairs against the order of the tasks": {"edges": [["brief", "survey"], ["brief", "sheet"]]},
    "an edge with a condition": {"edges": [{"from": "survey", "to": "brief", "condition": "if it is long"}]},
    "an edge to what is not there": {"edges": [["survey", "bref"]]},
    "an edge between what is not there": {"edges": [{"from": "first", "to": "last"}]},
    "a map that does not say which side waits": {"dag": {"brief": ["survey", "sheet"]}},
    "dependencies as pairs": {"dependencies": [["brief", "survey"]]},
    "dependencies as arrows": {"dependencies": ["brief -> survey"]},
    "edges in words that name no task": {"edges": "the first two before the last"},
    "edges that are a number": {"links": 2},
    "a graph in words that name no task": {"dag": "a fork, then a join"},
    "an order in words that name no task": {"order": "first to last"},
    "an order without a task": {"order": ["survey", "brief"]},
    "an order with a task twice": {"order": ["survey", "sheet", "survey", "brief"]},
    "an order with unknown tasks": {"order": ["survey", "sheet", "brief", "publish"]},
    "an unknown key": {"final_task": "brief"},
    "an unknown key with references": {"result": {"text": "<<brief.output>>"}},
    "an unknown key with titles": {"milestones": ["Write the brief"]},
    "prose that says more": {"reasoning": "We do it in turn: survey -> sheet -> brief."},
    "prose that says more in words": {"notes": "Note that brief depends on survey."},
    "tasks elsewhere": {"more": [{"id": "x", "action_type": "llm", "instruction": "go"}]},
    "tasks left out": {"...": "more tasks here"},
    "tasks left out in words": {"_comment": "... more tasks here"},
}


@pytest.mark.parametrize("form", FAULTS)
def test_what_cannot_be_read_exactly_is_a_fault_that_names_the_key(form: str) -> None:
    reading = read_plan({"tasks": ROWS, **FAULTS[form]}, Known())
    (key,) = FAULTS[form]
    assert any(f"'{key}'" in fault for fault in reading.faults), reading


@pytest.mark.parametrize(
    "more",
    [
        {"metadata": {"author": "me"}, "version": 3},
        {"dependencies": ["numpy"]},
        {"reasoning": "First the survey, then the sheet; the brief is last."},
        {"title": "Write the brief"},
        {"edges": [], "order": None},
    ],
)
def test_a_key_that_orders_nothing_stays_a_warning(more: dict[str, Any]) -> None:
    reading = read_plan({"tasks": ROWS, **more}, Known())
    assert (reading.faults, edges(reading)) == ((), set())
    assert [repair.partition("'")[2].partition("'")[0] for repair in reading.repairs] == list(more)


@pytest.mark.parametrize(
    ("more", "wanted"),
    [
        ({"wait_for": ["survey", "sheet"]}, JOIN),
        ({"inputs": ["<<survey.output>>", "$sheet"]}, JOIN),
        ({"inputs": {"field": "<<survey.output>>", "table": "{{sheet.output}}"}}, JOIN),
        ({"context": ["survey", "sheet"]}, JOIN),
        ({"Depends_On": ["survey", "sheet"]}, JOIN),
        ({"DependsOn": "survey and sheet"}, JOIN),
        ({"depends-on": ["Survey the field", "READ THE SHEET"]}, JOIN),
        ({"depends_on": [{"id": "survey"}, {"task": "sheet"}]}, JOIN),
        ({"depends_on": ["<<survey.output>>", "`sheet`"]}, JOIN),
    ],
)
def test_what_a_task_waits_for_is_read_under_other_names(more: dict[str, Any], wanted: set[tuple[str, str]]) -> None:
    reading = read_plan({"tasks": [*ROWS[:2], row("brief", **more)]}, Known())
    assert (reading.faults, edges(reading)) == ((), wanted)


@pytest.mark.parametrize(
    "more",
    [
        {"inputs": {"field": "<<survey.output>>", "file": "report.pdf"}},
        {"depends_on": [], "wait_for": ["survey"]},
        {"parallel_with": ["survey"]},
        {"before": ["survey"]},
        {"note": "starts after survey"},
        {"children": [{"id": "x", "instruction": "go"}]},
        {"depends_on": ["the survey"]},
    ],
)
def test_what_a_task_says_of_others_is_never_lost(more: dict[str, Any]) -> None:
    assert read_plan({"tasks": [*ROWS[:2], row("brief", **more)]}, Known()).faults


def test_two_tasks_of_one_title_are_found_by_neither() -> None:
    rows = [row("survey", title="Read"), row("sheet", title="read"), row("brief", depends_on=["Read"])]
    assert read_plan({"tasks": rows}, Known()).faults == (
        "task 'brief' depends on 'Read', which is not in the plan; tasks are: survey, sheet, brief",
    )


def test_what_comes_after_a_task_lets_the_others_wait() -> None:
    rows = [row("survey", next=["brief"]), row("sheet", successors="Write the brief"), row("brief")]
    assert edges(read_plan({"tasks": rows}, Known())) == JOIN


@pytest.mark.parametrize(
    ("key", "values"),
    [("level", (1, 1, 2)), ("phase", ("Phase 1", "phase 1", "Phase 2: write")), ("step", ("1", "1", "2"))],
)
def test_numbers_of_tasks_are_an_order(key: str, values: tuple[Any, ...]) -> None:
    rows = [row(task_id, **{key: value}) for task_id, value in zip(TITLES, values, strict=True)]
    reading = read_plan({"tasks": rows}, Known())
    assert (reading.faults, edges(reading)) == ((), JOIN)


@pytest.mark.parametrize("values", [("gather", "gather", "write"), (1, 2, None)])
def test_an_order_that_cannot_be_read_is_a_fault(values: tuple[Any, ...]) -> None:
    rows = [row(task_id, phase=value) for task_id, value in zip(TITLES, values, strict=True)]
    (fault,) = read_plan({"tasks": rows}, Known()).faults
    assert "'phase'" in fault


def test_an_order_counts_only_as_far_as_dependencies_say_the_same() -> None:
    rows = [row("survey", level=1), row("sheet", level=1), row("brief", level=2, depends_on=["survey"])]
    (fault,) = read_plan({"tasks": rows}, Known()).faults
    assert "the key 'level' of tasks has 'brief' after 'sheet', which 'depends_on' does not say" in fault
    rows[2] = row("brief", level=2, depends_on=["survey", "sheet"])
    reading = read_plan({"tasks": rows, "order": [["survey", "sheet"], "brief"]}, Known())
    assert (reading.faults, edges(reading)) == ((), JOIN)


def test_edges_join_what_tasks_wait_for_already() -> None:
    rows = [row("survey", depends_on=[]), row("sheet", depends_on=["survey"]), row("brief", depends_on=[])]
    reading = read_plan({"tasks": rows, "edges": [["sheet", "brief"]]}, Known())
    assert (reading.faults, edges(reading)) == ((), CHAIN)
    (fault,) = read_plan({"tasks": rows, "edges": ["sheet -> survey"]}, Known()).faults
    assert "in a circle" in fault


def test_inputs_of_a_tool_are_its_arguments() -> None:
    known = Known((), {"add": {"properties": {"x": {"type": "string"}}, "required": ["x"]}})
    tool = {"id": "brief", "action_type": "tool", "name": "add", "depends_on": ["survey"]}
    reading = read_plan({"tasks": [ROWS[0], tool | {"inputs": {"x": "<<survey.output>>"}}]}, known)
    assert reading.faults == ()
    assert reading.document["tasks"][1]["arguments"] == {"x": "<<survey.output>>"}


def test_an_order_that_asks_for_none_is_dropped_and_said() -> None:
    reading = read_plan({"tasks": ROWS, "order": "in parallel", "edges": []}, Known())
    dropped = ("the unknown key 'order' of the plan was dropped", "the unknown key 'edges' of the plan was dropped")
    assert (reading.faults, reading.repairs) == ((), dropped)
