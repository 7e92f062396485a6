from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalwright_planner.plan.output_schema import KEYWORDS, canonical, excluded, schema_faults, value_faults

ROWS = {
    "type": "object",
    "properties": {
        "rows": {
            "type": "array",
            "maxItems": 3,
            "items": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name", "n"]},
        },
        "note": {"type": ["string", "null"]},
        "any": {},
    },
    "required": ["rows"],
}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "enum": ["a", "b"], "minLength": 0, "maxLength": 3},
        {"type": ["number", "null"], "minimum": -1.5, "maximum": 2},
        {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 1},
        {"properties": {"type": {"type": "string"}, "items": {"type": "array"}}},
    ],
)
def test_a_schema_of_these_keywords_has_no_faults(schema: dict[str, Any]) -> None:
    assert list(schema_faults(schema)) == []


@pytest.mark.parametrize(
    ("schema", "fault"),
    [
        ("a string", "'output_schema' must be an object with a JSON Schema, not a string"),
        ([], "'output_schema' must be an object with a JSON Schema, not an array"),
        (True, "'output_schema' must be an object with a JSON Schema, not a boolean"),
        ({}, "'output_schema' is empty; say at least its 'type'"),
        (
            {"type": "string", "pattern": "(a+)+$"},
            "'output_schema' has the keyword 'pattern', which is not supported; use only " + ", ".join(KEYWORDS),
        ),
        (
            {"type": "object", "properties": {"a": {"$ref": "http://example.com"}}},
            "'output_schema.properties.a' has the keyword '$ref', which is not supported; use only "
            + ", ".join(KEYWORDS),
        ),
        (
            {"type": "text"},
            (
                "'output_schema.type' must be one of object, array, string, number, integer, boolean, null, or a list "
                'of these, not "text"'
            ),
        ),
        ({"type": []}, "'output_schema.type' must be one of"),
        ({"type": 5}, "'output_schema.type' must be one of"),
        ({"enum": []}, "'output_schema.enum' must be a list with one value or more"),
        ({"type": "object", "required": "a"}, "'output_schema.required' must be a list of field names"),
        ({"type": "object", "required": [1]}, "'output_schema.required' must be a list of field names"),
        (
            {"type": "object", "properties": ["a"]},
            "'output_schema.properties' must be an object with a schema for each field, not an array",
        ),
        (
            {"type": "array", "items": [{}]},
            "'output_schema.items' must be an object with a JSON Schema, not an array",
        ),
        ({"minimum": "3"}, "'output_schema.minimum' must be a number, not \"3\""),
        ({"maximum": True}, "'output_schema.maximum' must be a number, not true"),
        ({"minItems": -1}, "'output_schema.minItems' must be a whole number of 0 or more, not -1"),
        ({"maxLength": 1.5}, "'output_schema.maxLength' must be a whole number of 0 or more, not 1.5"),
        ({"minimum": 3, "maximum": 2}, "'output_schema.minimum' is above 'maximum': no value can fit"),
        ({"minLength": 3, "maxLength": 2}, "'output_schema.minLength' is above 'maxLength': no value can fit"),
    ],
)
def test_every_fault_of_a_schema_is_named(schema: object, fault: str) -> None:
    assert [one for one in schema_faults(schema) if one.startswith(fault)] != []


def test_all_faults_of_a_schema_are_found_at_once() -> None:
    schema = {"type": "thing", "format": "date", "minItems": "x", "properties": {"a": {"type": "string", "default": 1}}}
    assert len(list(schema_faults(schema))) == 4


@pytest.mark.parametrize("path", [("rows",), ("rows", 2, "name"), ("rows", 0, "n"), ("any", "x", 5), ("note",)])
def test_a_path_that_a_schema_allows(path: tuple[str | int, ...]) -> None:
    assert excluded(ROWS, path) is None


@pytest.mark.parametrize(
    ("path", "why"),
    [
        (("row",), "the result has no field 'row'; its fields are: rows, note, any"),
        ((0,), "the result is an object, not a list"),
        (("rows", "name"), "rows is an array, not an object"),
        (("rows", 3), "rows has at most 3 items, and the first is [0]"),
        (("rows", 0, "nome"), "rows[0] has no field 'nome'; its fields are: name, n"),
        (("rows", 0, "name", "x"), "rows[0].name is a string, not an object"),
        (("note", 0), "note is a string or null, not a list"),
    ],
)
def test_a_path_that_a_schema_excludes(path: tuple[str | int, ...], why: str) -> None:
    assert excluded(ROWS, path) == why


@pytest.mark.parametrize(
    ("value", "schema", "faults"),
    [
        ({"rows": []}, ROWS, []),
        ({"rows": [{"name": "a", "n": 1}], "more": "is allowed"}, ROWS, []),
        (
            {"rows": [{"name": 5}, {"n": 1}, 7], "note": 1},
            ROWS,
            [
                "note must be a string or null, not a number",
                "rows[0] lacks the field 'n'",
                "rows[0].name must be a string, not a number",
                "rows[1] lacks the field 'name'",
                "rows[2] must be an object, not a number",
            ],
        ),
        ([], ROWS, ["the answer must be an object, not an array"]),
        (3, {"enum": [1, "two", None]}, ['the answer must be one of 1, "two", null']),
        (True, {"type": "integer"}, ["the answer must be an integer, not a boolean"]),
        (1.0, {"type": "integer"}, []),
        (0, {"minimum": 1}, ["the answer must be 1 or more, not 0"]),
        (9, {"maximum": 1.5}, ["the answer must be 1.5 or less, not 9"]),
        ("ab", {"minLength": 3}, ["the answer must have at least 3 characters, not 2"]),
        ("ab", {"maxLength": 1}, ["the answer must have at most 1 characters, not 2"]),
        ([1], {"minItems": 2}, ["the answer must have at least 2 items, not 1"]),
        ([1], {"maxItems": 0}, ["the answer must have at most 0 items, not 1"]),
        (None, {"type": "string"}, ["the answer must be a string, not null"]),
    ],
)
def test_all_faults_of_a_value_are_named_in_order(value: Any, schema: dict[str, Any], faults: list[str]) -> None:
    assert value_faults(value, schema) == faults


@pytest.mark.parametrize("keyword", ["$ref", "$dynamicRef", "pattern", "format", "not", "if", "$schema", "allOf"])
def test_other_keywords_of_a_schema_in_a_record_do_nothing(keyword: str) -> None:
    assert value_faults("x", {"type": "string", keyword: "http://127.0.0.1:1/(x+)+"}) == []


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [True, None, "é\n"]}, '{"a":[true,null,"é\\n"],"b":1}'),
        ([1.0, -0.0, 2.5, 1e300], "[1,0,2.5,1e+300]"),
        ("text", '"text"'),
    ],
)
def test_canonical_json_of_a_value(value: Any, text: str) -> None:
    assert canonical(value) == text


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_canonical_json_keeps_the_value_and_is_stable(value: Any) -> None:
    text = canonical(value)
    assert json.loads(text) == value
    assert canonical(json.loads(text)) == text


@given(JSON, st.sampled_from(["string", "number", "integer", "object", "array", "boolean", "null"]))
def test_any_value_is_validated_without_a_crash(value: Any, kind: str) -> None:
    for schema in ({"type": kind}, {"enum": [1]}, {"minLength": 2, "minItems": 2, "minimum": 2, "required": ["q"]}):
        assert all(fault.startswith("the answer ") for fault in value_faults(value, schema))


@pytest.mark.parametrize("value", [float("nan"), [float("inf")]])
def test_canonical_json_refuses_values_that_json_cannot_write(value: Any) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        canonical(value)
