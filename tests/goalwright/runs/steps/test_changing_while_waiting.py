"""The plan of a run that waits for a person: what a refused change leaves, and what may be changed while it waits."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from goalwright.interfaces.cli.view.event_text import describe
from goalwright.runs.plans.plan_file import PlanFile
from goalwright.runs.stop import Stop
from goalwright.runs.stored.requests import open_requests
from goalwright.settings.paths import Paths
from goalwright.traces.timeline import timeline
from goalwright_planner.approvals import Answer
from goalwright_planner.errors import RequestRefused
from goalwright_planner.events import ApprovalGiven
from goalwright_planner.plan.task import Task
from goalwright_skills.errors import InputError
from tests.fakes import Recorder
from tests.goalwright.recorded import UNSURE_GOAL, goalwright, replayed, rows, store
from tests.goalwright.runs.steps.replanned import Planner, change, llm, plan, run, statuses

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_executor.history.result import Result

# `send` waits for approval, `fetch` has failed, and `end` waits for `send`.
WAITS = plan(llm("one"), llm("fetch"), llm("send", "one", needs_approval=True), llm("end", "send"), synthesis="short")
GIVEN_UP: list[str | Exception] = [change(give_up="no")]


async def replanned(workspace: Path, planner: Planner, **given: Any) -> Result:
    async with goalwright(workspace, planner.model) as runtime:
        return await runtime.replan("last", "do it otherwise", **given)


async def answered(workspace: Path, planner: Planner, waiting: Result, answer: Answer | None = None) -> Result:
    async with goalwright(workspace, planner.model) as runtime:
        return await runtime.resume("last", answers={one.id: answer or Answer() for one in waiting.waiting})


class TestARefusedChange:
    @pytest.mark.parametrize(
        ("changes", "why"),
        [
            (GIVEN_UP, "given up: no"),
            ([change(drop=("one",))], "no valid change in 3 answers"),
            ([RequestRefused("no such model")], "the model gave no answer"),
        ],
    )
    async def test_leaves_a_waiting_run_as_it_was(
        self, workspace: Path, changes: list[str | Exception], why: str
    ) -> None:
        before = await run(workspace, Planner(WAITS))
        assert (before.status, len(before.waiting)) == ("waiting", 1)
        for _ in range(2):
            planner = Planner(WAITS, list(changes))
            refused = await replanned(workspace, planner)
            assert (refused.status, refused.waiting, refused.tasks) == ("waiting", before.waiting, before.tasks)
            assert refused.error is not None
            assert refused.error.startswith(f"the plan was not changed: {why}")
            assert planner.worked == []
        assert timeline(rows(workspace)).spans["send"].status == "waiting"
        planner = Planner(WAITS, GIVEN_UP, fails={})
        result = await answered(workspace, planner, before)
        assert (result.status, result.error, sorted(planner.worked)) == ("done", None, ["end", "fetch", "send"])
        assert {task.id: task.attempts for task in result.tasks} == {"one": 1, "fetch": 2, "send": 1, "end": 1}
        assert timeline(rows(workspace)).spans["send"].attempts == 1

    async def test_does_not_hold_up_an_answer_that_came_after_the_change_was_cut_off(self, workspace: Path) -> None:
        before, stop = await run(workspace, Planner(WAITS, fails={})), Stop()
        stop.set()
        assert (await replanned(workspace, Planner(WAITS, GIVEN_UP), stop=stop)).status == "interrupted"
        planner = Planner(WAITS, GIVEN_UP, fails={})
        result = await answered(workspace, planner, before)
        assert (result.status, result.error, planner.worked) == ("done", None, ["send", "end"])

    async def test_is_refused_in_a_replay_too(self, workspace: Path) -> None:
        await run(workspace, Planner(WAITS))
        await replanned(workspace, Planner(WAITS, GIVEN_UP))
        replay = await replayed(workspace, rows(workspace))
        assert (statuses(replay.result)["send"], replay.drift) == ("pending", ())


async def edited(workspace: Path, planner: Planner, *tasks: Task, drop: tuple[str, ...] = (), **given: Any) -> Result:
    """Continue the last run by its own plan with some tasks changed or dropped."""
    async with goalwright(workspace, planner.model) as runtime:
        own, other = runtime.plan_of("last").plan, {task.id: task for task in tasks}
        new = replace(own, tasks=tuple(other.get(task.id, task) for task in own.tasks if task.id not in drop))
        return await runtime.resume("last", plan=PlanFile(new, UNSURE_GOAL), **given)


def withdrawn(workspace: Path) -> list[str]:
    return [row.body["task"] for row in rows(workspace) if row.type == "approval_given" and row.body["by"] == "plan"]


class TestWhatOnlyWaits:
    async def test_may_be_dropped_by_a_model_and_is_no_longer_asked(self, workspace: Path) -> None:
        before, events = await run(workspace, Planner(WAITS, fails={})), Recorder()
        planner = Planner(WAITS, [change(drop=("send", "end"))])
        result = await replanned(workspace, planner, record=events)
        assert (result.status, result.waiting, set(statuses(result))) == ("done", (), {"one", "fetch"})
        text = planner.asked[0].messages[1].content
        assert '<task id="send" status="pending">' in text
        assert "may be dropped: send, end." in text
        assert withdrawn(workspace) == ["send"]
        (given,) = events.of(ApprovalGiven)
        assert describe(given) == "send: no longer waits for an answer: the plan was changed"
        assert open_requests(store(workspace), Paths.of(workspace, os.environ)) == []
        with pytest.raises(InputError, match="is no longer asked: the plan was changed"):
            await answered(workspace, planner, before)

    async def test_is_asked_again_as_a_person_edited_it(self, workspace: Path) -> None:
        before, planner = await run(workspace, Planner(WAITS, fails={})), Planner(WAITS, fails={})
        send = Task("send", "llm", instruction="Send it politely", depends_on=("one",), needs_approval=True)
        waiting = await edited(workspace, planner, send)
        assert (waiting.status, waiting.waiting[0].preview, len(waiting.waiting)) == ("waiting", "Send it politely", 1)
        assert (waiting.waiting[0].id == before.waiting[0].id, planner.worked) == (False, [])
        assert [one.status for one in timeline(rows(workspace)).spans.values()].count("waiting") == 1
        result = await answered(workspace, planner, waiting)
        assert (result.status, planner.worked) == ("done", ["send", "end"])
        assert {task.id: task.attempts for task in result.tasks}["send"] == 1

    async def test_is_asked_again_where_it_is_edited_back(self, workspace: Path) -> None:
        before = await run(workspace, Planner(WAITS, fails={}))
        own = Task("send", "llm", instruction="Do send", depends_on=("one",), needs_approval=True)
        other = replace(own, instruction="Send it politely")
        assert (await edited(workspace, Planner(WAITS, fails={}), other)).status == "waiting"
        again = await edited(workspace, Planner(WAITS, fails={}), own)
        assert [one.id for one in again.waiting] == [before.waiting[0].id]
        planner = Planner(WAITS, fails={})
        assert (await answered(workspace, planner, again)).status == "done"
        assert (withdrawn(workspace), planner.worked) == (["send", "send"], ["send", "end"])

    async def test_needs_no_approval_if_that_is_edited_away(self, workspace: Path) -> None:
        await run(workspace, Planner(WAITS, fails={}))
        planner = Planner(WAITS, fails={})
        result = await edited(workspace, planner, Task("send", "llm", instruction="Do send", depends_on=("one",)))
        assert (result.status, planner.worked) == ("done", ["send", "end"])

    async def test_has_begun_once_it_is_allowed(self, workspace: Path) -> None:
        before, stop = await run(workspace, Planner(WAITS, fails={})), Stop()
        stop.set()
        async with goalwright(workspace, Planner(WAITS).model) as runtime:
            allowed = await runtime.resume("last", answers={before.waiting[0].id: Answer()}, stop=stop)
        assert allowed.status == "interrupted"
        with pytest.raises(InputError, match="task 'send' has begun and cannot be dropped: it is interrupted"):
            await edited(workspace, Planner(WAITS), drop=("send", "end"))

    async def test_is_no_task_with_a_list_whose_items_wait(self, workspace: Path) -> None:
        items = llm("send", "one", instruction="Send <<item>>", for_each=["x", "y"], needs_approval=True)
        assert len((await run(workspace, Planner(plan(llm("one"), items), fails={}))).waiting) == 2
        with pytest.raises(InputError, match="task 'send' has begun and cannot be dropped: it is interrupted"):
            await edited(workspace, Planner(WAITS), drop=("send",))
