"""Checks of a result: what each takes as passed, and what it shows as evidence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from goalwright.evaluation.checks.answer_checks import answer_check, width
from goalwright.evaluation.checks.check import BadCheck, read_check
from goalwright_executor.history.result import Result, TaskReport
from goalwright_planner.model import Usage
from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.task import Task

PLAN = Plan(
    tuple(
        Task(id=name, action_type="llm", depends_on=tuple(before))
        for name, before in {"a": "", "b": "a", "c": "b", "d": "b", "x": "", "y": "x", "z": "x"}.items()
    )
)
TASKS = tuple(TaskReport(task.id, "llm", None, "done") for task in PLAN.tasks)
RESULT = Result(
    *("run", "done", "goal", "Dear Ann,\n42 apples", None, None),
    *(("letters",), TASKS, Usage(calls=4), 0.5, None),
    seconds=3.0,
    plan=PLAN,
    skills_used=("letters",),
)


@pytest.mark.parametrize(
    ("raw", "passed"),
    [
        ({"contains": "dear"}, True),
        ({"contains": "dear", "exact": True}, False),
        ({"not_contains": "Bob"}, True),
        ({"not_contains": "apples"}, False),
        ({"json_schema": {"type": "object"}}, False),
        ({"skill": "letters"}, True),
        ({"skill": "other"}, False),
        ({"tasks": {"min": 7, "max": 7, "min_parallel": 4}}, True),
        ({"tasks": {"min_parallel": 5}}, False),
        ({"tasks": {"max": 6}}, False),
        ({"max_cost": 0.5}, True),
        ({"max_cost": 0.4}, False),
        ({"max_seconds": 2}, False),
        ({"max_calls": 4}, True),
    ],
)
def test_check_passes_or_fails_with_evidence(raw: dict[str, Any], passed: bool) -> None:
    found = answer_check(read_check(raw), RESULT)
    assert found.passed is passed
    assert found.evidence


def test_unknown_cost_fails_max_cost() -> None:
    found = answer_check(read_check({"max_cost": 1}), replace(RESULT, cost_usd=None))
    assert (found.passed, found.evidence) == (False, "the cost is unknown")


def test_json_schema_validates_the_answer_or_the_data() -> None:
    check = read_check({"json_schema": {"type": "object", "required": ["name"]}})
    assert answer_check(check, replace(RESULT, answer='```json\n{"name": "Ann"}\n```')).passed
    assert not answer_check(check, replace(RESULT, answer='{"nam": "Ann"}')).passed
    assert answer_check(check, replace(RESULT, data={"name": "Ann"})).passed


def test_width_is_the_number_of_parallel_tasks() -> None:
    assert width(PLAN) == 4, "c, d, y and z, although they are not equally deep"
    assert width(None) == 0


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({}, "checks are: contains"),
        ({"contains": "a", "regex": "b"}, "can have only one of"),
        ({"contains": 3}, "must be a string"),
        ({"contains": "a", "exakt": True}, "unknown key 'exakt'"),
        ({"json_schema": {"type": "nothing"}}, "is not a JSON Schema"),
        ({"file": {"min_bytes": 3}}, "needs a path"),
        ({"file": {"path": "a", "bytes": 3}}, "unknown key 'bytes'"),
        ({"tasks": {"minimum": 1}}, "unknown key 'minimum'"),
        ({"tasks": {"min": "a"}}, "^the check 'tasks': it must be an integer of 0 or more, not 'a'$"),
        ({"max_calls": 1.5}, "must be an integer"),
        ({"max_cost": -1}, "0 or more"),
        ({"command": "python grade.py"}, "a program and its arguments"),
        (7, "a check must be an object"),
    ],
)
def test_invalid_check_is_refused_with_a_reason(raw: Any, message: str) -> None:
    with pytest.raises(BadCheck, match=message):
        read_check(raw)
