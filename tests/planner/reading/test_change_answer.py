"""Changes of a plan in a model's answer, with all faults at once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from goalwright_planner.plan.known import Known
from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.task import Task
from goalwright_planner.reading.change_answer import change_schema, read_change

PLAN = Plan((Task("a", "llm"), Task("b", "llm", depends_on=("a",)), Task("c", "llm", depends_on=("b",))))
BEGUN = {"a": "done", "b": "failed"}
KNOWN = Known(skills=["code-review"], tools={"sheet_read": {"properties": {"path": {"type": "string"}}}})
ROW = {"id": "b2", "action_type": "llm", "instruction": "again", "depends_on": ["a"]}
WHOLE: dict[str, Any] = {"add": [ROW], "drop": [], "rewire": {"b": "b2"}, "synthesis": None, "give_up": None}


def faults(document: Any) -> list[str]:
    text = document if isinstance(document, str) else json.dumps(document)
    return list(read_change(text, PLAN, BEGUN, KNOWN).faults)


def test_a_change_is_read() -> None:
    found = read_change(json.dumps(WHOLE), PLAN, BEGUN, KNOWN)
    assert (found.faults, found.repairs, found.give_up) == ((), (), "")
    assert found.change.added == (Task("b2", "llm", instruction="again", depends_on=("a",)),)
    assert found.change.rewired == {"b": "b2"}


@pytest.mark.parametrize(
    ("text", "repaired"),
    [
        (f"Here it is:\n```json\n{json.dumps(WHOLE)}\n```", 0),
        (f"<think>hm</think>{json.dumps(WHOLE)}", 0),
        (json.dumps({"change": WHOLE}), 0),
        (json.dumps({"name": "change", "arguments": WHOLE}), 0),
        (str(WHOLE), 1),
        (json.dumps(WHOLE)[:-1] + ",}", 1),
        (json.dumps({**WHOLE, "why": "it failed"}), 1),
        (json.dumps({"add": [{"task_id": "b2", "type": "llm", "prompt": "x", "after": "a"}], "rewire": {}}), 1),
        (json.dumps({**WHOLE, "drop": "c"}), 0),
    ],
)  # fmt: skip
def test_a_change_is_read_from_damaged_text(text: str, repaired: int) -> None:
    found = read_change(text, PLAN, BEGUN, KNOWN)
    assert found.faults == ()
    assert found.change.added[0].id == "b2"
    assert found.change.added[0].depends_on == ("a",)
    assert bool(found.repairs) == bool(repaired)


def test_a_reason_for_giving_up_is_read() -> None:
    found = read_change(json.dumps({"give_up": " no source left ", "add": []}), PLAN, BEGUN, KNOWN)
    assert (found.faults, found.give_up) == ((), "no source left")


FORM = "answer with one JSON object with 'add', 'drop', 'rewire', 'synthesis' and 'give_up'"


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"a": value}
    return value


FAULTS: dict[str, tuple[Any, list[str]]] = {
    "prose": ("I would fetch it again.", [f"the answer is prose without a JSON object; {FORM}"]),
    "a whole plan": ({"tasks": [ROW]}, [f"the answer is a whole plan; {FORM}"]),
    "something else": ({"answer": 42}, [f"the answer is no change of the plan; {FORM}"]),
    "an empty change": (
        {"add": [], "drop": [], "rewire": {}, "give_up": None},
        ["the change is empty; change something, or say in 'give_up' why nothing can be done"],
    ),
    "a change and giving up": (
        {**WHOLE, "give_up": "no"},
        ["the answer changes the plan and gives up; do one of them"],
    ),
    "wrong kinds": (
        {"add": "b2", "drop": [1], "rewire": ["b"], "synthesis": 1, "give_up": []},
        [
            "'add' must be a list of tasks",
            "'drop' must be a list of task ids",
            "'rewire' must be an object that maps the id of a task to the id of the one that takes its place",
            "'synthesis' must be a string or null",
            "'give_up' must be a string or null",
        ],
    ),
    "a task that is none": (
        {"add": [{"instruction": "again"}, {"id": "x", "action_type": "dance", "instruction": "y"}], "drop": []},
        [
            "task number 1 has no 'id'; give each task a short unique one",
            "task number 1: 'action_type' is missing; it must be one of skill, tool, llm, goal",
            "task 'x': 'action_type' is 'dance'; it must be one of skill, tool, llm, goal",
        ],
    ),
    "the id of a task that grows": (
        {"add": [{**ROW, "id": "c[1]"}, {**ROW, "id": "c/x"}], "drop": []},
        [
            "task id 'c[1]' may hold only letters, digits, '_' and '-', 64 at most",
            "task id 'c/x' may hold only letters, digits, '_' and '-', 64 at most",
        ],
    ),
    "nested without end": (
        {"add": [{**ROW, "arguments": nested(120)}], "drop": []},
        [f"the answer is nested too deeply; {FORM}"],
    ),
    "an id that was used": (
        {"add": [{**ROW, "id": "c"}], "drop": []},
        ["the id 'c' was used before; give the added task another"],
    ),
    "a skill that is not there": (
        {"add": [{"id": "x", "action_type": "skill", "name": "code-reviews", "instruction": "y"}], "drop": []},
        ["task 'x': there is no skill 'code-reviews'; known are: code-review"],
    ),
    "a task that began is dropped": (
        {"drop": ["a", "b"], "add": []},
        [
            "task 'a' has begun and cannot be dropped: it is done",
            "task 'b' has begun and cannot be dropped: it is failed",
            "task 'c' depends on 'b', which is dropped; drop it too, or rewire 'b'",
        ],
    ),
    "a dependency on what failed": (
        {"add": [{**ROW, "depends_on": ["b"]}], "rewire": {}},
        ["task 'b2' depends on 'b', which failed; depend on what replaces it"],
    ),
    "rewired to what failed": (
        {"add": [], "rewire": {"c": "b"}},
        ["'c' cannot be rewired to 'b', which failed; add a task that replaces both"],
    ),
    "a circle": (
        {"add": [{**ROW, "depends_on": ["c"]}], "rewire": {"b": "b2"}},
        ["the dependencies go in a circle: c → b2 → c, each waiting for the next; remove one of them"],
    ),
    "a reference that is not upstream": (
        {"add": [{**ROW, "instruction": "<<c.output>>"}], "rewire": {}},
        ["task 'b2' refers to <<c.output>>, but 'c' is not upstream of it; add 'c' to its depends_on"],
    ),
    "an unknown key that names tasks": (
        {"add": [{**ROW, "waits_for": ["c"]}], "rewire": {}},
        ["task 'b2': the unknown key 'waits_for' names other tasks (c); list what it waits for in 'depends_on'"],
    ),
}


@pytest.mark.parametrize("case", FAULTS)
def test_every_fault_is_named(case: str) -> None:
    document, expected = FAULTS[case]
    assert faults(document) == expected


def test_the_growth_limit_is_a_fault() -> None:
    found = read_change(json.dumps(WHOLE), PLAN, BEGUN, Known(max_grown=0))
    assert found.faults == ("the plan may grow by 0 tasks in all; this would add 1: raise max_grown, or add fewer",)


def test_the_schema_has_the_tasks_of_a_plan() -> None:
    schema = change_schema()
    assert schema["properties"]["add"]["items"]["required"] == ["id", "action_type", "depends_on"]
    assert set(schema["properties"]) == {"add", "drop", "rewire", "synthesis", "give_up"}
