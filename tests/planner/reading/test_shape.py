"""The numbered plan schema, and the plans that its documents widen to."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalwright_planner.reading.shape import INSTRUCTION_LIMIT, NO_SKILL, SHAPES, numbered_schema

SKILLS = ["cataloging-apis", "writing-changelogs"]

widen = SHAPES["numbered"].widen


def task(number: int, use: str = SKILLS[0], needs: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"id": f"t{number}", "use": use, "instruction": "Do it.", "depends_on": list(needs)}


def admits(schema: dict[str, Any], *tasks: dict[str, Any]) -> bool:
    return bool(jsonschema.Draft202012Validator(schema).is_valid({"tasks": list(tasks)}))


def test_tasks_are_ordered_and_depend_only_on_earlier_ones() -> None:
    schema = numbered_schema(SKILLS, 3)
    assert admits(schema, task(1))
    assert admits(schema, task(1), task(2, NO_SKILL, ("t1",)), task(3, needs=("t1", "t2")))
    assert not admits(schema, task(2))
    assert not admits(schema, task(1, needs=("t1",)))
    assert not admits(schema, task(1), task(2, needs=("t3",)))
    assert not admits(schema, task(1), task(2), task(3, needs=("t2", "t2")))
    assert not admits(schema)
    assert not admits(schema, task(1), task(2), task(3), task(4))


def test_only_known_skills_are_admitted_or_none() -> None:
    schema = numbered_schema(SKILLS, 3)
    assert not admits(schema, task(1, "invented"))
    assert admits(schema, task(1, NO_SKILL))
    assert admits(numbered_schema([], 3), task(1, NO_SKILL))


def test_keywords_that_the_servers_grammar_refuses_are_left_out() -> None:
    text = json.dumps(numbered_schema(SKILLS, 3))
    for keyword in ('"items": false', "pattern", "$defs", "description"):
        assert keyword not in text


TOOLS: dict[str, dict[str, Any]] = {
    "find_patient": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
    "list_visits": {"properties": {"patient_id": {"type": "integer"}, "months": {"type": "array"}, "any": {}}},
    "say_hello": {"type": "object"},
}


def call(number: int, use: str, **arguments: Any) -> dict[str, Any]:
    return {"id": f"t{number}", "use": use, "arguments": arguments}


def test_a_tool_has_its_own_arguments_or_references_in_their_place() -> None:
    schema = numbered_schema(SKILLS, 3, TOOLS)
    assert admits(schema, call(1, "find_patient", name="Ana"), call(2, "list_visits", patient_id="<<t1.output.id>>"))
    assert admits(schema, call(1, "list_visits", patient_id=7, months=["May", 6], any={}), call(2, "say_hello"))
    assert admits(schema, call(1, "say_hello"), task(2, needs=("t1",)))
    assert not admits(schema, call(1, "find_patient"))
    assert not admits(schema, call(1, "find_patient", name="Ana", city="Rome"))
    assert not admits(schema, call(1, "list_visits", patient_id=[7]))
    assert not admits(schema, call(1, "open_door"))
    assert not admits(schema, {**call(1, "say_hello"), "depends_on": []})


@pytest.mark.parametrize(
    "stranger",
    [
        {},
        {"properties": {"a": True, "b": {"type": ["string", "null"]}, "c": {"$ref": "#/nowhere", "pattern": "("}}},
        {"properties": {f"p{number}": {} for number in range(500)}, "required": ["p400", "gone"]},
    ],
)
def test_only_names_and_types_of_a_foreign_schema_are_used(stranger: dict[str, Any]) -> None:
    schema = numbered_schema([], 1, {"odd": stranger})
    jsonschema.Draft202012Validator.check_schema(schema)
    assert len(schema["$defs"]["arguments1"]["properties"]) <= 20
    assert "pattern" not in json.dumps(schema)
    assert admits(schema, call(1, "odd", **dict.fromkeys(schema["$defs"]["arguments1"]["required"], "x")))


def test_calls_widen_to_tool_tasks_with_the_dependencies_of_their_references() -> None:
    rows = [call(1, "find_patient", name="Ana"), call(2, "list_visits", patient_id="<<t1.output.id>>", months=["May"])]
    document = widen({"tasks": [*rows, task(3, NO_SKILL, ("t2",))]})
    first, second, third = document["tasks"]
    assert (first["action_type"], first["name"], first["arguments"]) == ("tool", "find_patient", {"name": "Ana"})
    assert (first["depends_on"], second["depends_on"], third["action_type"]) == ([], ["t1"], "llm")


def test_a_schema_for_no_tasks_raises_value_error() -> None:
    with pytest.raises(ValueError, match="at least one task"):
        numbered_schema(SKILLS, 0)


def test_a_document_widens_to_a_full_plan() -> None:
    plan = widen({"tasks": [task(1), task(2, NO_SKILL, ("t1",))]})
    assert plan["synthesis"] is None
    assert plan["clarification"] is None
    skill, plain = plan["tasks"]
    assert skill == {
        "id": "t1",
        "title": "Do it.",
        "instruction": "Do it.",
        "action_type": "skill",
        "name": SKILLS[0],
        "arguments": "",
        "depends_on": [],
    }
    assert plain["action_type"] == "llm"
    assert "name" not in plain


def test_a_long_instruction_gets_a_short_title() -> None:
    words = "Write the documentation of every endpoint that the service offers to its many clients."
    title = widen({"tasks": [task(1) | {"instruction": words}]})["tasks"][0]["title"]
    assert title == "Write the documentation of every endpoint that the service …"


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """Documents of the numbered schema with three tasks at most, as a grammar would let a model write them."""
    tasks = []
    for number in range(1, draw(st.integers(1, 3)) + 1):
        use = draw(st.sampled_from([*SKILLS, NO_SKILL]))
        needs = [f"t{earlier}" for earlier in range(1, number) if draw(st.booleans())]
        text = draw(st.text(min_size=1, max_size=INSTRUCTION_LIMIT))
        tasks.append({"id": f"t{number}", "use": use, "instruction": text, "depends_on": needs})
    return {"tasks": tasks}


@given(documents())
def test_every_admitted_document_widens_to_a_valid_plan(document: dict[str, Any]) -> None:
    assert admits(numbered_schema(SKILLS, 3), *document["tasks"])
    seen: set[str] = set()
    for item in widen(document)["tasks"]:
        assert set(item["depends_on"]) <= seen
        assert item["action_type"] == "llm" or item["name"] in SKILLS
        seen.add(item["id"])
