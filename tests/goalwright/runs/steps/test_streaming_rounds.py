"""Tasks in rounds start while the plan is being written: their rounds are kept with it, or dropped, and never lost."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from goalwright.interfaces.cli.view.live.run_state import RunState
from goalwright.interfaces.mcp.goal_runs import TaskProgress
from goalwright.telemetry.spans import run_spans
from goalwright.traces.timeline import timeline
from goalwright_planner.events import PlanChanged, PlanMade, TaskFinished
from tests.fakes import Recorder
from tests.goalwright.recorded import rows
from tests.goalwright.runs.steps.test_streaming import (
    WritingModel,
    counted,
    interrupted,
    llm,
    plan,
    resume,
    run,
)

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_executor.history.result import Result
    from goalwright_planner.events import Event


def rounds(task: str, last: int = 3, **more: Any) -> dict[str, Any]:
    """A task that ends with that round: the model says which task it is."""
    return llm(task, **{"repeat": {"until": f'<<{task}.output>> contains "#{last}"', "most": 5}, **more})


LOOP = rounds("loop")
ALL = ["loop", "loop#2", "loop#3"]


def ends(result: Result) -> dict[str, tuple[str, int]]:
    return {task.id: (task.status, task.attempts) for task in result.tasks}


async def test_rounds_start_and_end_while_the_plan_is_being_written(workspace: Path) -> None:
    model = WritingModel([plan(LOOP, llm("late", "loop"))], wait_for=("loop#3",))
    result, record = await run(workspace, model)
    assert (result.status, model.tasks()) == ("done", Counter([*ALL, "late"]))
    assert ends(result) == {"loop": ("done", 3), "late": ("done", 1)}
    causes = [(one.cause, [task.id for task in one.added]) for one in record.of(PlanChanged)]
    assert causes == [("stream", ["loop"]), ("repeat", ["loop#2"]), ("repeat", ["loop#3"]), ("stream", ["late"])]
    assert result.plan is not None
    assert (result.plan.grown, counted(workspace)) == (2, (2, 2))

    state, progress = RunState(), TaskProgress()
    for event in record.events:
        state.note(event)
        progress.note(event)
    assert list(state.rows) == [*ALL, "late"]
    assert (state.items_of("loop"), progress.done, progress.total) == ("round 3/5", 2, 2)
    assert [name for name in timeline(rows(workspace)).spans if not name.startswith("(")] == list(state.rows)
    sent = {one["name"]: one for one in run_spans(rows(workspace))}
    assert sent["invoke_agent loop#3"]["parentSpanId"] == sent["invoke_agent loop"]["spanId"]


async def test_rounds_of_items_are_kept_with_the_plan(workspace: Path) -> None:
    each = rounds("each", 2, instruction="Peel <<item>>", for_each=["apple", "pear"])
    model = WritingModel([plan(each, llm("late", "each"))], wait_for=("each[1]#2", "each[2]#2"))
    result, _ = await run(workspace, model)
    assert (result.status, counted(workspace)) == ("done", (4, 4))
    assert ends(result) == {
        "each": ("done", 1), "late": ("done", 1), "each[1]": ("done", 2), "each[2]": ("done", 2)
    }  # fmt: skip
    assert result.plan is not None
    assert result.plan.grown == 4


async def test_rounds_of_a_dropped_task_are_dropped(workspace: Path) -> None:
    wrong, right = plan(LOOP, llm("late", "nobody")), plan(rounds("loop", 2, title="Other"), llm("late", "loop"))
    model = WritingModel([wrong, right], wait_for=("loop#3",), slow=("loop#3",), slow_once=True)
    result, record = await run(workspace, model)
    assert (result.status, ends(result)) == ("done", {"loop": ("done", 2), "late": ("done", 1)})
    (dropped,) = [one for one in record.of(PlanChanged) if one.dropped]
    assert (dropped.cause, dropped.dropped) == ("stream", tuple(ALL))
    cancelled = {one.task for one in record.of(TaskFinished) if one.status == "cancelled"}
    assert cancelled >= {"loop", "loop#3"}
    assert counted(workspace) == (2, 2)


class TestAResumedRun:
    async def stopped(self, workspace: Path, text: str) -> Result:
        """A run that is stopped before its plan is whole, in the third round of a task."""
        model = WritingModel([text], wait_for=("loop#2",), hangs=True, slow=("loop#3",))

        def enough(event: Event) -> bool:
            return isinstance(event, TaskFinished) and event.task == "loop#2"

        return await interrupted(workspace, model, enough)

    async def test_goes_on_with_the_round_that_it_was_in(self, workspace: Path) -> None:
        text = plan(LOOP, llm("late", "loop"))
        stopped = await self.stopped(workspace, text)
        again = WritingModel([text], wait_for=("loop#3",))
        result = await resume(workspace, stopped.run_id, again)
        assert (result.status, again.tasks()) == ("done", Counter(["loop#3", "late"]))
        assert "loop#2" not in again.said()[0], "the planner is told of the task, not of its rounds"
        assert (list(ends(result)), counted(workspace)) == (["loop", "late"], (2, 2))

    async def test_drops_them_where_the_planner_changes_their_task(self, workspace: Path) -> None:
        stopped = await self.stopped(workspace, plan(LOOP, llm("late", "loop")))
        again = WritingModel([plan(rounds("loop", 2, instruction="Otherwise"), llm("late", "loop"))])
        result = await resume(workspace, stopped.run_id, again)
        assert (result.status, again.tasks()) == ("done", Counter(["loop", "loop#2", "late"]))
        assert counted(workspace) == (2, 2)

    async def test_has_them_in_its_plan_once_that_is_made(self, workspace: Path) -> None:
        text = plan(LOOP, llm("late", "loop"))
        model = WritingModel([text], wait_for=("loop#2",), slow=("loop#2", "loop#3"))
        stopped = await interrupted(workspace, model, lambda event: isinstance(event, PlanMade))
        assert (stopped.plan is not None and stopped.plan.grown, len(stopped.tasks)) == (1, 2)
        again, record = WritingModel([text]), Recorder()
        result = await resume(workspace, stopped.run_id, again, record)
        assert (result.status, again.said()) == ("done", [])
        assert again.tasks() == Counter(["loop#2", "loop#3", "late"])
