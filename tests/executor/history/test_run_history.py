"""A run read back from its events, which may be malformed."""

from __future__ import annotations

import pytest

from goalwright_executor.capture.capture import Capture
from goalwright_executor.history.run_history import RunHistory
from goalwright_executor.journal.summary import updated
from goalwright_executor.stores.row import Row, RunSummary
from goalwright_planner.events import (
    Event,
    PlanChanged,
    PlanMade,
    RunFinished,
    RunNoted,
    RunResumed,
    RunStarted,
    RunTagged,
    to_dict,
    type_of,
)
from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.task import Task
from goalwright_skills.errors import InputError

MADE = PlanMade(Plan((Task("a", "llm"), Task("b", "llm", depends_on=("a",)))), 1)

STARTED = RunStarted("r", "g", "w", {})


def read(*events: Event) -> RunHistory:
    """Return the history of a run with these events, one per second."""
    rows = (
        Row("r", seq, f"2026-01-01T10:00:{seq:02}.000000Z", type_of(type(event)), to_dict(event))
        for seq, event in enumerate(events, 1)
    )
    return RunHistory.of(rows, Capture())


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (PlanChanged("goal", "b", (Task("b/x", "llm", depends_on=("gone",)),)), "'b/x' of 'plan' depends on 'gone'"),
        (PlanChanged("replan", None, (Task("a", "llm"),)), "two tasks of 'plan' have the same id"),
        (PlanChanged("replan", None, (), (), {"a": "b"}), "in a circle"),
        (PlanChanged("person", None, (), ("a",)), "'b' of 'plan' depends on 'a'"),
    ],
)
def test_inconsistent_plan_changes_are_refused(change: PlanChanged, why: str) -> None:
    with pytest.raises(InputError, match=f"the changes of its plan do not fit together: .*{why}"):
        read(MADE, change)


def test_a_reverted_change_is_ignored() -> None:
    added = PlanChanged("for_each", "b", (Task("b[1]", "llm", depends_on=("gone",)),))
    history = read(MADE, added, PlanChanged("for_each", "b", (), ("b[1]",)))
    assert history.plan is not None
    assert [task.id for task in history.plan.tasks] == ["a", "b"]


def test_a_resume_counts_the_time_until_the_process_died() -> None:
    died = read(STARTED, MADE, MADE, RunTagged(("late",)), RunNoted("what happened?"))
    assert died.lost == 2.0, "later tags and notes do not count"
    again = read(STARTED, MADE, MADE, RunResumed("r", {}, 2.0), MADE)
    assert (again.lost, again.ledger.result().seconds) == (1.0, 2.0)
    ended = read(STARTED, MADE, RunResumed("r", {}, 1.0), MADE, RunFinished("done", seconds=1.5))
    assert (ended.lost, ended.ledger.result().seconds) == (0.0, 2.5)
    summary = RunSummary("r", "g", "running", "")
    for event in (STARTED, RunResumed("r", {}, 1.0), RunFinished("done", seconds=1.5)):
        summary = updated(summary, event, "")
    assert summary.seconds == 2.5
    assert updated(RunSummary("r", "g", "running", ""), RunResumed("r", {}), "").seconds is None
