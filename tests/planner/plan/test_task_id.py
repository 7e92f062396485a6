"""The ids of grown tasks."""

from __future__ import annotations

import pytest

from goalwright_planner.plan.task_id import (
    PLANNED,
    depth_of,
    in_order,
    in_round,
    item_id,
    number_of,
    parent_of,
    round_id,
    round_of,
    sub_task_id,
    written_id,
)


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


@pytest.mark.parametrize(
    ("task_id", "parent", "number", "written"),
    [
        ("draft", None, None, "draft"),
        ("draft#2", "draft", 2, "draft"),
        ("draft[3]#20", "draft[3]", 20, "draft"),
        ("goal#2/draft", "goal#2", None, "goal#2/draft"),
        ("goal#2/draft[1]#4", "goal#2/draft[1]", 4, "goal#2/draft"),
        ("draft#0", None, None, "draft#0"),
        ("draft#x", None, None, "draft#x"),
        ("#2", None, None, "#2"),
    ],
)
def test_a_round_names_its_task_and_its_number(
    task_id: str, parent: str | None, number: int | None, written: str
) -> None:
    assert (parent_of(task_id), round_of(task_id), written_id(task_id)) == (parent, number, written)


def test_the_first_round_is_the_task_itself() -> None:
    assert [round_id("draft", number) for number in (1, 2, 3)] == ["draft", "draft#2", "draft#3"]
    assert [in_round(name) for name in ("draft", "draft[1]", "draft#2", "draft#2/a")] == [False, False, True, True]
    assert in_order(["b", "b#10", "b#2", "b/x", "b#2/x"]) == ["b", "b/x", "b#2", "b#2/x", "b#10"]


def test_no_planned_task_can_have_a_grown_id() -> None:
    for grown in (
        item_id("review", 1),
        sub_task_id("research", "sources"),
        item_id(sub_task_id("a", "b"), 2),
        round_id("a", 2),
    ):
        assert parent_of(grown) is not None
        assert PLANNED.fullmatch(grown) is None


def test_grown_ids_are_sorted_after_their_parents_and_items_by_number() -> None:
    ids = ["a", "b", "c", "b[2]", "b[10]", "b[1]", "a/x", "a/x[1]", "a/y", "lost[1]"]
    assert in_order(ids) == ["a", "a/x", "a/x[1]", "a/y", "b", "b[1]", "b[2]", "b[10]", "c", "lost[1]"]
    assert in_order([]) == []
