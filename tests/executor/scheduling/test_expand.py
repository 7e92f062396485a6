"""A task for each item of a list: order, width, limits, failures, nested lists and reuse."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from goalwright_executor.history.replay import RecordedLimits
from goalwright_executor.history.run_history import RunHistory
from goalwright_executor.results.finished_work import FinishedPart, FinishedWork
from goalwright_executor.results.memo import Memo
from goalwright_executor.results.outcome import Done, Failed, Grown, Outcome
from goalwright_executor.scheduling.attempt import ScheduleLimits
from goalwright_executor.scheduling.expand import CurrentPlan, FanOut, SetLimits
from goalwright_planner.events import PlanChanged, PlanMade, TaskFinished, TaskReused, TaskStarted, Warned
from goalwright_planner.plan.known import Known
from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.task import Item, Task
from goalwright_planner.plan.task_id import parent_of
from goalwright_skills.errors import GoalwrightError
from tests.executor.scheduling.run_plan import run_plan
from tests.fakes import Recorder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

LIST = Task("list", "llm")
EACH = Task("each", "llm", instruction="Do <<item>>", for_each="<<list.output>>", depends_on=("list",))


class Runs:
    """Runs plans whose first task gives a list; every other task answers with its item, or as told."""

    def __init__(self, listed: str, run: Callable[[Task], Any] | None = None, **limits: Any) -> None:
        self.listed, self.record, self._run = listed, Recorder(), run
        self.max_items = limits.pop("max_items", 200)
        self.known = Known(**limits)
        self.memo = Memo(self.record)
        self.concurrency = 16
        self.plan = Plan(())

    async def __call__(self, *tasks: Task) -> dict[str, Outcome]:
        current = CurrentPlan(Plan(tasks), self.record)
        fan_out = FanOut(current, self.memo, SetLimits(self.known, self.max_items))

        async def run_task(task: Task, results: Mapping[str, str]) -> str | Grown:
            if task.for_each is not None:
                return fan_out.grow(task, results)
            if task.id == "list":
                return self.listed
            answer = self._run(task) if self._run else None
            if answer is not None:
                answer = await answer
            return answer or f"did {task.item.value if task.item else task.id}"

        limits = ScheduleLimits(self.concurrency)
        outcomes = await run_plan(current.plan.without_grown(), run_task, self.record, limits, self.memo)
        self.plan = current.plan
        return outcomes

    def changes(self) -> list[PlanChanged]:
        return [event for event in self.record.events if isinstance(event, PlanChanged)]


async def failing(numbers: Sequence[int], task: Task) -> str | None:
    if task.id in [f"each[{number}]" for number in numbers]:
        raise GoalwrightError(f"no {task.id}")
    return None


async def test_items_become_tasks_and_outputs_keep_list_order() -> None:
    draw = random.Random(7)

    async def later(task: Task) -> None:
        await asyncio.sleep(draw.uniform(0, 0.02))

    runs = Runs("\n".join(f"item {number}" for number in range(40)), later)
    outcomes = await runs(LIST, EACH, Task("after", "llm", depends_on=("each",)))
    wanted = "\n\n".join(f"### item {number}\n\ndid item {number}" for number in range(40))
    assert outcomes["each"] == Done(wanted)
    ends = [event.task for event in runs.record.events if isinstance(event, TaskFinished)]
    items = [name for name in ends if parent_of(name) == "each"]
    assert len(items) == 40
    assert items != sorted(items, key=lambda name: int(name[5:-1])), "they ended in another order"
    assert ends[-2:] == ["each", "after"]
    (change,) = runs.changes()
    assert (change.cause, change.of, len(change.added), change.dropped) == ("for_each", "each", 40, ())
    assert change.added[0] == Task("each[1]", "llm", instruction="Do <<item>>", item=Item("item 0"))


async def test_failed_items_do_not_affect_others() -> None:
    runs = Runs(str(list(range(10))), lambda task: failing([2, 5, 9], task))
    outcomes = await runs(LIST, EACH)
    assert [name for name, one in outcomes.items() if isinstance(one, Failed)] == ["each[2]", "each[5]", "each[9]"]
    each = outcomes["each"]
    assert isinstance(each, Done)
    assert each.output.split("### ")[1:] == [f"{n}\n\ndid {n}\n\n" for n in (0, 2, 3, 5, 6, 7)] + ["9\n\ndid 9"]


async def test_task_fails_if_all_items_failed() -> None:
    outcomes = await Runs("a\nb", lambda task: failing([1, 2], task))(LIST, EACH)
    assert outcomes["each"] == Failed("none of its 2 items has a result; each[1]: no each[1]")


async def test_empty_list_is_done() -> None:
    runs = Runs("[]")
    assert (await runs(LIST, EACH))["each"] == Done("")
    assert runs.changes() == []


async def test_width_limits_concurrent_items() -> None:
    under_way = peak = 0

    async def counting(task: Task) -> None:
        nonlocal under_way, peak
        under_way += 1
        peak = max(peak, under_way)
        for _ in range(random.randrange(4)):
            await asyncio.sleep(0)
        under_way -= 1

    runs = Runs(str(list(range(1000))), counting, max_items=1000)
    runs.concurrency = 64
    outcomes = await asyncio.wait_for(runs(LIST, msgspec.structs.replace(EACH, width=4)), 60)
    assert len(outcomes) == 1002
    assert all(isinstance(one, Done) for one in outcomes.values())
    assert peak == 4


async def test_equal_items_are_separate_tasks() -> None:
    outcomes = await Runs('["a", "a"]')(LIST, EACH)
    assert outcomes["each"] == Done("### a\n\ndid a\n\n### a\n\ndid a")
    assert set(outcomes) == {"list", "each", "each[1]", "each[2]"}


async def test_literal_list_needs_no_dependency() -> None:
    outcomes = await Runs("")(msgspec.structs.replace(EACH, for_each=("<<list.output>>", 7), depends_on=()))
    assert outcomes["each"] == Done("### <<list.output>>\n\ndid <<list.output>>\n\n### 7\n\ndid 7")


async def test_nested_fan_out_passes_outputs_unparsed() -> None:
    async def listing(task: Task) -> str:
        if task.id == "each[2]":
            raise GoalwrightError("no")
        return (
            '["looks", "like", "a list"]' if task.id == "each[1]" else f"of {task.id}: {task.item and task.item.value}"
        )

    runs = Runs("a\nb\nc", listing)
    then = Task("then", "llm", instruction="<<item>>", for_each="<<each.output>>", depends_on=("each",))
    outcomes = await runs(
        LIST, EACH, then, msgspec.structs.replace(then, id="third", for_each="<<then.output>>", depends_on=("then",))
    )
    assert [name for name in outcomes if parent_of(name) == "then"] == ["then[1]", "then[3]"]
    assert outcomes["then[1]"] == Done('of then[1]: ["looks", "like", "a list"]')
    assert outcomes["third[3]"] == Done("of third[3]: of then[3]: of each[3]: c")


@pytest.mark.parametrize(
    ("listed", "for_each", "error"),
    [
        (
            "I looked, but there is nothing to review here.",
            "<<list.output>>",
            "'for_each' finds no list: it is prose, not a list: 'I looked, but there is nothing to review here.'",
        ),
        (
            '{"a": {"b": 7}}',
            "<<list.output.a.b>>",
            "'for_each' finds no list: 'a.b' in the output of 'list' is not a list",
        ),
        ('{"a": 1}', "<<list.output.b>>", "'for_each' finds no list: the output of 'list' has no 'b'"),
    ],
)
async def test_missing_list_fails_the_task_with_quote(listed: str, for_each: str, error: str) -> None:
    runs = Runs(listed)
    outcomes = await runs(
        LIST, msgspec.structs.replace(EACH, for_each=for_each), Task("after", "llm", depends_on=("each",))
    )
    assert outcomes["each"] == Failed(error)
    assert runs.changes() == []


@pytest.mark.parametrize("for_each", ["<<list.output.files>>", "<<list.output.deeper[1].text>>"])
async def test_field_may_be_the_list(for_each: str) -> None:
    listed = '{"files": ["a", "b"], "more": [], "deeper": [0, {"text": "- a\\n- b"}]}'
    outcomes = await Runs(listed)(LIST, msgspec.structs.replace(EACH, for_each=for_each))
    assert outcomes["each"] == Done("### a\n\ndid a\n\n### b\n\ndid b")


async def test_first_limits_items_and_warns() -> None:
    runs = Runs(str(list(range(300))))
    outcomes = await runs(LIST, msgspec.structs.replace(EACH, first=2))
    assert outcomes["each"] == Done("### 0\n\ndid 0\n\n### 1\n\ndid 1")
    warned = [event.message for event in runs.record.events if isinstance(event, Warned)]
    assert warned == ["task 'each' takes the first 2 of 300 items; 298 are left out"]
    enough = Runs("a\nb")
    await enough(LIST, msgspec.structs.replace(EACH, first=2))
    assert not any(isinstance(event, Warned) for event in enough.record.events)


async def test_exceeding_max_items_fails_before_spending() -> None:
    runs = Runs(str(list(range(201))))
    outcomes = await runs(LIST, EACH)
    error = "its list has 201 items, more than the 200 allowed; raise max_items, or take some of them with 'first'"
    assert outcomes["each"] == Failed(error)
    assert [event.task for event in runs.record.events if isinstance(event, TaskStarted)] == ["list", "each"]


async def test_plan_growth_is_limited_by_max_grown() -> None:
    runs = Runs("a\nb\nc", max_grown=5)
    outcomes = await runs(LIST, EACH, msgspec.structs.replace(EACH, id="more", depends_on=("each", "list")))
    assert isinstance(outcomes["each"], Done)
    assert outcomes["more"] == Failed(
        "the plan may grow by 5 tasks in all; it has grown by 3 already, and this would add 3: "
        "raise max_grown, or add fewer"
    )


def test_replay_grows_tasks_as_recorded() -> None:
    part, history = Task("each[1]", "llm", item=Item(1)), RunHistory()
    history.note(PlanMade(Plan((LIST, EACH, msgspec.structs.replace(EACH, id="more"))), 1))
    history.note(PlanChanged("for_each", "each", (part,)))
    history.note(TaskFinished("more", "failed", 0.0, None, "the plan may grow by 1 tasks in all; …"))
    plan, limits = Plan((LIST, EACH)), RecordedLimits(history, SetLimits(Known(max_grown=0), 1))
    assert limits.fault(EACH, [part], plan) is None
    assert (
        limits.fault(msgspec.structs.replace(EACH, id="more"), [part], plan) == "the plan may grow by 1 tasks in all; …"
    )
    assert limits.fault(msgspec.structs.replace(EACH, id="new"), [part], plan) is None, (
        "it had not grown when the record ended"
    )
    assert "max_items" in str(limits.fault(msgspec.structs.replace(EACH, id="new"), [part, part], plan))


async def test_item_depends_on_results_except_the_list() -> None:
    runs = Runs("a", lambda task: failing([], task))
    style = Task("style", "llm")
    both = msgspec.structs.replace(EACH, depends_on=("list", "style"))
    mentioned = msgspec.structs.replace(both, id="mentioned", instruction="<<item>> of <<list.output>>")
    await runs(LIST, style, both, mentioned)
    depends = {task.id: task.depends_on for task in runs.plan.tasks if task.item}
    assert depends == {"each[1]": ("style",), "mentioned[1]": ("list", "style")}


async def test_finished_task_with_items_grows_again_unrecorded() -> None:
    first = Runs("a\nb")
    await first(LIST, EACH)
    again = Runs("a\nb")
    inputs = {event.task: event.inputs for event in first.record.events if isinstance(event, TaskStarted)}
    for event in first.record.events:
        if isinstance(event, TaskFinished) and event.output is not None:
            again.memo.finished.outputs[event.task, inputs[event.task]] = event.output
    outcomes = await again(*first.plan.tasks)
    assert again.record.events == []
    assert outcomes["each[2]"] == Done("did b")
    assert outcomes["each"] == Done("### a\n\ndid a\n\n### b\n\ndid b")


async def test_changed_list_changes_the_plan() -> None:
    first = Runs("a\nb\nc")
    await first(LIST, EACH)
    again = Runs("a\nB")
    await again(*first.plan.tasks)
    (change,) = again.changes()
    assert [task.id for task in change.added] == ["each[2]"]
    assert change.dropped == ("each[2]", "each[3]")
    assert [task.item.value for task in again.plan.parts_of("each") if task.item] == ["a", "B"]


def finished(*tasks: tuple[str, Any, str]) -> FinishedWork:
    parts = [
        FinishedPart(msgspec.structs.replace(_item(name), item=Item(value)), TaskReused(name, output, "run 1"))
        for name, value, output in tasks
    ]
    return FinishedWork(parts=parts)


def _item(name: str) -> Task:
    return Task(name, "llm", instruction="Do <<item>>")


async def test_equal_items_are_reused_at_any_position() -> None:
    runs = Runs("new\nb\na\na")
    runs.memo.finished = finished(
        ("each[1]", "a", "A1"),
        ("each[2]", "b", "B"),
        ("each[3]", "c", "C"),
        ("each[4]", "a", "A2"),
        ("x[1]", "new", "X"),
    )
    outcomes = await runs(LIST, EACH)
    assert outcomes["each"] == Done("### new\n\ndid new\n\n### b\n\nB\n\n### a\n\nA1\n\n### a\n\nA2")
    reused = [(event.task, event.output) for event in runs.record.events if isinstance(event, TaskReused)]
    assert sorted(reused) == [("each[2]", "B"), ("each[3]", "A1"), ("each[4]", "A2")]
    assert [event.task for event in runs.record.events if isinstance(event, TaskStarted)] == ["list", "each", "each[1]"]


async def test_item_with_number_is_reused_only_at_its_position() -> None:
    runs = Runs("a\nb")
    numbered = msgspec.structs.replace(EACH, instruction="<<item.number>>: <<item>>")
    work = finished(("each[1]", "a", "A"), ("each[3]", "b", "B"))
    work.parts[:] = [
        replace(one, task=msgspec.structs.replace(one.task, instruction=numbered.instruction)) for one in work.parts
    ]
    runs.memo.finished = work
    outcomes = await runs(LIST, numbered)
    assert outcomes["each"] == Done("### a\n\nA\n\n### b\n\ndid b")
