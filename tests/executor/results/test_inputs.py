"""The inputs of a task."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalwright_executor.results.artifacts import Artifacts
from goalwright_executor.results.inputs import fill, fill_arguments, given_to, item_texts, results_for, shorten
from goalwright_executor.results.task_results import MissingField
from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.task import Item, Task


def test_references_inside_results_are_not_filled() -> None:
    assert fill("see <<a.output>>!", {"a": "<<b.output>>", "b": "no"}) == "see <<b.output>>!"
    assert fill("<< a.output >> <<a.title>> {{a.output}}", {"a": "1"}) == "1 <<a.title>> {{a.output}}"


RESULT = '{"n":7,"rows":[{"name":"Ulm"}]}'


@given(st.text(), st.text())
def test_result_is_inserted_verbatim(before: str, result: str) -> None:
    text = before.replace("<<", "") + "<<a.output>>"
    assert fill(text, {"a": result}) == before.replace("<<", "") + result


@pytest.mark.parametrize(
    ("kind", "given_value", "wanted"),
    [
        ("array", "<<a.output>>", [1, 2]),
        ("string", "<<a.output>>", "[1, 2]"),
        ("array", "x <<a.output>>", "x [1, 2]"),
        ("integer", "<<bad.output>>", "not json"),
        ("object", {"deep": ["<<a.output>>", 5]}, {"deep": ["[1, 2]", 5]}),
    ],
)
def test_lone_reference_is_parsed_as_json_unless_string(kind: str, given_value: Any, wanted: Any) -> None:
    schema = {"properties": {"x": {"type": kind}}}
    task = Task("t", "tool", arguments={"x": given_value})
    assert fill_arguments(task, {"a": "[1, 2]", "bad": "not json"}, schema) == {"x": wanted}


@pytest.mark.parametrize(
    ("schema", "given_value", "wanted"),
    [
        ({"type": "integer"}, "<<a.output.n>>", 7),
        ({"type": "string"}, "<<a.output.n>>", "7"),
        ({"type": "string"}, "<<a.output.rows[0].name>>", "Ulm"),
        ({"type": "array"}, " <<a.output.rows>> ", [{"name": "Ulm"}]),
        ({"type": "string"}, "in <<a.output.rows[0].name>>, <<a.output.n>>", "in Ulm, 7"),
        ({"type": "object"}, {"deep": ["<<a.output.n>>"]}, {"deep": [7]}),
        ({"type": "array", "items": {"type": "string"}}, ["<<a.output.n>>", "<<a.output>>"], ["7", RESULT]),
        ({"type": "string"}, "<<unneeded.output.n>>|<<unneeded.output>>", "|"),
    ],
)
def test_lone_reference_to_a_field_is_its_value(schema: dict[str, Any], given_value: Any, wanted: Any) -> None:
    task = Task("t", "tool", arguments={"x": given_value})
    assert fill_arguments(task, {"a": RESULT}, {"properties": {"x": schema}}) == {"x": wanted}


def test_missing_field_is_reported() -> None:
    task = Task("t", "tool", arguments={"x": "<<a.output.m>>"})
    with pytest.raises(
        MissingField, match=r"^<<a.output.m>> cannot be read: it has no field 'm'; its fields are: n, rows$"
    ):
        fill_arguments(task, {"a": RESULT}, {"properties": {"x": {"type": "integer"}}})


def test_items_and_fields_are_filled_in_one_pass() -> None:
    task = Task("t[2]", "llm", instruction="<<item.n>> of <<a.output.n>>, <<item>>", item=Item({"n": "<<a.output.n>>"}))
    filled = fill(task.instruction, given_to(task, {"a": RESULT}), item_texts(task))
    assert filled == '<<a.output.n>> of 7, {"n": "<<a.output.n>>"}'
    own = Task("t[1]", "tool", arguments={"x": "<<item.output.n>>"}, item=Item({"output": {"n": 3}}))
    assert fill_arguments(own, {}, {"properties": {"x": {"type": "integer"}}}) == {"x": 3}


def test_long_texts_are_cut_with_a_note(tmp_path: Path) -> None:
    artifacts = Artifacts.of(tmp_path, "run-1")
    texts = {"short": "s" * 100, "long": "l" * 5_000, "longer": "m" * 9_000}
    cut = shorten(texts, 2_000, artifacts)
    assert cut["short"] == texts["short"]
    for name in ("long", "longer"):
        assert len(cut[name]) <= 1_000
        whole = artifacts.folder / f"{name}.md"
        assert str(whole) in cut[name]
        assert whole.read_text(encoding="utf-8") == texts[name]
    assert "/runs/" in (tmp_path / ".agents" / ".gitignore").read_text(encoding="utf-8")


def test_nothing_is_written_if_everything_fits(tmp_path: Path) -> None:
    shorten({"a": "x" * 10, "b": ""}, 10, Artifacts.of(tmp_path, "r"))
    assert list(tmp_path.iterdir()) == []


def test_text_is_cut_at_same_position_in_another_checkout() -> None:
    here, there = (Artifacts.of(Path(folder), "r", written=False) for folder in ("/w", "/srv/much/longer/checkout"))
    texts = [f"see {one.workspace}/a.md and {one.folder}/b.md " * 100 for one in (here, there)]
    cut = [shorten({"a": text}, 2_000, one)["a"] for text, one in zip(texts, (here, there), strict=True)]
    assert cut[0] != cut[1]
    assert here.roots.portable(cut[0]) == there.roots.portable(cut[1])


def test_text_is_not_cut_inside_a_root_name() -> None:
    artifacts = Artifacts.of(Path("/w"), "r", written=False)
    for more in range(20):
        cut = shorten({"a": "x" * (700 - more) + "/w/y " * 1_000}, 1_010, artifacts)["a"]
        assert "⟦" not in cut


def test_result_in_instruction_is_not_listed_again() -> None:
    plan = Plan(
        (
            Task("a", "llm", title="A"),
            Task("b", "llm"),
            Task("c", "llm", instruction="<<b.output>>", depends_on=("a", "b")),
        )
    )
    listed = results_for(plan.task("c"), plan, {"a": "1", "b": "2"})
    assert [(one.id, one.title, one.text) for one in listed] == [("a", "A", "1")]
