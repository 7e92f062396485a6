"""The `repeat` of a task and its faults."""

from __future__ import annotations

from typing import Any

import pytest

from goalwright_planner.plan.known import Known
from goalwright_planner.plan.plan import Plan
from goalwright_planner.reading.plan_answer import read_plan

IS_GOOD = '<<draft.output>> contains "good"'


def llm(task: str, *before: str, **keys: Any) -> dict[str, Any]:
    """A task for a model."""
    return {"id": task, "action_type": "llm", "instruction": "go", "depends_on": list(before), **keys}


FAULTS: dict[str, dict[str, Any]] = {
    "'repeat' must be an object such as": {"repeat": 3},
    "'repeat' has an unknown key 'times'": {"repeat": {"until": IS_GOOD, "most": 2, "times": 1}},
    "'repeat.most' must be a whole number from 2 to 20, not 1": {"repeat": {"until": IS_GOOD, "most": 1}},
    "'repeat.most' must be a whole number from 2 to 20, not 21": {"repeat": {"until": IS_GOOD, "most": 21}},
    "'repeat' needs 'most', a whole number from 2 to 20": {"repeat": {"until": IS_GOOD}},
    "'repeat' needs 'until', the condition that ends the rounds": {"repeat": {"most": 2}},
    "'repeat.until' is not a condition: column 18": {"repeat": {"until": "<<draft.output>> =", "most": 2}},
    "'repeat.until' must be a condition as text, or a question": {"repeat": {"until": {"say": "x"}, "most": 2}},
    "'repeat.until' reads <<draft.status>>, its own": {"repeat": {"until": '<<draft.status>> == "done"', "most": 2}},
    "'repeat.until' does not read <<draft.output>>": {"repeat": {"until": {"ask": "Is it good?"}, "most": 2}},
    "refers to <<other.output>>, but 'other' is not upstream of it": {
        "repeat": {"until": f"{IS_GOOD} or <<other.output>> == 1", "most": 2}
    },
    "refers to <<gone.output>>, but there is no task 'gone'": {
        "repeat": {"until": f"{IS_GOOD} or <<gone.output>> == 1", "most": 2}
    },
    "refers to <<draft.output.b>>, but in the output_schema of 'draft' the result has no field 'b'": {
        "repeat": {"until": "<<draft.output.b>> == 1", "most": 2},
        "output_schema": {"type": "object", "properties": {"a": {"type": "string"}}},
    },
    "refers to <<draft#2.output>>, which cannot be read": {"instruction": "Like <<draft#2.output>>"},
    "<<item>> stands for an item of 'for_each', which is missing": {
        "repeat": {"until": f"{IS_GOOD} and <<item>> == 1", "most": 2}
    },
}


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_of_a_repeat_is_named(fault: str) -> None:
    document = {"tasks": [llm("draft") | FAULTS[fault], llm("other")]}
    (found,) = read_plan(document, Known()).faults
    assert fault in found


def test_when_may_read_the_item_only_with_for_each() -> None:
    (found,) = read_plan({"tasks": [llm("a", when='<<item.kind>> == "x"')]}, Known()).faults
    assert "<<item>> stands for an item of 'for_each', which is missing" in found
    each = llm("a", when="<<item>> == 1", for_each=["x"])
    (found,) = read_plan({"tasks": [each]}, Known()).faults
    assert "every item would be told the same" in found


def test_a_plan_with_rounds_is_read_unchanged() -> None:
    ask = {"until": {"ask": "Is <<draft.output>> good?"}, "most": 20}
    document = {"tasks": [llm("draft", repeat={"until": IS_GOOD, "most": 2}), llm("draft2", repeat=ask)]}
    document["tasks"][1]["repeat"]["until"]["ask"] = "Is <<draft2.output>> good?"
    reading = read_plan(document, Known())
    assert (reading.faults, reading.repairs) == ((), ())
    plan = Plan.from_dict(reading.document)
    assert Plan.from_dict(plan.to_dict()) == plan
    assert [row["repeat"] for row in plan.to_dict()["tasks"]] == [row["repeat"] for row in document["tasks"]]


def test_rewiring_and_renaming_change_the_references_of_a_repeat() -> None:
    until = f"{IS_GOOD} and <<notes.output>> is not empty"
    task = Plan.from_dict({"tasks": [llm("draft", "notes", repeat={"until": until, "most": 2})]}).tasks[0]
    assert task.reads == ("notes",)
    other = task.rewired({"notes": "n2", "draft": "d2"})
    assert other.repeat is not None
    assert other.repeat.text == f"{IS_GOOD} and <<n2.output>> is not empty"
    assert task.rewired({"draft": "d2"}) is task
    moved = task.renamed("goal/draft")
    assert moved.repeat is not None
    assert moved.repeat.text == until.replace("<<draft.", "<<goal/draft.")
