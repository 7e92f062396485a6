"""References, and the values at their paths."""

from __future__ import annotations

from typing import Any

import pytest

from goalwright_planner.plan.references import (
    ITEM,
    MISSING,
    REFERENCE,
    as_text,
    references,
    renamed,
    unreadable,
    value_at,
)

ROWS = {"rows": [{"name": "x", "n": None}], "a-b": {"c_d": False}}


@pytest.mark.parametrize(
    ("value", "path", "found"),
    [
        (ROWS, "", ROWS),
        (ROWS, ".rows[0].name", "x"),
        (ROWS, ".rows[0].n", None),
        (ROWS, ".rows[1].name", MISSING),
        (ROWS, ".rows.name", MISSING),
        (ROWS, "[0]", MISSING),
        (ROWS, ".a-b.c_d", False),
        (ROWS, ".nope.deeper", MISSING),
        ([1, [2]], "[1][0]", 2),
        ('{"a": {"b": 1}}', ".a.b", 1),
        ('Here it is:\n```json\n{"a": {"b": 1}}\n```', ".a.b", 1),
        ({"a": '{"b": 2}'}, ".a.b", 2),
        ("prose", ".a", MISSING),
        ("", ".a", MISSING),
        ("prose", "", "prose"),
        (7, ".a", MISSING),
        (None, ".a", MISSING),
    ],
)
def test_value_at_follows_a_path(value: Any, path: str, found: Any) -> None:
    assert value_at(value, path) == found


def test_as_text_keeps_texts_and_writes_other_values_as_json() -> None:
    assert [as_text(value) for value in ("é\n", 1.5, None, True, {"é": [1]})] == [
        "é\n", "1.5", "null", "true", '{"é": [1]}',
    ]  # fmt: skip


def test_every_kind_of_reference_is_found() -> None:
    text = "<<a.output>> <<a.output.b[0]>> << a-1.status >> <<a_2.count>> <<a>> <<a.name>> <<a.output.>> <<a.outputs>>"
    assert [match.group() for match in REFERENCE.finditer(text)] == [
        "<<a.output>>", "<<a.output.b[0]>>", "<< a-1.status >>", "<<a_2.count>>",
    ]  # fmt: skip
    assert [match["path"] for match in ITEM.finditer("<<item>> << item.a[3].b >> <<items>> <<item.number>>")] == [
        "", ".a[3].b", ".number",
    ]  # fmt: skip


def test_items_statuses_and_counts_are_references() -> None:
    text = "<<a[2].output.b>> <<a.status>> <<a[1].count>> <<a/b[3].output>> <<a.output[1]>>"
    found = list(references(text))
    assert [str(reference) for reference in found] == text.split()
    assert [(one.id, one.item, one.part, one.path) for one in found] == [
        ("a", 2, "output", ("b",)), ("a", None, "status", ()), ("a", 1, "count", ()), ("a/b", 3, "output", ()),
        ("a", None, "output", (1,)),
    ]  # fmt: skip
    assert len({reference.key for reference in found}) == len(found)
    assert renamed(text, {"a": "new"}).split()[:3] == ["<<new[2].output.b>>", "<<new.status>>", "<<new[1].count>>"]


@pytest.mark.parametrize(
    "text",
    ["<<e.total>>", "<<e[0].output>>", "<<e.output.>>", "<<e.output | upper>>", "<<e.output + 1>>", "<< e.counts >>",
     "<<e[one].output>>", "<<zzz.result>>", "<<e.outputs>>", "<<e[1]>>", "<<research/e.total>>"],
)  # fmt: skip
def test_text_that_only_looks_like_a_reference_is_found(text: str) -> None:
    assert list(unreadable({"deep": ["so ", f"say {text} now"]})) == [text]


@pytest.mark.parametrize(
    "text",
    ["cat <<EOF > out", "cout << x << y; cin >> z", "<<EOF>>", "a << b >> c", "<<item.name>>", "<<a.output>>", "<<>>",
     "1 << 2 >> 3", "<<'quoted.text'>>", "<<https://example.org>>"],
)  # fmt: skip
def test_other_text_between_double_angle_brackets_stays_text(text: str) -> None:
    assert list(unreadable(text)) == []
