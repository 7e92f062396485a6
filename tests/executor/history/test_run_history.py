"""A run read back from its record, which may come from anyone."""

from __future__ import annotations

import pytest

from weft_executor.capture.capture import Capture
from weft_executor.history.run_history import RunHistory
from weft_executor.stores.row import Row
from weft_planner.events import Event, PlanChanged, PlanMade, to_dict, type_of
from weft_planner.plan.plan import Plan
from weft_planner.plan.task import Task
from weft_skills.errors import InputError

MADE = PlanMade(Plan((Task("a", "llm"), Task("b", "llm", depends_on=("a",)))), 1)


def read(*events: Event) -> RunHistory:
    rows = (Row("r", seq, "", type_of(type(event)), to_dict(event)) for seq, event in enumerate(events, 1))
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
def test_changes_that_do_not_fit_the_plan_are_refused(change: PlanChanged, why: str) -> None:
    with pytest.raises(InputError, match=f"the changes of its plan do not fit together: .*{why}"):
        read(MADE, change)


def test_a_change_that_another_one_took_back_counts_for_nothing() -> None:
    added = PlanChanged("for_each", "b", (Task("b[1]", "llm", depends_on=("gone",)),))
    history = read(MADE, added, PlanChanged("for_each", "b", (), ("b[1]",)))
    assert history.plan is not None
    assert [task.id for task in history.plan.tasks] == ["a", "b"]
