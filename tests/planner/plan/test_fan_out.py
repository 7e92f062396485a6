"""The lists of `for_each`, and its faults."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalwright_planner.plan.fan_out import NotAList, heading, item_values, read_list
from goalwright_planner.plan.known import Known
from goalwright_planner.plan.references import MISSING
from goalwright_planner.plan.validate import problems


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ('["a.py", "b.py"]', ["a.py", "b.py"]),
        ("[]", []),
        ('[1, {"n": null}, ["x"], true]', [1, {"n": None}, ["x"], True]),
        ('Here they are:\n\n```json\n["a.py", "b.py",]\n```\nThat is all.', ["a.py", "b.py"]),
        ('{"files": ["a.py"], "total": 1}', ["a.py"]),
        ('{"files": []}', []),
        ("", []),
        (" \n\n ", []),
        ("a.py\nb.py\n", ["a.py", "b.py"]),
        ("a.py", ["a.py"]),
        ("- a.py\n- b.py", ["a.py", "b.py"]),
        ("* a\n\n* b\n\n* c", ["a", "b", "c"]),
        ("1. one\n2. two\n10) ten", ["one", "two", "ten"]),
        ("• 第一\n• 第二", ["第一", "第二"]),
        ("The files:\n- a.py\n- b.py", ["a.py", "b.py"]),
        ("  - a.py\n  - b.py", ["a.py", "b.py"]),
        (
            "- Check the tests.\n  All of them.\n- Write the docs.",
            ["Check the tests.\nAll of them.", "Write the docs."],
        ),
        ("- a\n  - a1\n  - a2\n- b", ["a\n- a1\n- a2", "b"]),
        ("```\na.py\nb.py\n```", ["a.py", "b.py"]),
        ("What is a tide?\nWhy is the sky blue?", ["What is a tide?", "Why is the sky blue?"]),
        ("Write the docs.\nFix the tests.", ["Write the docs.", "Fix the tests."]),
        ("A. Smith\nB. Jones", ["A. Smith", "B. Jones"]),
        ("- <<x.output>>\n- {{y}}", ["<<x.output>>", "{{y}}"]),
        ("3.5 inch\n4.5 inch", ["3.5 inch", "4.5 inch"]),
    ],
)
def test_lists_are_read(text: str, items: list[Any]) -> None:
    assert read_list(text) == items


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("I could not find any files to review.", "it is prose, not a list: 'I could not find any files to review.'"),
        ("I have looked everywhere and there are three files here", "it is prose"),
        ("There are two files. One is a.py.", "it is prose"),
        ("The project has three files that\nneed a review because they\nwere changed.", "it is prose"),
        ("The project, as it is now,\nhas three files", "it is prose"),
        ("沒有文件。請再試一次。", "it is prose"),
        ("x" * 301, "it is prose"),
        ("- a.py\n- b.py\n\nLet me know if you need more.", "it is prose around a list"),
        ("Sure\n- a.py", "it is prose around a list"),
        ('{"a": [1], "b": [2]}', "the object has 2 lists in it, not one"),
        ('{"a": 1}', "the object has no list in it, not one"),
        ('["a.py", "b', "it begins like JSON, but cannot be read as that"),
        ("{not json}", "it begins like JSON, but cannot be read as that"),
        (f"[{'9' * 5_000}]", "it begins like JSON, but cannot be read as that"),
        ("[" * 300 + "]" * 300, "it is nested too deeply"),
    ],
)
def test_prose_is_refused_and_its_beginning_is_quoted(text: str, message: str) -> None:
    with pytest.raises(NotAList) as caught:
        read_list(text)
    assert message in str(caught.value)
    assert repr(text[:4])[1:-1] in str(caught.value)


@given(st.text(max_size=200))
def test_any_text_is_a_list_or_raises_not_a_list(text: str) -> None:
    try:
        assert isinstance(read_list(text), list)
    except NotAList:
        assert text.strip()


@given(st.lists(st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=20), min_size=1))
def test_marked_lines_are_items_one_to_one(words: list[str]) -> None:
    assert read_list("\n".join(f"- {word}" for word in words)) == words


def test_item_values_are_found_by_path() -> None:
    texts = ["<<item>> <<item.a.b>>", "<<item.number>> <<item.nope>> <<item[0]>>"]
    found = item_values(texts, {"a": {"b": 1}}, 3)
    assert found == {"": {"a": {"b": 1}}, ".a.b": 1, ".number": 3, ".nope": MISSING, "[0]": MISSING}
    assert item_values(["<<item.a>>"], '{"a": 2}', 1) == {".a": 2}, "an item that is JSON text is read by field too"


def test_a_heading_is_one_line() -> None:
    assert heading("two\nlines") == "two lines"
    assert heading({"a": 1}) == '{"a": 1}'
    assert len(heading("word " * 100)) <= 120


KNOWN = Known(["s"], {"t_x": {"properties": {"n": {"type": "integer"}, "name": {"type": "string"}}}})


def task(task_id: str = "b", **keys: Any) -> dict[str, Any]:
    row = {"id": task_id, "action_type": "llm", "instruction": "Review <<item>>.", "depends_on": ["a"]}
    return {key: value for key, value in (row | keys).items() if value is not None}


def faults_of(*tasks: dict[str, Any]) -> list[str]:
    first = {"id": "a", "action_type": "llm", "instruction": "list"}
    return problems({"tasks": [first, *tasks]}, KNOWN)


@pytest.mark.parametrize(
    "row",
    [
        task(for_each="<<a.output>>"),
        task(for_each="<< a.output.files[0].names >>", width=4, first=50),
        task(for_each=["x", {"n": 1}]),
        task(for_each=[]),
        task(for_each="<<a.output>>", instruction="<<item.name>> is number <<item.number>>"),
        task(for_each="<<a.output>>", action_type="tool", name="t_x", arguments={"n": "<<item.n>>"}, instruction=None),
        task(for_each="<<a.output>>", action_type="skill", name="s", arguments="<<item>>", instruction="do it"),
        task(for_each="<<a.output>>", instruction="<<item.output>>"),
        task(for_each="<<a.output>>", when="<<a.count>> > 1"),
    ],
)
def test_a_valid_for_each_has_no_faults(row: dict[str, Any]) -> None:
    assert faults_of(row) == []


WITHOUT = "task 'b': <<item>> stands for an item of 'for_each', which is missing; add it, or leave <<item>> out"
ONE = "task 'b': 'for_each' must be one reference such as <<files.output>>, or a list"
NO_CONDITION = "task 'b': 'when' is not a condition"
SAME = "task 'b': 'for_each' without <<item>>: every item would be told the same; put <<item>> in the instruction"


@pytest.mark.parametrize(
    ("row", "faults"),
    [
        (task(), [WITHOUT]),
        (task(instruction="Number <<item.number>>"), [WITHOUT]),
        (task(action_type="tool", name="t_x", arguments={"name": "<<item>>"}, instruction=None), [WITHOUT]),
        (task(for_each="<<a.output>>", instruction="Review."), [SAME]),
        (task(for_each="<<a.output>>", instruction="Review <<items>>."), [SAME]),
        (
            task(for_each="a"),
            [f"{ONE}, not 'a'"],
        ),
        (
            task(for_each="<<a.output>> <<a.output>>"),
            [f"{ONE}, not '<<a.output>> <<a.output>>'"],
        ),
        (
            task(for_each="<<a.count>>"),
            [f"{ONE}, not '<<a.count>>'"],
        ),
        (task(for_each=7), [ONE]),
        (
            task(for_each="<<z.output>>"),
            ["task 'b' refers to <<z.output>>, but there is no task 'z'; tasks are: a, b"],
        ),
        (
            task(for_each="<<b.output>>"),
            ["task 'b' refers to <<b.output>>, its own output; leave that out, or name another task"],
        ),
        (
            task(for_each="<<a.output>>", depends_on=[]),
            ["task 'b' refers to <<a.output>>, but 'a' is not upstream of it; add 'a' to its depends_on"],
        ),
        (task(for_each="<<a.output>>", width=0), ["task 'b': 'width' must be a positive integer, not 0"]),
        (task(for_each="<<a.output>>", width=True), ["task 'b': 'width' must be a positive integer, not True"]),
        (task(for_each="<<a.output>>", first=-1), ["task 'b': 'first' must be a positive integer, not -1"]),
        (task(for_each="<<a.output>>", first="5"), ["task 'b': 'first' must be a positive integer, not '5'"]),
        (task(instruction="x", width=4), ["task 'b': 'width' has no effect without 'for_each'"]),
    ],
)
def test_each_fault_is_named_with_a_remedy(row: dict[str, Any], faults: list[str]) -> None:
    assert faults_of(row) == faults


@pytest.mark.parametrize(
    ("when", "faults"),
    [
        ("<<a.status>> == 'done'", []),
        (
            "<<z.count>> > 0",
            ["task 'b' refers to <<z.count>>, but there is no task 'z'; tasks are: a, b, c"],
        ),
        (
            "<<c.output.x>> is empty",
            ["task 'b' refers to <<c.output.x>>, but 'c' is not upstream of it; add 'c' to its depends_on"],
        ),
        (
            {"ask": "Is <<c.output>> right?"},
            ["task 'b' refers to <<c.output>>, but 'c' is not upstream of it; add 'c' to its depends_on"],
        ),
        (
            "<<b.status>> == 'done'",
            ["task 'b' refers to <<b.status>>, its own; leave that out, or name another task"],
        ),
        ({"ask": 7}, ["task 'b': 'when' must be a condition as text, or a question to a model as {\"ask\": \"…\"}"]),
        (
            "<<a.status>> is",
            [f"{NO_CONDITION}: column 16: expected 'empty' or 'not empty' after 'is', but it ends there"],
        ),
    ],
)
def test_faults_of_conditions_are_reported_with_those_of_the_plan(when: Any, faults: list[str]) -> None:
    assert faults_of(task(instruction="x", when=when), task("c", instruction="x")) == faults


def test_the_field_output_of_an_item_is_not_a_task() -> None:
    """In a task with `for_each`, <<item.output>> is a field; elsewhere it is the output of a task `item`."""
    item = {"id": "item", "action_type": "llm", "instruction": "x"}
    assert faults_of(item, task(instruction="<<item.output>>", depends_on=["item"])) == []
    assert faults_of(task(instruction="<<item.output>>")) == [
        "task 'b' refers to <<item.output>>, but there is no task 'item'; tasks are: a, b"
    ]
