"""The reasons of a plan for unused skills."""

from __future__ import annotations

from typing import Any

import pytest

from goalwright.runs.plans import plan_file
from goalwright_planner.plan.known import Known
from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.unused_skills import DROPPED, left_out, unknown_names, warnings
from goalwright_planner.reading.plan_answer import read_plan

TASK = {"id": "a", "action_type": "llm", "instruction": "do a", "depends_on": []}
KNOWN = Known(["one", "two"])


def read(**keys: Any) -> Plan:
    reading = read_plan({"tasks": [TASK], **keys}, KNOWN)
    assert reading.faults == ()
    return Plan.from_dict(reading.document)


@pytest.mark.parametrize(
    ("given", "repair"),
    [
        ({"unused": {"one": "why"}}, ()),
        ({"Unused": {"one": "why"}}, ("'Unused' read as 'unused'",)),
        ({"unused": [{"name": "one", "reason": "why"}]}, ("'unused' respelt",)),
        ({"unused": [{"skill": "one", "why": "why"}]}, ("'unused' respelt",)),
    ],
)
def test_reasons_are_read_from_an_object_or_rows(given: dict[str, Any], repair: tuple[str, ...]) -> None:
    reading = read_plan({"tasks": [TASK], **given}, KNOWN)
    assert (reading.faults, reading.repairs) == ((), repair)
    assert Plan.from_dict(reading.document).unused == {"one": "why"}


@pytest.mark.parametrize("given", [["one"], "one", 3, {"one": None}, {"one": ["why"]}, [{"name": "one", "reason": 1}]])
def test_other_values_of_unused_are_dropped_with_a_warning(given: object) -> None:
    reading = read_plan({"tasks": [TASK], "unused": given}, KNOWN)
    assert (reading.faults, reading.repairs) == ((), (DROPPED,))
    assert left_out(reading.document, ["one"]) == ("one",)
    assert Plan.from_dict(reading.document) == read()


@pytest.mark.parametrize(
    "given",
    [{"one": "why", "two": None}, [{"name": "one", "reason": "why"}, "two"], [{"skill": "one", "why": "why"}, {}]],
)
def test_valid_reasons_beside_invalid_ones_are_kept(given: object) -> None:
    reading = read_plan({"tasks": [TASK], "unused": given}, KNOWN)
    assert (reading.faults, reading.repairs) == ((), (DROPPED,))
    assert Plan.from_dict(reading.document).unused == {"one": "why"}


def test_null_and_an_empty_object_give_the_same_plan() -> None:
    assert read(unused=None) == read(unused={}) == read()
    assert "unused" not in read().to_dict()


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_a_plan_file_keeps_the_reasons(form: str) -> None:
    plan = read(unused={"one": "a reason: with a colon", "nobody": "kept too"})
    assert plan_file.parse(plan_file.dump(plan, form), "here", KNOWN).plan == plan


def test_a_change_adds_reasons_and_new_tasks_keep_them() -> None:
    plan = read(unused={"one": "why"})
    assert plan.changed(unused={"two": "so"}).unused == {"one": "why", "two": "so"}
    assert plan.with_tasks(()).unused == {"one": "why"}


def test_a_skill_is_used_by_its_task_or_by_a_goal_that_names_it() -> None:
    skill = TASK | {"action_type": "skill", "name": "one"}
    goal = TASK | {"id": "g", "action_type": "goal", "instruction": "Reach it with two, not with one-half."}
    assert left_out({"tasks": [skill, goal]}, ["one", "two"]) == ()
    assert left_out({"tasks": [goal]}, ["one", "two"]) == ("one",)
    assert left_out({"tasks": [TASK | {"name": "one"}]}, ["one"]) == ("one",)


@pytest.mark.parametrize("document", [None, [], {}, {"tasks": []}, {"tasks": 3}, {"tasks": [], "clarification": "?"}])
def test_a_document_without_tasks_leaves_no_skill_out(document: object) -> None:
    assert left_out(document, ["one"]) == ()


def test_an_empty_reason_does_not_count() -> None:
    assert left_out({"tasks": [TASK], "unused": {"one": " ", "two": "why"}}, ["one", "two"]) == ("one",)
    assert left_out({"tasks": [TASK, "?"], "unused": ["one"]}, ["one"]) == ("one",)


def test_a_warning_has_the_reason_in_one_short_line() -> None:
    (said,) = warnings((), ["one"], {"one": "line\nbreak " + "word " * 200})
    assert "selected with certainty: line break word" in said
    assert len(said) < 400


def test_a_warning_names_the_first_unknown_skills() -> None:
    assert unknown_names({"one": ""}, ["one"]) == ""
    assert unknown_names({f"x{at}": "" for at in range(9)}, []).endswith("'x4', 'x5' and 3 more")
