"""Rounds of a task in the plan: reused when equal, replaced with all later ones when different."""

from __future__ import annotations

from msgspec.structs import replace

from goalwright_executor.history.replay import RecordedLimits
from goalwright_executor.history.run_history import RunHistory
from goalwright_executor.results.memo import Memo
from goalwright_executor.scheduling.expand import CurrentPlan, FanOut, SetLimits
from goalwright_planner.events import PlanChanged, PlanMade, TaskFinished
from goalwright_planner.plan.known import Known
from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.task import PreviousRound, Repeat, Task
from tests.fakes import Recorder

LOOP = Task("loop", "llm", repeat=Repeat("<<loop.output>> is empty", 9))
SECOND, THIRD = (Task(f"loop#{number}", "llm", previous=PreviousRound("x", "…")) for number in (2, 3))
PARTS = (Task("loop/a", "llm"), Task("loop#2/a", "llm"), Task("loop#3/a", "llm"))


def joining(*tasks: Task, max_grown: int = 100) -> tuple[FanOut, Recorder]:
    record = Recorder()
    limits = SetLimits(Known(max_grown=max_grown), 200)
    return FanOut(CurrentPlan(Plan(tasks), record), Memo(record), limits), record


def test_round_in_the_plan_changes_nothing() -> None:
    parts, record = joining(LOOP, SECOND, THIRD, *PARTS)
    assert parts.join_round(LOOP, SECOND) == SECOND
    assert record.events == []


def test_different_round_replaces_all_later_rounds() -> None:
    parts, record = joining(LOOP, SECOND, THIRD, *PARTS)
    other = replace(SECOND, previous=PreviousRound("y", "…"))
    assert parts.join_round(LOOP, other) == other
    dropped = ("loop#2", "loop#3", "loop#2/a", "loop#3/a")
    assert record.events == [PlanChanged("repeat", "loop", (other,), dropped)]
    assert [task.id for task in parts.current.plan.tasks] == ["loop", "loop/a", "loop#2"]


def test_earlier_rounds_do_not_count() -> None:
    items = [Task(name, "llm") for name in ("each", "each[1]", "each[2]", "each[1]/a", "each[1]#2", "each[2]/a")]
    assert Plan((LOOP, SECOND, THIRD, *PARTS, *items)).superseded == {"loop/a", "loop#2", "loop#2/a", "each[1]/a"}
    assert [task.id for task in Plan((LOOP, SECOND, *PARTS)).reported] == ["loop"]
    assert [task.id for task in Plan((LOOP, PARTS[0])).reported] == ["loop", "loop/a"]


def test_replay_stops_growing_rounds_as_recorded() -> None:
    history = RunHistory()
    history.note(PlanMade(Plan((LOOP,)), 1))
    history.note(PlanChanged("repeat", "loop", (SECOND,)))
    history.note(TaskFinished("loop", "failed", 0.0, "x", "the plan may grow by 1 tasks in all; …"))
    limits = RecordedLimits(history, SetLimits(Known(max_grown=0), 200))
    assert limits.fault(LOOP, [SECOND], Plan((LOOP,))) is None
    assert limits.fault(LOOP, [THIRD], Plan((LOOP, SECOND))) == "the plan may grow by 1 tasks in all; …"
