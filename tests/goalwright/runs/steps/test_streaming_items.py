"""Tasks with a list start while the plan is being written: their items are kept with it, or dropped, and never lost."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from goalwright.interfaces.cli.view.live.run_state import RunState
from goalwright.interfaces.mcp.goal_runs import TaskProgress
from goalwright.telemetry.spans import run_spans
from goalwright.traces.timeline import timeline
from goalwright_planner.events import PlanChanged, PlanMade, TaskFinished, TaskStarted, Warned
from goalwright_planner.plan.task import Task
from tests.fakes import Recorder
from tests.goalwright.recorded import rows
from tests.goalwright.runs.steps.test_streaming import (
    WritingModel,
    counted,
    interrupted,
    llm,
    places,
    plan,
    resume,
    run,
)

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_executor.history.result import Result
    from goalwright_planner.events import Event

FRUIT = ["apple", "pear", "plum"]


def each(name: str, over: Any, *before: str, **more: Any) -> dict[str, Any]:
    return llm(name, *before, **{"instruction": "Peel <<item>>", "for_each": over, **more})


EACH = each("each", FRUIT, width=2)
AGAIN = each("again", "<<each.output>>", "each")
ITEMS = [f"each[{number}]" for number in (1, 2, 3)]


def ends(result: Result) -> dict[str, tuple[str, int]]:
    return {task.id: (task.status, task.attempts) for task in result.tasks}


async def test_items_start_and_end_while_the_plan_is_being_written(workspace: Path) -> None:
    model = WritingModel([plan(EACH, AGAIN, llm("late", "again"))], wait_for=("again[3]",))
    result, record = await run(workspace, model)
    assert (result.status, result.usage.calls) == ("done", 1 + 3 + 3 + 1 + 1)
    again = [f"again[{number}]" for number in (1, 2, 3)]
    assert ends(result) == dict.fromkeys(["each", "again", "late", *ITEMS, *again], ("done", 1))
    order = places(record, PlanMade, TaskStarted, TaskFinished)
    assert order.index("TaskFinished each") < order.index("TaskStarted again[1]") < order.index("PlanMade")
    causes = [(one.cause, one.of, [task.id for task in one.added]) for one in record.of(PlanChanged)]
    assert causes == [
        ("stream", None, ["each"]), ("stream", None, ["again"]), ("for_each", "each", ITEMS),
        ("for_each", "again", again), ("stream", None, ["late"]),
    ]  # fmt: skip
    assert result.plan is not None
    assert (result.plan.grown, [part.id for part in result.plan.parts_of("each")]) == (6, ITEMS)
    assert counted(workspace) == (9, 9)

    state, progress = RunState(), TaskProgress()
    for event in record.events:
        state.note(event)
        progress.note(event)
    assert list(state.rows) == ["each", *ITEMS, "again", *again, "late"]
    assert (state.items_of("each"), progress.done, progress.total) == ("3/3", 9, 9)
    shown = timeline(rows(workspace))
    assert [name for name in shown.spans if not name.startswith("(")] == list(state.rows)
    sent = {one["name"]: one for one in run_spans(rows(workspace))}
    assert sent["invoke_agent each[1]"]["parentSpanId"] == sent["invoke_agent each"]["spanId"]


async def test_running_items_continue_after_the_plan_is_accepted(workspace: Path) -> None:
    wrong, right = plan(EACH, llm("late", "nobody")), plan(EACH, llm("late", "each"))
    model = WritingModel([wrong, right], wait_for=("each[2]",))
    result, _ = await run(workspace, model)
    assert (result.status, model.tasks()) == ("done", Counter([*ITEMS, "late"]))
    assert "they have begun: each\n" in model.said()[1]
    assert counted(workspace) == (5, 5)


async def test_items_of_a_dropped_task_are_dropped(workspace: Path) -> None:
    wrong = plan(EACH, llm("late", "nobody"))
    right = plan(each("each", FRUIT[:2], title="Other"), llm("late", "each"))
    model = WritingModel([wrong, right], wait_for=("each[1]", "each[2]"), slow=("each[2]",), slow_once=True)
    result, record = await run(workspace, model)
    assert (result.status, list(ends(result))) == ("done", ["each", "late", "each[1]", "each[2]"])
    assert ends(result)["each[2]"] == ("done", 1)
    (dropped,) = [one for one in record.of(PlanChanged) if one.dropped]
    assert (dropped.cause, dropped.dropped) == ("stream", ("each", *ITEMS))
    cancelled = {one.task for one in record.of(TaskFinished) if one.status == "cancelled"}
    assert cancelled >= {"each", "each[2]"}
    (said,) = [one.message for one in record.of(Warned) if "not in the accepted plan" in one.message]
    assert said.startswith("1 task that began early is not in the accepted plan (each);")
    assert (result.plan is not None and result.plan.grown, counted(workspace)) == (2, (4, 4))


async def test_equal_items_of_another_list_are_reused(workspace: Path) -> None:
    wrong, right = plan(EACH, llm("late", "nobody")), plan(each("each", FRUIT[:2]), llm("late", "each"))
    model = WritingModel([wrong, right], wait_for=tuple(ITEMS))
    result, record = await run(workspace, model)
    assert (result.status, result.usage.calls) == ("done", 2 + 3 + 1 + 1)
    assert ends(result) == dict.fromkeys(["each", "late", "each[1]", "each[2]"], ("done", 1))
    assert model.tasks() == Counter([*ITEMS, "late"])
    assert [one.task for one in record.of(TaskFinished)].count("each[1]") == 2


class TestAResumedRun:
    async def stopped(self, workspace: Path, rows: str) -> Result:
        """A run that is stopped before its plan is whole, with the first of three items done."""
        model = WritingModel([rows], wait_for=("each[1]", "each[2]"), hangs=True, slow=("each[2]", "each[3]"))

        def enough(event: Event) -> bool:
            return isinstance(event, TaskFinished) and event.task == "each[1]"

        result = await interrupted(workspace, model, enough)
        assert ends(result)["each[1]"] == ("done", 1)
        return result

    async def test_goes_on_with_the_items_that_are_left(self, workspace: Path) -> None:
        text = plan(EACH, llm("late", "each"))
        stopped = await self.stopped(workspace, text)
        again = WritingModel([text], wait_for=("each[3]",))
        result = await resume(workspace, stopped.run_id, again)
        assert (result.status, again.tasks()) == ("done", Counter(["each[2]", "each[3]", "late"]))
        assert json.dumps(Task.from_dict(EACH).to_dict()) in again.said()[0]
        assert "each[1]" not in again.said()[0], "the planner is told of the task, not of its items"
        grown = [row.body for row in rows(workspace) if row.type == "plan_changed" and row.body["cause"] == "for_each"]
        assert len(grown) == 1, "they were on record"
        assert counted(workspace) == (5, 5)

    async def test_drops_them_where_the_planner_changes_their_task(self, workspace: Path) -> None:
        stopped = await self.stopped(workspace, plan(EACH, llm("late", "each")))
        again = WritingModel([plan(each("each", FRUIT, instruction="Core <<item>>"), llm("late", "each"))])
        result = await resume(workspace, stopped.run_id, again)
        assert (result.status, again.tasks()) == ("done", Counter([*ITEMS, "late"]))
        assert counted(workspace) == (5, 5)

    async def test_tells_of_an_item_again_that_is_the_same_in_another_list(self, workspace: Path) -> None:
        stopped = await self.stopped(workspace, plan(EACH, llm("late", "each")))
        wrong, right = plan(EACH, llm("late", "nobody")), plan(each("each", FRUIT[:2]), llm("late", "each"))
        again = WritingModel([wrong, right], wait_for=("each[2]",))
        result = await resume(workspace, stopped.run_id, again)
        assert (result.status, again.tasks()["each[1]"]) == ("done", 0)
        assert {name: status for name, (status, _) in ends(result).items()} == dict.fromkeys(
            ["each", "late", "each[1]", "each[2]"], "done"
        )
        assert counted(workspace) == (4, 4)

    async def test_drops_them_where_the_planner_leaves_their_task_out(self, workspace: Path) -> None:
        stopped = await self.stopped(workspace, plan(EACH, llm("late", "each")))
        again = WritingModel([plan(llm("other"), llm("late", "other"))])
        result = await resume(workspace, stopped.run_id, again)
        assert (result.status, list(ends(result)), counted(workspace)) == ("done", ["other", "late"], (2, 2))

    async def test_has_them_in_its_plan_once_that_is_made(self, workspace: Path) -> None:
        text = plan(EACH, llm("late", "each"))
        model = WritingModel([text], wait_for=("each[2]",), slow=("each[2]", "each[3]"))
        stopped = await interrupted(workspace, model, lambda event: isinstance(event, PlanMade))
        assert (stopped.plan is not None and stopped.plan.grown, len(stopped.tasks)) == (3, 5)
        again, record = WritingModel([text]), Recorder()
        result = await resume(workspace, stopped.run_id, again, record)
        assert (result.status, again.said()) == ("done", [])
        assert again.tasks() == Counter(["each[2]", "each[3]", "late"])
        assert (record.of(PlanChanged), len(record.of(TaskStarted)) > 0) == ([], True)
