"""A run in time: the time worked, without pauses, and whether it is running."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from goalwright.interfaces.cli.view import width
from goalwright.interfaces.cli.view.timeline import draw
from goalwright.traces.timeline import timeline
from goalwright_executor.stores.row import Row

if TYPE_CHECKING:
    from collections.abc import Iterator

PLAN = {"tasks": [{"id": "a", "action_type": "llm"}, {"id": "b", "action_type": "llm", "depends_on": ["a"]}]}
REPLY: dict[str, Any] = {
    "text": "t", "tool_calls": [], "usage": {"calls": 1}, "cost": 0.1, "finish": "stop", "model": "m"
}  # fmt: skip


def event(at: str, kind: str, **body: Any) -> tuple[str, str, dict[str, Any]]:
    return at, kind, body


BEGUN = (
    event("10:00:00", "run_started", run_id="r", goal="g", workspace="w", settings={}),
    event("10:00:02", "call_finished", role="decomposer", task=None, model="m", reply=REPLY, seconds=2.0),
    event("10:00:02", "plan_made", plan=PLAN, attempts=1),
    event("10:00:02", "task_started", task="a", inputs="x"),
    event("10:00:05", "task_finished", task="a", status="done", seconds=3.0, output="o"),
    event("10:00:05", "task_started", task="b", inputs="y"),
)
RESUMED = (
    event("18:00:00", "run_resumed", run_id="r", settings={}),
    event("18:00:01", "task_started", task="b", inputs="y"),
    event("18:00:04", "task_finished", task="b", status="done", seconds=3.0, output="o"),
    event("18:00:05", "run_finished", status="done", answer="o", seconds=5.0),
)


def rows(*events: tuple[str, str, dict[str, Any]]) -> Iterator[Row]:
    for seq, (at, kind, body) in enumerate(events, start=1):
        yield Row("r", seq, f"2026-01-01T{at}.000000Z", kind, body)


def test_a_pause_before_a_resume_does_not_count_as_work() -> None:
    view = timeline(rows(*BEGUN, *RESUMED))
    assert (view.status, view.resumed, view.seconds) == ("done", 1, 10.0)
    spans = {name: (span.start, span.end) for name, span in view.spans.items()}
    assert spans == {"(plan)": (0.0, 2.0), "a": (2.0, 5.0), "b": (6.0, 9.0)}
    assert view.to_dict()["seconds"] == 10.0
    assert draw(view).splitlines()[0].endswith(" · 10.0 s")


def test_planning_finished_after_a_resume_does_not_include_the_pause() -> None:
    again = event("18:00:03", "call_finished", role="decomposer", task=None, model="m", reply=REPLY, seconds=2.0)
    refused = event("10:00:02", "plan_refused", attempt=1, faults=["no"])
    view = timeline(rows(*BEGUN[:2], refused, RESUMED[0], again))
    assert [one.end - one.start for one in view.spans["(plan)"].tries if one.end] == pytest.approx([2.0, 2.0])
    assert view.spans["(plan)"].seconds == pytest.approx(2.0)


def test_planning_without_an_accepted_answer_has_failed() -> None:
    refused = event("10:00:02", "plan_refused", attempt=1, faults=["no"])
    ended = event("10:00:03", "run_finished", status="failed", error="no plan", code="NO_PLAN", seconds=3.0)
    plan = timeline(rows(*BEGUN[:2], refused, ended)).spans["(plan)"]
    assert (plan.status, [one.status for one in plan.tries]) == ("failed", ["failed"])


def test_clock_set_back_does_not_reduce_time() -> None:
    late = event("09:00:03", "call_finished", role="decomposer", task=None, model="m", reply=REPLY, seconds=2.0)
    view = timeline(rows(BEGUN[0], late, *((f"09{at[2:]}", kind, body) for at, kind, body in BEGUN[2:]), *RESUMED))
    spans = {name: (span.start, span.end) for name, span in view.spans.items()}
    assert spans == {"(plan)": (0.0, 0.0), "a": (0.0, 3.0), "b": (4.0, 7.0)}
    assert view.seconds == 8.0
    again = timeline(rows(*BEGUN[:5], event("10:00:04", "run_finished", status="done", answer="o", seconds=4.0)))
    assert (again.seconds, again.spans["a"].seconds) == (5.0, 3.0)


def test_a_run_whose_process_died_is_interrupted() -> None:
    view = timeline(rows(*BEGUN))
    assert (view.status, view.spans["b"].status) == ("interrupted", "interrupted")
    assert draw(view).startswith("run r · interrupted")


def test_interrupted_task_took_as_long_as_it_worked() -> None:
    """It has no end: it did not come to one."""
    stopped = event("10:00:09", "run_finished", status="interrupted", error="interrupted", seconds=9.0)
    for ended in ((stopped,), (event("10:00:09", "warned", message="w"),)):  # stopped, and killed
        span = timeline(rows(*BEGUN, *ended)).spans["b"]
        assert (span.end, span.seconds, span.to_dict()["seconds"]) == (None, 4.0, 4.0)
    assert "4.00 s" in draw(timeline(rows(*BEGUN, stopped)))
    again = timeline(rows(*BEGUN, stopped, RESUMED[0], event("18:00:07", "warned", message="w")))
    (bar,) = (line for line in draw(again).splitlines() if "← a" in line)
    assert bar.count("█") == 8  # of 32 for 16 seconds: until it was stopped, not until the end


def test_a_run_with_a_live_process_is_running() -> None:
    view = timeline(rows(*BEGUN), alive=True)
    assert (view.status, view.spans["b"].status, view.to_dict()["status"]) == ("running", "running", "running")
    assert view.seconds > 5.0
    text = draw(view)
    assert text.startswith("run r · running")
    assert "▶" in text


def test_a_task_that_is_not_in_the_plan_is_ignored() -> None:
    view = timeline(rows(*BEGUN[:2], *BEGUN[3:], event("10:00:06", "task_reused", task="c", output="o", source="s")))
    assert (list(view.spans), view.result.tasks) == (["(plan)"], ())


@pytest.mark.parametrize("max_width", [80, 50])
def test_drawing_fits_the_terminal(max_width: int) -> None:
    names = [f"a-task-with-a-long-name-{number}" for number in range(4)]
    tasks = [{"id": name, "action_type": "llm", "depends_on": names[:place]} for place, name in enumerate(names)]
    events = [
        event(
            "10:00:00", "run_started", run_id="20261115T101542509-f96f4c", goal="goal " * 60, workspace="w", settings={}
        ),
        event("10:00:02", "plan_made", plan={"tasks": tasks}, attempts=1),
    ]
    for name in names[:3]:
        events += [
            event("10:00:02", "task_started", task=name, inputs="x"),
            event("10:00:04", "call_finished", role="task", task=name, model="m", reply=REPLY, seconds=2.0),
            event("10:00:05", "task_finished", task=name, status="done", seconds=3.0, output="o"),
        ]
    end = event("10:00:06", "run_finished", status="partial", answer="o", error="no result " * 20, seconds=6.0)
    view = timeline(rows(*events, end))
    lines = draw(view, max_width).splitlines()
    assert [line for line in lines if width.columns(line) > max_width] == []
    text = " ".join(" ".join(lines).split())
    assert f"← {names[0]}, {names[1]}, {names[2]}" in text
    assert "20261115T101542509-f96f4c · partial" in text
    assert text.count("3.00 s $0.1000") == 3
    whole = draw(view).splitlines()
    assert f"goal: {'goal ' * 60}".strip() in whole
    assert sum(line.startswith(("✓", "·")) for line in whole) == len(names) + 1


def test_a_step_that_never_started_has_no_time() -> None:
    skipped = event("10:00:06", "task_finished", task="b", status="skipped", seconds=0.0, error="it depends on 'a'")
    line = draw(timeline(rows(*BEGUN[:5], skipped))).splitlines()[-3]
    assert line.startswith("– b")
    assert " s" not in line


def test_all_tries_are_kept_and_the_critical_path_covers_the_run() -> None:
    view = timeline(rows(*BEGUN, *RESUMED))
    assert [one.to_dict() for one in view.spans["b"].tries] == [
        {"start": 5.0, "end": 5.0, "status": "interrupted"},
        {"start": 6.0, "end": 9.0, "status": "done"},
    ]
    segments = [(one.step, one.start, one.end) for one in view.segments]
    assert segments == [
        ("(plan)", 0.0, 2.0),
        ("a", 2.0, 5.0),
        (None, 5.0, 6.0),
        ("b", 6.0, 9.0),
        (None, 9.0, 10.0),
    ]
    assert view.critical == ["(plan)", "a", "b"]


def test_critical_path_continues_past_an_empty_try() -> None:
    late = event("10:00:06", "task_started", task="b", inputs="y")
    view = timeline(rows(*BEGUN[:5], late, *RESUMED))
    assert view.spans["b"].tries[0].to_dict() == {"start": 6.0, "end": 6.0, "status": "interrupted"}
    assert [(one.step, one.start, one.end) for one in view.segments] == [
        ("(plan)", 0.0, 2.0),
        ("a", 2.0, 5.0),
        (None, 5.0, 6.0),
        ("b", 6.0, 6.0),
        (None, 6.0, 7.0),
        ("b", 7.0, 10.0),
        (None, 10.0, 11.0),
    ]
    assert view.critical == ["(plan)", "a", "b"]
    twice = timeline(rows(*BEGUN[:5], late, RESUMED[0], ("18:00:00", *late[1:]), *RESUMED))
    assert twice.critical == ["(plan)", "a", "b"]


def test_items_are_named_by_value_and_replaced_tasks_by_successor() -> None:
    item = {"id": "b[1]", "action_type": "llm", "item": {"value": {"name": "Insurers", "size": 3}}}
    grown = event("10:00:05", "plan_changed", cause="for_each", of="b", added=[item])
    failed = event("10:00:07", "task_finished", task="b", status="failed", seconds=2.0, error="no")
    other = {"id": "c", "action_type": "llm", "depends_on": ["a"]}
    change = event("10:00:09", "plan_changed", cause="replan", added=[other], rewired={"b": "c"}, note="b cannot work")
    view = timeline(rows(*BEGUN, grown, failed, change))
    assert (view.spans["b[1]"].item, view.spans["b"].replaced_by) == ("Insurers", "c")
    (shown,) = view.to_dict()["plan_changes"]
    assert shown == {
        "at": 9.0, "cause": "replan", "added": ["c"], "dropped": [], "rewired": {"b": "c"}, "note": "b cannot work"
    }  # fmt: skip
