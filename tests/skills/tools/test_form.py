"""Forms: the values and faults of an answer, and the detection of secrets."""

from __future__ import annotations

from typing import Any

import pytest

from goalwright_skills.tools.form import asks_secret, parse_answer

FORM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 2, "maxLength": 5},
        "age": {"type": "integer", "minimum": 0},
        "share": {"type": "number", "maximum": 1},
        "sure": {"type": "boolean", "default": False},
        "colour": {"type": "string", "oneOf": [{"const": "r", "title": "Red"}, {"const": "b", "title": "Blue"}]},
        "sizes": {"type": "array", "items": {"type": "string", "enum": ["s", "m", "l"]}, "maxItems": 2},
        "mail": {"type": "string", "format": "email"},
        "day": {"type": "string", "format": "date"},
    },
    "required": ["name"],
}


def one(**field: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"it": field}}


def test_object_is_parsed_with_defaults_and_conversions() -> None:
    values, faults = parse_answer(FORM, '{"name": "Ada", "age": "36", "share": 0.5, "sizes": "s, m"}')
    assert faults == []
    assert values == {"name": "Ada", "age": 36, "share": 0.5, "sizes": ["s", "m"], "sure": False}


def test_every_fault_is_named_at_once() -> None:
    text = '{"age": -1, "share": 2, "sure": "maybe", "colour": "g", "sizes": ["x"], "mail": "no", "day": "3", "odd": 1}'
    faults = parse_answer(FORM, text)[1]
    assert len(faults) == 9
    assert {fault.split()[0] for fault in faults} == {
        "'odd'", "name", "age", "share", "sure", "colour", "sizes", "mail", "day",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("field", "text", "value"),
    [
        ({"type": "string"}, "plain text", "plain text"),
        ({"type": "string"}, "42", "42"),
        ({"type": "integer"}, "42", 42),
        ({"type": "boolean"}, "yes", True),
        ({"type": "string"}, '{"it": "as JSON"}', "as JSON"),
    ],
)
def test_single_field_takes_plain_text(field: dict[str, Any], text: str, value: Any) -> None:
    assert parse_answer(one(**field), text) == ({"it": value}, [])


def test_several_fields_need_an_object() -> None:
    assert parse_answer(FORM, "Ada")[1]
    assert parse_answer({"type": "object", "properties": {}}, "yes") == ({}, [])


@pytest.mark.parametrize(
    "name", ["password", "apiKey", "api_key", "client_secret", "access_token", "PIN", "card_number"]
)
def test_a_form_that_asks_for_a_secret_is_found(name: str) -> None:
    assert asks_secret({"properties": {name: {"type": "string"}}}) == name


@pytest.mark.parametrize("name", ["name", "passenger", "opinion", "spin", "tokens_per_page", "keyword"])
def test_other_forms_do_not_ask_for_a_secret(name: str) -> None:
    assert asks_secret({"properties": {name: {"type": "string"}}}) is None


def test_secret_in_message_or_format_is_detected() -> None:
    assert asks_secret(one(type="string"), "Please enter your password") == "it"
    assert asks_secret(one(type="string", format="password")) == "it"
