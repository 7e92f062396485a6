"""Ids of tasks that grow: told apart from planned ones, and nested."""

from __future__ import annotations

import pytest

from weft_planner.plan.task_id import PLANNED, depth_of, in_order, item_id, number_of, parent_of, sub_task_id


@pytest.mark.parametrize(
    ("task_id", "parent", "number", "depth"),
    [
        ("review", None, None, 0),
        ("review[1]", "review", 1, 0),
        ("review[20]", "review", 20, 0),
        ("research/sources", "research", None, 1),
        ("research/sources[3]", "research/sources", 3, 1),
        ("teams[2]/people/names", "teams[2]/people", None, 2),
        ("teams[2]", "teams", 2, 0),
        ("a[1][2]", "a[1]", 2, 0),
        ("a[0]", None, None, 0),
        ("a[01]", None, None, 0),
        ("a[x]", None, None, 0),
        ("[1]", None, None, 0),
    ],
)
def test_a_grown_id_names_its_parent_and_its_number(
    task_id: str, parent: str | None, number: int | None, depth: int
) -> None:
    assert (parent_of(task_id), number_of(task_id), depth_of(task_id)) == (parent, number, depth)


def test_no_planned_task_can_have_a_grown_id() -> None:
    for grown in (item_id("review", 1), sub_task_id("research", "sources"), item_id(sub_task_id("a", "b"), 2)):
        assert parent_of(grown) is not None
        assert PLANNED.fullmatch(grown) is None


def test_grown_ids_stand_after_their_parents_and_items_by_number() -> None:
    ids = ["a", "b", "c", "b[2]", "b[10]", "b[1]", "a/x", "a/x[1]", "a/y", "lost[1]"]
    assert in_order(ids) == ["a", "a/x", "a/x[1]", "a/y", "b", "b[1]", "b[2]", "b[10]", "c", "lost[1]"]
    assert in_order([]) == []
