"""The skills that a run used, and its warnings."""

from __future__ import annotations

from typing import Any

import pytest

from goalwright_executor.history.ledger import Ledger, RunWarnings
from goalwright_planner.events import PlanChanged, PlanMade, TaskFinished, TaskReused, ToolCalled
from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.task import Task

PLAN = Plan((Task("a", "skill", name="one"), Task("b", "llm")))


def ledger_of(*events: Any) -> Ledger:
    ledger = Ledger()
    for event in (PlanMade(PLAN, 1), *events):
        ledger.note(event)
    return ledger


def loaded(name: Any, task: str = "b", status: str = "success") -> ToolCalled:
    return ToolCalled(task, "Skill", {"status": status, "data": name if isinstance(name, list) else {"name": name}})


def test_skills_used_are_those_of_finished_tasks_and_of_their_models() -> None:
    done = [TaskFinished("a", "done", output="x"), TaskFinished("b", "done", output="y")]
    ledger = ledger_of(loaded("two"), loaded("one"), loaded("two"), loaded("gone", status="error"), *done)
    assert ledger.result().skills_used == ("one", "two")
    assert ledger.copy().result().skills_used == ("one", "two")


def test_a_reused_output_counts_its_skill_as_used() -> None:
    assert ledger_of(TaskReused("a", "x", "run r")).result().skills_used == ("one",)


@pytest.mark.parametrize("status", ["failed", "skipped", "cancelled", "pending"])
def test_unfinished_tasks_use_no_skill(status: Any) -> None:
    assert ledger_of(loaded("two"), TaskFinished("a", status), TaskFinished("b", status)).result().skills_used == ()


def test_a_dropped_task_loses_its_loaded_skills() -> None:
    again = PlanChanged("person", None, (Task("b", "llm"),), ("b",))
    assert ledger_of(loaded("two"), again, TaskFinished("b", "done", output="y")).result().skills_used == ()


@pytest.mark.parametrize("name", [None, 3, ["two"], {"two": 1}])
def test_malformed_envelopes_are_ignored(name: Any) -> None:
    assert ledger_of(loaded(name), TaskFinished("b", "done", output="y")).result().skills_used == ()


def test_warnings_are_listed_once_in_order() -> None:
    warnings = RunWarnings()
    for text in ("b", "a", "b"):
        warnings.note(text)
    assert warnings.texts() == ("b", "a")
    assert "a" in warnings
    assert "c" not in warnings


def test_warnings_beyond_a_hundred_are_counted() -> None:
    warnings = RunWarnings()
    for number in range(130):
        warnings.note(f"{number} " + "x" * 10_000)
    texts = warnings.texts()
    assert len(texts) == 101
    assert max(map(len, texts)) == 2_000
    assert texts[-1] == "and 30 more warnings, which the trace has"


def test_a_copy_of_warnings_is_independent() -> None:
    first = RunWarnings()
    first.note("a")
    second = first.copy()
    second.note("b")
    assert (first.texts(), second.texts()) == (("a",), ("a", "b"))
