"""A plan that changed while it ran: every view of the run shows the plan as it was last."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from goalwright.interfaces.cli.view.event_text import describe
from goalwright.interfaces.cli.view.timeline import draw
from goalwright.interfaces.web.trace_page import render
from goalwright.runs.stored.rerun import plan_rerun
from goalwright.telemetry.spans import run_spans
from goalwright.traces.diff import compare
from goalwright.traces.timeline import timeline
from goalwright_executor.capture.capture import Capture
from goalwright_executor.history.ledger import Ledger
from goalwright_executor.history.run_history import RunHistory
from goalwright_executor.journal.summary import updated
from goalwright_executor.stores.row import Row, RunSummary
from goalwright_planner.events import decode
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

PLAN = {
    "tasks": [
        {"id": "list", "action_type": "llm"},
        {"id": "all", "action_type": "llm", "depends_on": ["list"]},
        {"id": "old", "action_type": "llm", "depends_on": ["list"]},
        {"id": "end", "action_type": "llm", "depends_on": ["all", "old"]},
    ]
}
ITEMS = [
    {"id": f"all[{number}]", "title": f"Item {number}", "action_type": "llm", "depends_on": []} for number in (1, 2)
]
GROWN: dict[str, Any] = {
    "cause": "for_each",
    "of": "all",
    "added": ITEMS,
    "dropped": [],
    "rewired": {},
    "synthesis": None,
    "note": "",
}
REPLACED: dict[str, Any] = {
    "cause": "replan",
    "of": None,
    "added": [{"id": "new", "action_type": "llm", "depends_on": ["list"]}],
    "dropped": ["old"],
    "rewired": {"old": "new"},
    "synthesis": "in short",
    "note": "it failed",
}


def done(task: str, second: int) -> Iterator[tuple[int, str, dict[str, Any]]]:
    yield second, "task_started", {"task": task, "inputs": task}
    yield second + 2, "task_finished", {"task": task, "status": "done", "seconds": 2.0, "output": f"of {task}"}


EVENTS: list[tuple[int, str, dict[str, Any]]] = [
    (0, "run_started", {"run_id": "r", "goal": "g", "workspace": "w", "settings": {}}),
    (1, "plan_made", {"plan": PLAN, "attempts": 1}),
    *done("list", 2),
    (4, "task_started", {"task": "all", "inputs": "all"}),
    (4, "plan_changed", GROWN),
    (4, "plan_changed", REPLACED),
    *done("all[1]", 5),
    *done("all[2]", 8),
    (11, "task_finished", {"task": "all", "status": "done", "seconds": 7.0, "output": "of all"}),
    *done("new", 12),
    *done("end", 15),
    (18, "run_finished", {"status": "done", "answer": "x", "seconds": 18.0}),
]
LAST = ["list", "all", "end", "all[1]", "all[2]", "new"]


def rows(*events: tuple[int, str, dict[str, Any]]) -> Iterator[Row]:
    for seq, (second, kind, body) in enumerate(events or EVENTS, start=1):
        yield Row("r", seq, f"2026-01-01T10:00:{second:02}.000000Z", kind, body)


def test_the_result_has_the_last_plan_and_its_tasks() -> None:
    ledger, history = Ledger(), RunHistory.of(rows(), Capture())
    for row in rows():
        event = decode(row.type, row.body)
        assert event is not None
        ledger.note(event)
    for plan in (ledger.plan, history.plan):
        assert plan is not None
        assert [task.id for task in plan.tasks] == LAST
        assert plan.task("end").depends_on == ("all", "new")
        assert (plan.synthesis, plan.grown) == ("in short", 3)
    result = ledger.result()
    assert [task.id for task in result.tasks] == LAST
    assert {task.status for task in result.tasks} == {"done"}


def test_a_summary_counts_the_tasks_of_the_last_plan() -> None:
    summary = RunSummary("r", "", "running", "")
    for row in rows():
        event = decode(row.type, row.body)
        assert event is not None
        summary = updated(summary, event, row.at)
    assert summary.tasks == len(LAST)


def test_the_timeline_shows_grown_tasks_and_the_critical_path_leads_through_them() -> None:
    view = timeline(rows())
    assert set(view.spans) == {"(plan)", *LAST}
    assert view.spans["end"].depends_on == ("all", "new")
    assert view.spans["all"].waited_for == "all[2]"
    assert view.critical == ["list", "new", "end"]
    without = [one for one in EVENTS if one[2].get("task") != "new"]
    assert timeline(rows(*without)).critical == ["list", "all[2]", "all", "end"]
    assert "all[2]" in draw(view)


def test_the_page_shows_changes_and_grown_tasks() -> None:
    page = render([list(rows())])
    assert "all: 2 tasks added" in page
    assert "plan: 1 task added, dropped old, old → new, synthesis changed (it failed)" in page
    assert "all[1]  Item 1" in page


def test_spans_of_grown_tasks_are_sent() -> None:
    named = {span["name"] for span in run_spans(list(rows()))}
    assert "invoke_agent all[2]" in named


def test_two_runs_are_compared_by_their_last_plans() -> None:
    other = [
        (at, kind, {**body, "added": ITEMS[:1]} if kind == "plan_changed" and body["of"] == "all" else body)
        for at, kind, body in EVENTS
        if body.get("task") != "all[2]"
    ]
    found = [str(one) for one in compare(timeline(rows()), timeline(rows(*other)))]
    assert "all[2]  only in the first" in found


def test_a_rerun_begins_from_the_last_plan() -> None:
    rerun = plan_rerun(RunHistory.of(rows(), Capture()), ["new"], {})
    assert rerun.plan.task("end").depends_on == ("all", "new")
    assert rerun.executed == ("end", "new")


def test_changes_are_described_in_a_line() -> None:
    texts = [describe(event) for row in rows() if (event := decode(row.type, row.body)) and row.type == "plan_changed"]
    assert texts == ["all: 2 tasks added", "plan: 1 task added, dropped old, old → new, synthesis changed (it failed)"]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"added": [{"id": "x", "action_type": "llm", "depends_on": ["y"]}]}, "depends on 'y', which is not in it"),
        ({"added": [{"id": "list", "action_type": "llm"}]}, "two tasks of 'plan' have the same id"),
        ({"added": [{"id": "all[1]", "action_type": "llm", "depends_on": ["all"]}]}, "in a circle"),
        ({"dropped": ["list"]}, "depends on 'list', which is not in it"),
    ],
)
def test_a_change_that_does_not_fit_the_plan_is_refused(change: dict[str, Any], fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        RunHistory.of(rows(*EVENTS[:2], (3, "plan_changed", {"cause": "replan", **change})), Capture())
