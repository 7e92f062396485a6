"""Which skills a run used, from its events."""

from __future__ import annotations

from typing import Any

import pytest

from goalwright_executor.history.ledger import Ledger
from goalwright_planner.events import PlanChanged, PlanMade, TaskFinished, TaskReused, ToolCalled
from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.task import Task

PLAN = Plan((Task("a", "skill", name="one"), Task("b", "llm")))


def noted(*events: Any) -> Ledger:
    ledger = Ledger()
    for event in (PlanMade(PLAN, 1), *events):
        ledger.note(event)
    return ledger


def loaded(name: Any, task: str = "b", status: str = "success") -> ToolCalled:
    return ToolCalled(task, "Skill", {"status": status, "data": name if isinstance(name, list) else {"name": name}})


def test_those_of_finished_tasks_each_once_and_what_their_models_loaded() -> None:
    done = [TaskFinished("a", "done", output="x"), TaskFinished("b", "done", output="y")]
    ledger = noted(loaded("two"), loaded("one"), loaded("two"), loaded("gone", status="error"), *done)
    assert ledger.result().skills_used == ("one", "two")
    assert ledger.copy().result().skills_used == ("one", "two")


def test_a_reused_output_was_made_with_its_skill() -> None:
    assert noted(TaskReused("a", "x", "run r")).result().skills_used == ("one",)


@pytest.mark.parametrize("status", ["failed", "skipped", "cancelled", "pending"])
def test_what_did_not_finish_used_nothing(status: Any) -> None:
    assert noted(loaded("two"), TaskFinished("a", status), TaskFinished("b", status)).result().skills_used == ()


def test_a_task_that_was_dropped_and_planned_again_begins_without_what_it_loaded() -> None:
    again = PlanChanged("person", None, (Task("b", "llm"),), ("b",))
    assert noted(loaded("two"), again, TaskFinished("b", "done", output="y")).result().skills_used == ()


@pytest.mark.parametrize("name", [None, 3, ["two"], {"two": 1}])
def test_an_envelope_of_a_stranger_is_read_with_care(name: Any) -> None:
    assert noted(loaded(name), TaskFinished("b", "done", output="y")).result().skills_used == ()
