"""The language of conditions, and its faults with their columns."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalwright_planner.plan.conditions import (
    LONGEST,
    CompareTest,
    ConditionError,
    Constant,
    EmptyTest,
    Junction,
    Negation,
    ValueOf,
    parse,
    problems,
    values_in,
)

A = ValueOf("a", "output")
ONE = Constant(Decimal(1))


def same(value: ValueOf | Constant = A) -> CompareTest:
    return CompareTest(value, "==", ONE)


def test_the_condition_of_the_contract_is_parsed() -> None:
    assert parse('<<review.output.severity>> == "high" and <<files.count>> > 0') == Junction(
        "and",
        (
            CompareTest(ValueOf("review", "output", ".severity"), "==", Constant("high")),
            CompareTest(ValueOf("files", "count"), ">", Constant(Decimal(0))),
        ),
    )


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("<<a.output>> == 1", same()),
        ("<< a.output >>==1", same()),
        ("(<<a.output>> == 1)", same()),
        ("not <<a.output>> == 1", Negation(same())),
        ("NOT NOT <<a.output>> == 1", Negation(Negation(same()))),
        ("<<a.output>> is empty", EmptyTest(A)),
        ("<<a.output>> is not empty", Negation(EmptyTest(A))),
        ("<<a.output>> Contains 'x'", CompareTest(A, "contains", Constant("x"))),
        ("<<a.output.rows[0].first-name>> == 1", same(ValueOf("a", "output", ".rows[0].first-name"))),
        ("<<a.output[2]>> == 1", same(ValueOf("a", "output", "[2]"))),
        ("true != null", CompareTest(Constant(True), "!=", Constant(None))),
        ("-2.50 <= 1e3", CompareTest(Constant(Decimal("-2.50")), "<=", Constant(Decimal("1E+3")))),
        (r""" 'it\'s' == "\"" """, CompareTest(Constant("it's"), "==", Constant('"'))),
        (
            "<<a.output>> == 1 or <<a.output>> == 1 and not <<a.output>> == 1",
            Junction("or", (same(), Junction("and", (same(), Negation(same()))))),
        ),
        (
            "(<<a.output>> == 1 or <<a.output>> == 1) and <<a.output>> == 1",
            Junction("and", (Junction("or", (same(), same())), same())),
        ),
    ],
)
def test_values_tests_and_junctions_are_parsed(text: str, condition: object) -> None:
    assert parse(text) == condition


VALUE = "expected a value: <<id.output>>, quoted text, a number, true, false or null"
TEST = "expected a test after the value: ==, !=, <, <=, >, >=, contains, is empty or is not empty"
REFERENCE = "expected <<id.output>>, <<id.output.field>>, <<id.status>> or <<id.count>>"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", f"column 1: {VALUE}, but it ends there"),
        ("   ", f"column 4: {VALUE}, but it ends there"),
        ("<<a.output>>", f"column 13: {TEST}, but it ends there"),
        ("<<a.output>> = 1", f"column 14: {TEST}, not '='; write '=='"),
        ("<<a.output>> in 1", f"column 14: {TEST}, not 'in'; write 'contains'"),
        ("<<a.output>> matches 'x.*'", f"column 14: {TEST}, not 'matches'"),
        ("<<a.output>> == ", f"column 17: {VALUE}, but it ends there"),
        ("<<a.output>> == high", f"column 17: {VALUE}, not 'high'"),
        ("<<a.output>> == None", f"column 17: {VALUE}, not 'None'; write 'null'"),
        ('<<a.output>> == "high', f"column 17: {VALUE}, not '\"'; the quote is never closed"),
        ("<<a.output == 1", f"column 1: {VALUE}, not '<'; close the reference with >>"),
        ("<<a>> == 1", f"column 1: {REFERENCE}, not '<<a>>'"),
        ("<<a.error>> == 1", f"column 1: {REFERENCE}, not '<<a.error>>'"),
        ("<<a.status.x>> == 1", f"column 1: {REFERENCE}, not '<<a.status.x>>'"),
        ('"<<a.output>>" == 1', "column 1: a reference in quotes is only text; leave the quotes out"),
        ("1 == 1 and", f"column 11: {VALUE}, but it ends there"),
        ("1 == 1 && 2 == 2", "column 8: expected 'and', 'or' or the end, not '&'; write 'and'"),
        ("1 < 2 < 3", "column 7: expected 'and', 'or' or the end, not '<'"),
        ("1 == 1)", "column 7: expected 'and', 'or' or the end, not ')'"),
        ("(1 == 1", "column 8: expected ')', but it ends there"),
        ("1 is null", "column 6: expected 'empty' or 'not empty' after 'is', not 'null'"),
        ("1 is not", "column 9: expected 'empty' or 'not empty' after 'is', but it ends there"),
        ("__import__('os').system('x') == 1", f"column 1: {VALUE}, not '__import__'"),
        ("<<a.output>>.upper() == 'X'", f"column 13: {TEST}, not '.'"),
        ("1 + 1 == 2", f"column 3: {TEST}, not '+'"),
        ("12abc == 1", f"column 1: {VALUE}, not '1'"),
        ("1e9999 == 1", f"column 1: {VALUE}, not '1'"),
        ("(" * 21 + "1 == 1", "column 21: brackets and 'not' are nested more than 20 deep"),
        ("not " * 21 + "1 == 1", "column 81: brackets and 'not' are nested more than 20 deep"),
        ("x" * 501, "it has 501 characters, more than 500; shorten it, or ask a question"),
    ],
)
def test_a_fault_names_its_column(text: str, fault: str) -> None:
    with pytest.raises(ConditionError) as caught:
        parse(text)
    assert str(caught.value) == fault
    assert list(problems(text)) == [f"'when' is not a condition: {fault}"]


@given(st.text(max_size=LONGEST))
def test_any_text_is_a_condition_or_a_fault(text: str) -> None:
    try:
        parse(text)
    except ConditionError:
        assert list(problems(text))


@given(st.lists(st.sampled_from(["(", ")", "not", "and", "or", "1", "==", "<<a.output>>", "is", "empty", '"x"', "<<"])))
def test_any_order_of_the_words_of_the_language_is_a_condition_or_a_fault(words: list[str]) -> None:
    text = " ".join(words)[:LONGEST]
    try:
        assert parse(text) is not None
    except ConditionError:
        assert "column" in next(problems(text))


@pytest.mark.parametrize("when", [None, {"ask": "Does it name a person: <<a.output>>?"}, "1 == 1"])
def test_a_condition_a_question_or_null_has_no_faults(when: Any) -> None:
    assert list(problems(when)) == []


@pytest.mark.parametrize(
    "when", [7, True, [], {}, {"ask": ""}, {"ask": 7}, {"ask": "x", "model": "y"}, {"question": "x"}]
)
def test_any_other_value_is_a_fault(when: Any) -> None:
    assert list(problems(when)) == ['\'when\' must be a condition as text, or a question to a model as {"ask": "…"}']


def test_the_item_and_its_fields_are_values() -> None:
    values = [ValueOf("item", "", ""), ValueOf("item", "", ".kind"), ValueOf("item", "output", "")]
    assert values_in('<<item>> == 1 and <<item.kind>> == "a" or <<item.output>> is empty') == values
    assert values_in({"ask": "Is <<item>> of <<item.kind>>, and <<item.output>>?"}) == values
    assert [str(value) for value in values] == ["<<item>>", "<<item.kind>>", "<<item.output>>"]
    assert list(problems({"ask": "Is <<item>> right?"})) == list(problems("<<item.number>> < 3")) == []


def test_the_values_of_a_condition_or_a_question_are_found() -> None:
    values = [ValueOf("a", "output", ".b[0]"), ValueOf("c", "status"), ValueOf("d", "count")]
    assert values_in("<<a.output.b[0]>> == 1 and <<c.status>> == <<d.count>> or <<c.status>> == 2") == values
    assert values_in({"ask": "Is <<a.output.b[0]>> like << c.status >> and <<d.count>>?"}) == values
    assert [str(value) for value in values] == ["<<a.output.b[0]>>", "<<c.status>>", "<<d.count>>"]
    assert values_in(None) == values_in(7) == values_in({"ask": 7}) == []
