from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalwright_planner.plan.references import REFERENCE, Reference, field_of, references, spelled
from goalwright_planner.plan.task import ResultCheck, Task


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<<a.output>>", [Reference("a")]),
        ("<< a.output >> and <<a.output>>", [Reference("a"), Reference("a")]),
        ("<<a.output.b.c>>", [Reference("a", ("b", "c"))]),
        ("<<a.output.rows[0].name>>", [Reference("a", ("rows", 0, "name"))]),
        ("<<a.output[2]>>", [Reference("a", (2,))]),
        ("<<a.output.größe>> <<b-1.output.x-y>>", [Reference("a", ("größe",)), Reference("b-1", ("x-y",))]),
        ("<<a.output.>> <<a.output..b>> <<a.output[x]>> <<a.output[-1]>> <<a.outputs>> <a.output>", []),
        ("<<a.output.0>>", [Reference("a", ("0",))]),
    ],
)
def test_references_are_found(text: str, found: list[Reference]) -> None:
    assert list(references({"x": [text]})) == found


def test_a_reference_is_printed_as_it_was_written() -> None:
    (one,) = references("<< a.output.rows[0].name >>")
    assert (one.key, str(one)) == ("a.rows[0].name", "<<a.output.rows[0].name>>")
    assert spelled(()) == ""


def test_a_check_that_refers_to_a_result_is_rewired_too() -> None:
    task = Task("t", "llm", depends_on=("a",), check=ResultCheck("Like <<a.output.b>>?", 1, "fast"))
    after = task.rewired({"a": "z"})
    assert (after.depends_on, after.check) == (("z",), ResultCheck("Like <<z.output.b>>?", 1, "fast"))


@pytest.mark.parametrize(
    ("text", "path", "value"),
    [
        ('{"a": {"b": 1.5}}', ("a", "b"), 1.5),
        ('{"rows": [{"name": "x"}, null]}', ("rows", 0, "name"), "x"),
        ('{"rows": [{"name": "x"}, null]}', ("rows", 1), None),
        ('[["deep"]]', (0, 0), "deep"),
        (' {"a": ""}\n', ("a",), ""),
    ],
)
def test_a_field_of_an_output_is_found(text: str, path: tuple[str | int, ...], value: object) -> None:
    assert field_of(text, path) == value


@pytest.mark.parametrize(
    ("text", "path", "why"),
    [
        ("prose", ("a",), "it is not JSON"),
        ("", ("a",), "it is not JSON"),
        ("[" * 100_000, (0,), "it is not JSON"),
        ('{"a": 1}', ("b",), "it has no field 'b'; its fields are: a"),
        ("{}", ("b",), "it has no field 'b'; its fields are: none"),
        ('{"a": 1}', ("a", "b"), "a is not an object"),
        ('{"a": {"b": 1}}', ("a", 0), "a is not a list"),
        ('{"a": [1]}', ("a", 1), "a has 1 items, and the first is [0]"),
        ('"text"', ("a",), "it is not JSON"),
        ('{"a": "prose"}', ("a", "b"), "a is not JSON"),
    ],
)
def test_a_missing_field_names_the_existing_fields(text: str, path: tuple[str | int, ...], why: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(why)}$"):
        field_of(text, path)


@given(st.text(alphabet="<>a.output[0]b- \n", max_size=60))
def test_no_text_breaks_the_pattern_of_references(text: str) -> None:
    for match in REFERENCE.finditer(text):
        assert match[1]
        assert str(next(references(match[0]))).startswith("<<")
