"""Faults of `output_schema`, `check`, `model` and of references to fields."""

from __future__ import annotations

import json
from typing import Any

import pytest

from goalwright_planner.plan.change import Change
from goalwright_planner.plan.change import problems as change_problems
from goalwright_planner.plan.known import Known
from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.task import ResultCheck, Task
from goalwright_planner.plan.validate import problems
from goalwright_planner.reading.plan_answer import read_plan
from goalwright_planner.reading.shape import SHAPES, AskedPlan, plan_schema

PARAMETERS = {"type": "object", "properties": {"n": {"type": "integer"}, "text": {"type": "string"}}}
KNOWN = Known(["writing"], {"count_words": PARAMETERS}, 10, models=("fast", "strong"))
FACTS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def llm(task_id: str, *before: str, **keys: Any) -> dict[str, Any]:
    return {"id": task_id, "action_type": "llm", "instruction": "go", "depends_on": list(before)} | keys


def tool(task_id: str, *before: str, **keys: Any) -> dict[str, Any]:
    return {"id": task_id, "action_type": "tool", "name": "count_words", "depends_on": list(before)} | keys


def faults(*rows: dict[str, Any]) -> list[str]:
    return problems({"tasks": rows and list(rows)}, KNOWN)


def test_a_plan_with_every_optional_key_has_no_faults() -> None:
    check = {"ask": "Is it in <<t.output.country>>?", "tries": 0, "model": "strong"}
    assert not faults(
        tool("t"),
        llm("a", "t", output_schema=FACTS, check=check, model="fast"),
        llm("b", "a", instruction="About <<a.output.city>> and <<t.output.rows[0]>>, <<a.output>>"),
        tool("c", "a", arguments={"n": "<<a.output.city>>"}),
        {"id": "s", "action_type": "skill", "name": "writing", "arguments": "<<a.output.city>>", "depends_on": ["a"]},
        llm("d", output_schema=None, check=None, model=None),
    )


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        (
            {"output_schema": {"type": "string", "format": "date"}},
            (
                "task 'a': 'output_schema' has the keyword 'format', which is not supported; use only type, "
                "properties, required, items, enum, minimum, maximum, minLength, maxLength, minItems, maxItems"
            ),
        ),
        ({"output_schema": "text"}, "task 'a': 'output_schema' must be an object with a JSON Schema, not a string"),
        (
            {"model": "openai/gpt-4o"},
            "task 'a': 'model' is 'openai/gpt-4o', which is not the name of a model here; known are",
        ),
        ({"model": 5}, "task 'a': 'model' must be the name of a model, not 5"),
        ({"check": "is it good?"}, "task 'a': 'check' must be an object such as"),
        ({"check": {"tries": 2}}, "task 'a': 'check' needs 'ask', what must hold for the result"),
        ({"check": {"ask": " "}}, "task 'a': 'check' needs 'ask', what must hold for the result"),
        (
            {"check": {"ask": "x", "tries": -1}},
            "task 'a': 'check.tries' must be a whole number from 0 to 10, not -1",
        ),
        (
            {"check": {"ask": "x", "tries": True}},
            "task 'a': 'check.tries' must be a whole number from 0 to 10, not true",
        ),
        ({"check": {"ask": "x", "tries": "two"}}, "task 'a': 'check.tries' must be a whole number from 0 to 10"),
        ({"check": {"ask": "x", "tries": 11}}, "task 'a': 'check.tries' must be a whole number from 0 to 10, not 11"),
        (
            {"check": {"ask": "x", "tires": 2}},
            "task 'a': 'check' has an unknown key 'tires'; use only ask, tries, model",
        ),
        (
            {"check": {"ask": "x", "model": "slow"}},
            "task 'a': 'check.model' is 'slow', which is not the name of a model here",
        ),
        (
            {"check": {"ask": "<<zz.output>>?"}},
            "task 'a' refers to <<zz.output>>, but there is no task 'zz'; tasks are: a",
        ),
        (
            {"check": {"ask": "<<a.output>> is short"}},
            "task 'a' refers to <<a.output>>, its own output; leave that out, or name another task",
        ),
    ],
)
def test_every_fault_of_a_task_is_named(more: dict[str, Any], fault: str) -> None:
    assert [one for one in faults(llm("a", **more)) if one.startswith(fault)] != []


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        (
            {"check": {"ask": "x"}},
            "task 't': a tool task cannot have 'check'; check the result in a task that depends on it",
        ),
        (
            {"output_schema": FACTS},
            "task 't': a tool task cannot have 'output_schema'; fields of its JSON text can be referred to without",
        ),
        ({"model": "fast"}, "task 't': a tool task cannot have 'model'; it calls none"),
    ],
)
def test_a_tool_task_cannot_have_keys_about_its_result(more: dict[str, Any], fault: str) -> None:
    assert faults(tool("t", **more)) == [fault]


