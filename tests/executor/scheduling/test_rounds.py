"""Rounds of a task in the plan: found again as they are, and replaced with all that follows where one differs."""

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


def test_a_round_that_is_in_the_plan_changes_nothing() -> None:
    parts, record = joining(LOOP, SECOND, THIRD, *PARTS)
    assert parts.join_round(LOOP, SECOND) == SECOND
    assert record.events == []


def test_a_round_that_differs_takes_the_place_of_all_that_follow_with_their_parts() -> None:
    parts, record = joining(LOOP, SECOND, THIRD, *PARTS)
    other = replace(SECOND, previous=PreviousRound("y", "…"))
    assert parts.join_round(LOOP, other) == other
    dropped = ("loop#2", "loop#3", "loop#2/a", "loop#3/a")
    assert record.events == [PlanChanged("repeat", "loop", (other,), dropped)]
    assert [task.id for task in parts.current.plan.tasks] == ["loop", "loop/a", "loop#2"]


def test_what_came_before_the_last_round_does_not_count_any_more() -> None:
    items = [Task(name, "llm") for name in ("each", "each[1]", "each[2]", "each[1]/a", "each[1]#2", "each[2]/a")]
    assert Plan((LOOP, SECOND, THIRD, *PARTS, *items)).superseded == {"loop/a", "loop#2", "loop#2/a", "each[1]/a"}
    assert [task.id for task in Plan((LOOP, SECOND, *PARTS)).reported] == ["loop"]
    assert [task.id for task in Plan((LOOP, PARTS[0])).reported] == ["loop", "loop/a"]


def test_in_a_replay_the_record_says_which_round_was_the_last_that_could_grow() -> None:
    history = RunHistory()
    history.note(PlanMade(Plan((LOOP,)), 1))
    history.note(PlanChanged("repeat", "loop", (SECOND,)))
    history.note(TaskFinished("loop", "failed", 0.0, "x", "the plan may grow by 1 tasks in all; …"))
    limits = RecordedLimits(history, SetLimits(Known(max_grown=0), 200))
    assert limits.fault(LOOP, [SECOND], Plan((LOOP,))) is None
    assert limits.fault(LOOP, [THIRD], Plan((LOOP, SECOND))) == "the plan may grow by 1 tasks in all; …"
