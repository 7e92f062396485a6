"""Plans that stream: tasks start while the plan is being written, and nothing depends on who was faster."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest

from goalwright.runs.goal import Goal
from goalwright.runs.runtime import Goalwright
from goalwright.runs.steps.streaming import may_begin
from goalwright.runs.stop import Stop
from goalwright.runs.stored import records
from goalwright.settings.paths import Paths
from goalwright.settings.settings import Settings
from goalwright_planner.errors import BudgetSpent
from goalwright_planner.events import (
    CallFinished,
    PlanChanged,
    PlanMade,
    TaskFinished,
    TaskStarted,
    TextStreamed,
    Warned,
)
from goalwright_planner.model import Reply, Usage
from goalwright_planner.plan.task import Task
from goalwright_skills.tools.effects import READ_ONLY, Effects
from tests.fakes import Recorder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from goalwright_executor.history.result import Result
    from goalwright_planner.events import Event
    from goalwright_planner.model import Request
    from goalwright_planner.plan.plan import Plan

GOAL = "Do several things"


def llm(name: str, *before: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "action_type": "llm", "instruction": f"Do {name}", "depends_on": list(before), **more}


def plan(*rows: dict[str, Any], synthesis: str | None = "all of it") -> str:
    return json.dumps({"tasks": rows, "synthesis": synthesis})


@dataclass
class WritingModel:
    """Writes each plan in two pieces; after the first it waits until these tasks were asked for, or for ever."""

    plans: list[str]
    wait_for: tuple[str, ...] = ()
    cut: str = '"id": "late"'
    again: str = ""  # what is written instead of the second piece before it breaks off
    hangs: bool = False
    slow: tuple[str, ...] = ()
    slow_once: bool = False
    halts: bool = False
    planned: asyncio.Event | None = None  # what tasks wait for after their first word
    name: str = "writing"
    asked: list[Request] = field(default_factory=list)
    seen: asyncio.Event = field(default_factory=asyncio.Event)

    async def complete(self, request: Request) -> Reply:
        self.asked.append(request)
        self.seen.set()
        usage = Usage(1, 10, 5)
        if request.role == "decomposer":
            return Reply(await self._plan(request), usage=usage, cost=0.01)
        if request.task in self.slow and not (self.slow_once and self.tasks()[request.task] > 1):
            await asyncio.sleep(60)
        if self.halts and request.role == "task":
            raise BudgetSpent("enough is spent", hint="raise it")
        text = f"{request.task or 'answer'}: done"
        if request.on_text is not None:
            request.on_text("")
            for word in text.split(" "):
                request.on_text(word)
                if self.planned is not None:
                    await self.planned.wait()
        return Reply(text, usage=usage, cost=0.01)

    async def _plan(self, request: Request) -> str:
        text = self.plans.pop(0) if len(self.plans) > 1 else self.plans[0]
        if request.on_text is None:
            return text
        first, cut, rest = text.partition(self.cut)
        request.on_text("")
        request.on_text(first)
        while not set(self.wait_for) <= {one.task for one in self.asked if one.role == "task"}:
            self.seen.clear()
            await self.seen.wait()
        if self.hangs:
            await asyncio.sleep(60)
        if self.again:
            request.on_text("")
            request.on_text(self.again)
            request.on_text("")
            request.on_text(text)
        else:
            request.on_text(cut + rest)
        return text

    def tasks(self) -> Counter[str | None]:
        return Counter(one.task for one in self.asked if one.role == "task")

    def said(self, role: str = "decomposer") -> list[str]:
        return [one.messages[-1].content for one in self.asked if one.role == role]


def counted(workspace: Path) -> tuple[int | None, int]:
    """How many tasks have a result, and how many there are, as a list of runs has it."""
    store = records.recorded_runs(Paths.of(workspace, {}), Settings())
    (summary,) = store.summaries()
    store.close()
    return summary.done, summary.tasks


async def run(workspace: Path, model: WritingModel, goal: Goal | str = GOAL, **more: Any) -> tuple[Result, Recorder]:
    record = Recorder()
    async with Goalwright(workspace, Settings(model="writing", **more), open_model=lambda _: model) as goalwright:
        return await goalwright.run(goal, record=record), record


async def resume(workspace: Path, run_id: str, model: WritingModel, record: Recorder | None = None) -> Result:
    async with Goalwright(workspace, Settings(model="writing"), open_model=lambda _: model) as goalwright:
        return await goalwright.resume(run_id, record=record)


async def interrupted(workspace: Path, model: WritingModel, enough: Callable[[Event], bool]) -> Result:
    """A run that is stopped as soon as an event says so."""
    stop = Stop()
    async with Goalwright(workspace, Settings(model="writing"), open_model=lambda _: model) as goalwright:
        return await goalwright.run(GOAL, record=lambda event: stop.set() if enough(event) else None, stop=stop)


def places(record: Recorder, *wanted: type) -> list[str]:
    return [
        f"{type(one).__name__} {getattr(one, 'task', '') or ''}".strip()
        for one in record.events
        if isinstance(one, wanted)
    ]


async def test_tasks_start_and_end_while_the_plan_is_being_written(workspace: Path) -> None:
    model = WritingModel([plan(llm("a"), llm("b", "a"), llm("late", "b"))], wait_for=("a", "b"))
    result, record = await run(workspace, model)
    assert (result.status, result.answer) == ("done", "answer: done")
    assert [(one.id, one.status, one.attempts) for one in result.tasks] == [
        ("a", "done", 1), ("b", "done", 1), ("late", "done", 1),
    ]  # fmt: skip
    order = places(record, PlanChanged, PlanMade, TaskStarted, TaskFinished)
    assert order[:3] == ["PlanChanged", "PlanChanged", "TaskStarted a"]
    assert order.index("TaskFinished a") < order.index("TaskStarted b") < order.index("PlanMade")
    changes = [one for one in record.events if isinstance(one, PlanChanged)]
    assert [(one.cause, [task.id for task in one.added]) for one in changes] == [
        ("stream", [name]) for name in ("a", "b", "late")
    ]
    assert (result.usage.calls, model.tasks()) == (5, Counter("ab") + Counter(["late"]))


async def test_without_the_setting_nothing_starts_early(workspace: Path) -> None:
    model = WritingModel([plan(llm("a"), llm("late", "a"))])
    result, record = await run(workspace, model, stream_plan=False)
    assert result.status == "done"
    assert all(one.on_text is None for one in model.asked if one.role == "decomposer")
    assert record.of(PlanChanged) == []


async def test_a_repeated_planning_request_keeps_early_tasks(workspace: Path) -> None:
    wrong = plan(llm("a"), llm("b", "a"), llm("late", "nobody"))
    model = WritingModel([wrong, plan(llm("a"), llm("b", "a"), llm("late", "b"))], wait_for=("a", "b"))
    result, record = await run(workspace, model)
    assert (result.status, model.tasks()["a"], model.tasks()["b"]) == ("done", 1, 1)
    assert "they have begun: a, b\n" in model.said()[1]
    assert places(record, PlanMade, TaskStarted).index("PlanMade") == 2
    slow = WritingModel([wrong, plan(llm("a"), llm("b", "a"), llm("late", "b"))], cut='{"tasks"')
    other, _ = await run(workspace, slow)
    assert other.status == "done"
    assert slow.said() == model.said(), "its words do not depend on what had begun"


async def test_early_tasks_outside_the_accepted_plan_are_stopped(workspace: Path) -> None:
    wrong = plan(llm("a"), llm("b", "a"), llm("c"), llm("late", "nobody"))
    right = plan(llm("a", title="Other"), llm("b", "a"), llm("late", "b"))
    model = WritingModel([wrong, right], wait_for=("a", "b", "c"), slow=("c",))
    result, record = await run(workspace, model)
    assert (result.status, [one.id for one in result.tasks]) == ("done", ["a", "b", "late"])
    assert [one.attempts for one in result.tasks] == [1, 1, 1]
    assert (model.tasks()["a"], model.tasks()["b"]) == (2, 2), "b was given what a said"
    assert result.usage.calls == 2 + 4 + 1 + 1 + 1, "those of the tasks that were stopped are counted"
    assert result.usage.estimated_calls == 1, "the one that was stopped under way"
    ends = [(one.task, one.status) for one in record.events if isinstance(one, TaskFinished)]
    assert ("c", "cancelled") in ends
    (dropped,) = [one for one in record.events if isinstance(one, PlanChanged) and one.dropped]
    assert (dropped.cause, dropped.dropped) == ("stream", ("a", "b", "c"))
    said = [one.message for one in record.events if isinstance(one, Warned)]
    assert "3 tasks that began early are not in the accepted plan (a, b, c)" in said[0]
    assert counted(workspace) == (3, 3)


async def test_an_edge_after_the_tasks_makes_early_tasks_wait(workspace: Path) -> None:
    text = json.dumps({"tasks": [llm("first"), llm("second"), llm("late")], "edges": [["first", "second"]]})
    model = WritingModel([text], wait_for=("first", "second"), slow=("second",), slow_once=True)
    result, record = await run(workspace, model)
    assert (result.status, result.plan and result.plan.task("second").depends_on) == ("done", ("first",))
    ended = [(event.task, event.status) for event in record.events if isinstance(event, TaskFinished)]
    assert ("second", "cancelled") in ended
    assert ended.index(("first", "done")) < ended.index(("second", "done"))
    assert any("began early" in event.message for event in record.events if isinstance(event, Warned))


async def test_tasks_without_depends_on_wait_for_the_whole_plan(workspace: Path) -> None:
    rows = [{key: value for key, value in llm(name).items() if key != "depends_on"} for name in ("first", "second")]
    text = json.dumps({"tasks": rows, "edges": [["first", "second"]], "synthesis": "late"})
    model = WritingModel([text], cut='"synthesis"')
    result, _ = await run(workspace, model)
    assert (result.status, list(model.tasks())) == ("done", ["first", "second"])


async def test_a_run_stopped_during_planning_keeps_finished_tasks(workspace: Path) -> None:
    first, whole = plan(llm("a"), llm("b"), llm("late", "a")), plan(llm("b"), llm("a"), llm("late", "a", "b"))
    model = WritingModel([first], wait_for=("a", "b"), hangs=True, slow=("b",))
    stopped = await interrupted(workspace, model, lambda one: isinstance(one, TaskFinished) and one.task == "a")
    assert stopped.status == "interrupted"
    assert {one.id: one.status for one in stopped.tasks} == {"a": "done", "b": "cancelled"}
    again = WritingModel([whole], wait_for=("b",))
    result = await resume(workspace, stopped.run_id, again)
    assert (result.status, again.tasks()) == ("done", Counter(["b", "late"]))
    assert json.dumps(Task.from_dict(llm("a")).to_dict()) in again.said()[0]
    assert [(one.id, one.attempts) for one in result.tasks] == [("b", 2), ("a", 1), ("late", 1)]


async def test_a_resume_reviews_a_plan_with_early_tasks_only(workspace: Path) -> None:
    whole, shown = plan(llm("a"), llm("late", "a")), []
    model = WritingModel([whole], wait_for=("a",), hangs=True)
    stopped = await interrupted(workspace, model, lambda one: isinstance(one, TaskFinished))
    again = WritingModel([whole])

    async def no(found: Plan) -> None:
        shown.append([task.id for task in found.tasks])

    async def yes(found: Plan) -> Plan:
        await no(found)
        return found

    async with Goalwright(workspace, Settings(model="writing"), open_model=lambda _: again) as goalwright:
        for _ in range(2):
            await goalwright.resume(stopped.run_id, review=no)
        assert again.tasks() == Counter()
        result = await goalwright.resume(stopped.run_id, review=yes)
    assert (result.status, again.tasks(), shown) == ("done", Counter(["late"]), [["a", "late"]] * 3)


async def test_tasks_changed_by_a_resumed_planner_run_again(workspace: Path) -> None:
    model = WritingModel([plan(llm("a"), llm("late", "a"))], wait_for=("a",), hangs=True)
    stopped = await interrupted(workspace, model, lambda one: isinstance(one, TaskFinished))
    again = WritingModel([plan(llm("a", instruction="Do it otherwise"), llm("late", "a"))])
    result = await resume(workspace, stopped.run_id, again)
    assert (result.status, again.tasks()) == ("done", Counter(["a", "late"]))
    assert counted(workspace) == (2, 2)


async def test_a_broken_answer_starts_over(workspace: Path) -> None:
    broken = plan(llm("a", title="Another"), llm("x"))
    model = WritingModel([plan(llm("a"), llm("late", "a"))], wait_for=("a",), again=broken)
    result, record = await run(workspace, model)
    assert (result.status, [one.id for one in result.tasks]) == ("done", ["a", "late"])
    assert model.tasks() == Counter(["a", "late"]), "nothing of the other answer began"
    assert len(record.of(PlanChanged)) == 2


async def test_failed_planning_stops_early_tasks(workspace: Path) -> None:
    model = WritingModel([plan(llm("a"), llm("late", "nobody"))], wait_for=("a",), slow=("a",))
    result, record = await run(workspace, model)
    assert (result.status, [(one.id, one.status) for one in result.tasks]) == ("failed", [("a", "cancelled")])
    assert len(model.said()) == 3
    assert places(record, PlanMade) == []


async def test_a_direct_answer_stops_early_tasks(workspace: Path) -> None:
    refused = plan(llm("a"), llm("late", "nobody"))
    model = WritingModel([refused, json.dumps({"answer": "Yes."})], wait_for=("a",), slow=("a",))
    result, _ = await run(workspace, model, direct_answers="always")
    assert (result.status, result.answer, result.tasks) == ("done", "Yes.", ())
    assert [task.get_name() for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []


async def test_a_limit_that_is_reached_early_stops_the_run(workspace: Path) -> None:
    model = WritingModel([plan(llm("a"), llm("late", "a"))], wait_for=("a",), halts=True)
    result, _ = await run(workspace, model)
    assert (result.status, result.error) == ("stopped", "enough is spent; raise it")
    assert {one.id: one.status for one in result.tasks} == {"a": "cancelled", "late": "pending"}


async def test_the_text_of_the_only_task_is_streamed_once_it_is_the_answer(workspace: Path) -> None:
    for rows, shown in (((llm("a"),), "a:done"), ((llm("a"), llm("late")), "answer:done")):
        model = WritingModel([plan(*rows, synthesis=None)], cut='"synthesis"', planned=asyncio.Event())
        pieces: list[str] = []

        def note(event: Event, model: WritingModel = model, pieces: list[str] = pieces) -> None:
            if isinstance(event, PlanMade) and model.planned is not None:
                model.planned.set()
            if isinstance(event, TextStreamed):
                pieces.append(event.text)

        def open_model(_: str, model: WritingModel = model) -> WritingModel:
            return model

        async with Goalwright(workspace, Settings(model="writing"), open_model=open_model) as goalwright:
            await goalwright.run(Goal(GOAL, stream=True), record=note)
        assert "".join(pieces) == shown


async def test_a_question_instead_of_a_plan_starts_nothing(workspace: Path) -> None:
    model = WritingModel([json.dumps({"clarification": "Which?", "tasks": []}), plan(llm("a"), llm("late", "a"))])
    result, record = await run(workspace, model)
    assert result.status == "waiting"
    assert record.of(TaskStarted) == []
    assert len([one for one in record.events if isinstance(one, CallFinished)]) == 1


class _Tool:
    name, description = "x_do", ""
    parameters: Mapping[str, Any] = MappingProxyType({})

    def __init__(self, effects: Effects | None) -> None:
        if effects is not None:
            self.effects = lambda _: effects


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (llm("a"), True),
        (llm("a", needs_approval="Sure?"), False),
        (llm("a", for_each=["x"], instruction="<<item>>"), True),
        (llm("a", for_each=["x"], instruction="<<item>>", needs_approval=True), False),
        ({"id": "a", "action_type": "goal", "instruction": "<<item>>", "for_each": ["x"]}, False),
        ({"id": "a", "action_type": "tool", "name": "reads"}, True),
        ({"id": "a", "action_type": "tool", "name": "writes"}, False),
        ({"id": "a", "action_type": "tool", "name": "untold"}, False),
        ({"id": "a", "action_type": "tool", "name": "unknown"}, False),
    ],
)
def test_only_harmless_tasks_start_early(row: dict[str, Any], expected: bool) -> None:
    from goalwright_executor.approvals.policy import ApprovalPolicy

    tools: dict[str, Any] = {"reads": _Tool(READ_ONLY), "writes": _Tool(Effects("workspace")), "untold": _Tool(None)}
    assert may_begin(Task.from_dict(row), tools, ApprovalPolicy()) is expected
    if row["action_type"] == "tool":
        assert not may_begin(Task.from_dict(row), tools, ApprovalPolicy("all"))