@pytest.mark.parametrize(
    ("path", "why"),
    [
        (".town", "but in the output_schema of 'a' the result has no field 'town'; its fields are: city"),
        ("[0]", "but in the output_schema of 'a' the result is an object, not a list"),
        (".city.name", "but in the output_schema of 'a' city is a string, not an object"),
    ],
)
def test_a_path_that_the_schema_excludes_is_a_fault(path: str, why: str) -> None:
    text = f"<<a.output{path}>>"
    for row in (llm("b", "a", instruction=text), tool("b", "a", arguments={"text": text})):
        assert faults(llm("a", output_schema=FACTS), row) == [f"task 'b' refers to {text}, {why}"]


def test_a_result_without_a_schema_may_have_any_field_unless_it_joins_items() -> None:
    task = llm("b", "a", instruction="<<a.output.city>>")
    assert faults(llm("a"), task) == []
    assert faults(llm("a", for_each=["x"], instruction="<<item>>"), task) == [
        (
            "task 'b' refers to <<a.output.city>>, but 'a' has no output_schema; give it one with that field, "
            "or write <<a.output>>"
        )
    ]


def test_a_field_of_a_task_that_is_not_upstream_is_a_fault() -> None:
    assert faults(llm("a", output_schema=FACTS), llm("b", instruction="<<a.output.city>>")) == [
        "task 'b' refers to <<a.output.city>>, but 'a' is not upstream of it; add 'a' to its depends_on"
    ]


def test_the_result_of_a_for_each_is_a_list() -> None:
    each = llm("a", for_each=["x"], instruction="<<item>>", output_schema=FACTS)
    assert not faults(each, llm("b", "a", instruction="<<a.output[0].city>>"))
    assert faults(each, llm("b", "a", instruction="<<a.output.city>>")) == [
        "task 'b' refers to <<a.output.city>>, but in the output_schema of 'a' the result is an array, not an object"
    ]
    texts = tool("a", for_each=["x"], arguments={"text": "<<item>>"})
    assert "has no output_schema" in " ".join(faults(texts, llm("b", "a", instruction="<<a.output[0].city>>")))


def test_conditions_and_lists_may_read_any_field_that_the_schema_allows() -> None:
    when = {"when": '<<a.output.town>> == "Ulm"'}
    each = {"for_each": "<<a.output.town>>", "instruction": "<<item>>"}
    for more in (when, each):
        assert not faults(llm("a"), llm("b", "a", **more))
        (fault,) = faults(llm("a", output_schema=FACTS), llm("b", "a", **more))
        assert fault.endswith("but in the output_schema of 'a' the result has no field 'town'; its fields are: city")


def test_a_check_is_for_each_item() -> None:
    check = {"ask": "It names <<item.name>>."}
    assert not faults(llm("a", for_each=[{"name": "x"}], instruction="<<item.name>>", check=check))
    assert faults(llm("a", check=check)) == [
        "task 'a': <<item>> in 'check' is an item of 'for_each', which is missing; add it, or leave <<item>> out"
    ]
    (fault,) = faults(llm("a", for_each=["x"], check=check))
    assert "every item would be told the same" in fault


def test_an_invalid_schema_is_reported_once() -> None:
    found = faults(llm("a", output_schema={"type": "nothing"}), llm("b", "a", instruction="<<a.output.x>>"))
    assert len(found) == 1


def test_a_change_is_validated_by_the_same_rules() -> None:
    plan = Plan((Task("a", "llm", output_schema=FACTS),))
    added = Task("b", "llm", instruction="<<a.output.town>>", depends_on=("a",), model="slow")
    found = change_problems(Change((added,)), plan, {}, KNOWN)
    assert [one[:30] for one in found] == ["task 'b': 'model' is 'slow', w", "task 'b' refers to <<a.output."]


def test_a_plan_survives_a_round_trip_through_json() -> None:
    row = llm("a", output_schema=FACTS, check={"ask": "x", "tries": 0, "model": "fast"}, model="strong")
    task = Task.from_dict(row)
    assert (task.check, task.model) == (ResultCheck("x", 0, "fast"), "strong")
    assert task.to_dict() == row
    assert Task.from_dict(llm("a", check={"ask": "x"})).to_dict()["check"] == {"ask": "x", "tries": 2}
    assert Task.from_dict(llm("a", output_schema=None, check=None, model=None)).to_dict() == llm("a")


def test_known_keys_are_kept_and_misspelt_ones_are_dropped_with_a_warning() -> None:
    row = llm("a", output_schema=FACTS, check={"ask": "x"}, model="fast")
    read = read_plan({"tasks": [row]}, KNOWN)
    assert (read.document["tasks"], read.faults, read.repairs) == ([row], (), ())
    read = read_plan({"tasks": [llm("a", checks={"ask": "x"})]}, KNOWN)
    assert read.repairs == ("task 'a': the unknown key 'checks' was dropped",)


def test_a_numeric_key_is_an_unknown_key() -> None:
    plan = {"tasks": [{"id": "a", "action_type": "llm", "instruction": "Do it.", 1: "z"}]}
    assert read_plan(plan, KNOWN).repairs == ("task 'a': the unknown key '1' was dropped",)


def test_only_the_full_schema_has_these_keys() -> None:
    assert {"output_schema", "check", "model"} <= plan_schema()["properties"]["tasks"]["items"]["properties"].keys()
    assert "output_schema" not in json.dumps(SHAPES["numbered"].schema(AskedPlan("do this, then that", ["a"], 3)))
