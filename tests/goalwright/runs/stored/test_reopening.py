"""A person changes the plan of a run that is not running: by asking for it, or with a plan of their own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from goalwright.runs.plans.plan_file import PlanFile
from goalwright.runs.stop import Stop
from goalwright_executor.stores.errors import RunHeld
from goalwright_planner.errors import RequestRefused
from goalwright_planner.events import Event, PlanChanged, TaskStarted
from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.task import Task
from goalwright_skills.errors import InputError
from tests.fakes import Recorder
from tests.goalwright.recorded import UNSURE_GOAL, goalwright, rows
from tests.goalwright.runs.steps.replanned import Planner, add, change, changed, llm, plan, resumed, run, statuses

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_executor.history.result import Result

CHAIN = plan(llm("one"), llm("two", "one"), llm("three", "two"), synthesis="short")
GIVEN_UP: list[str | Exception] = [change(give_up="no")]


async def replanned(workspace: Path, planner: Planner, request: str = "do it otherwise", **settings: Any) -> Result:
    async with goalwright(workspace, planner.model, **settings) as runtime:
        return await runtime.replan("last", request)


async def stopped_at(workspace: Path, task: str, planner: Planner) -> None:
    """Run until a task starts, then stop, before it ends."""
    stop, planner.model.unanswered = Stop(), task

    def at(event: Event) -> None:
        if isinstance(event, TaskStarted) and event.task == task:
            stop.set()

    assert (await run(workspace, planner, record=at, stop=stop)).status == "interrupted"
    planner.model.unanswered = None


async def edited(workspace: Path, planner: Planner, *tasks: Task, drop: tuple[str, ...] = (), **rest: Any) -> Result:
    """Continue the last run by its own plan with other tasks in it."""
    async with goalwright(workspace, planner.model) as runtime:
        own = runtime.plan_of("last").plan
        given = {task.id: task for task in tasks}
        kept = [given.pop(task.id, task) for task in own.tasks if task.id not in drop]
        new = Plan((*kept, *given.values()), rest.get("synthesis", own.synthesis))
        return await runtime.resume("last", plan=PlanFile(new, rest.get("goal", UNSURE_GOAL)))


class TestAsking:
    async def test_a_run_that_is_done_goes_on_by_a_changed_plan(self, workspace: Path) -> None:
        assert (await run(workspace, Planner(CHAIN, fails={}))).status == "done"
        planner = Planner(CHAIN, [change(llm("four", "three"))], {})
        result = await replanned(workspace, planner, "  add a fourth  ")
        assert result.status == "done"
        assert planner.worked == ["four"], "nothing that is done is done again"
        assert "the person asks for this: add a fourth" in planner.asked[0].messages[1].content
        assert "may be dropped: none." in planner.asked[0].messages[1].content
        assert [event["cause"] for event in changed(workspace)] == ["replan"]
        asked = [row.body["request"] for row in rows(workspace) if row.type == "replan_asked"]
        assert asked == ["add a fourth"]

    async def test_what_has_not_begun_may_be_dropped_before_it_runs(self, workspace: Path) -> None:
        await stopped_at(workspace, "two", Planner(CHAIN, fails={}))
        planner = Planner(CHAIN, [change(drop=("three",))], {})
        result = await replanned(workspace, planner)
        assert (result.status, set(statuses(result))) == ("done", {"one", "two"})
        text = planner.asked[0].messages[1].content
        assert '<task id="two" status="interrupted">' in text
        assert "may be dropped: three." in text

    async def test_a_failed_task_is_replaced_without_being_tried_again(self, workspace: Path) -> None:
        assert (await run(workspace, Planner(changes=GIVEN_UP))).status == "partial"
        planner = Planner(changes=[add("fetch-2", instead_of="fetch")], fails={})
        result = await replanned(workspace, planner)
        assert (result.status, statuses(result)["fetch"]) == ("done", "failed")
        assert planner.worked == ["fetch-2", "notes", "brief"]

    async def test_it_needs_no_replan_left_and_counts_as_one(self, workspace: Path) -> None:
        assert (await run(workspace, Planner(CHAIN, fails={}), max_replans=0)).status == "done"
        planner = Planner(CHAIN, [change(llm("four", "three"))], {"four": "no"})
        result = await replanned(workspace, planner)
        assert result.status == "partial"
        assert len(planner.asked) == 1

    async def test_where_the_plan_is_not_changed_a_done_run_stays_done(self, workspace: Path) -> None:
        assert (await run(workspace, Planner(CHAIN, fails={}))).status == "done"
        planner = Planner(CHAIN, GIVEN_UP, {})
        result = await replanned(workspace, planner)
        assert (result.status, result.answer) == ("done", "the answer")
        assert set(statuses(result).values()) == {"done"}
        assert result.error == "the plan was not changed: given up: no"
        assert result.code == "PLAN_NOT_CHANGED"
        assert [request.role for request in planner.model.asked] == ["replanner"]
        assert (await resumed(workspace, Planner(CHAIN, fails={}))).status == "done"

    @pytest.mark.parametrize("settings", [{"max_cost": 0.001}, {"timeout": 0.001}], ids=["cost", "time"])
    async def test_a_limit_that_is_met_before_the_change_leaves_a_done_run_done(
        self, workspace: Path, settings: dict[str, Any]
    ) -> None:
        assert (await run(workspace, Planner(CHAIN, fails={}))).status == "done"
        result = await replanned(workspace, Planner(CHAIN, [change(llm("four", "three"))], {}), **settings)
        assert (result.status, result.answer, result.code) == ("done", "the answer", "PLAN_NOT_CHANGED")
        assert set(statuses(result).values()) == {"done"}

    async def test_a_model_that_gives_no_answer_leaves_a_done_run_done(self, workspace: Path) -> None:
        assert (await run(workspace, Planner(CHAIN, fails={}))).status == "done"
        result = await replanned(workspace, Planner(CHAIN, [RequestRefused("not now")], {}))
        assert (result.status, result.answer) == ("done", "the answer")
        assert "the model gave no answer: not now" in (result.error or "")

    async def test_a_failed_run_stays_failed_where_the_plan_is_not_changed(self, workspace: Path) -> None:
        alone = plan(llm("fetch"))
        assert (await run(workspace, Planner(alone, GIVEN_UP))).status == "failed"
        planner = Planner(alone, GIVEN_UP)
        result = await replanned(workspace, planner)
        assert (result.status, result.answer, planner.worked) == ("failed", None, [])

    async def test_a_request_that_was_cut_off_is_kept(self, workspace: Path) -> None:
        assert (await run(workspace, Planner(CHAIN, fails={}))).status == "done"
        stop, planner = Stop(), Planner(CHAIN, [change(llm("four", "three"))], {})
        stop.set()
        async with goalwright(workspace, planner.model) as runtime:
            assert (await runtime.replan("last", "more", stop=stop)).status == "interrupted"
        result = await resumed(workspace, Planner(CHAIN, [change(llm("four", "three"))], {}))
        assert (result.status, statuses(result)["four"]) == ("done", "done")

    async def test_asking_twice_asks_a_model_twice(self, workspace: Path) -> None:
        assert (await run(workspace, Planner(CHAIN, fails={}))).status == "done"
        await replanned(workspace, Planner(CHAIN, GIVEN_UP, {}))
        planner = Planner(CHAIN, [change(llm("four", "three"))], {})
        assert (await replanned(workspace, planner)).status == "done"
        assert len(planner.asked) == 1

    async def test_a_run_without_a_plan_or_that_is_running_is_refused(self, workspace: Path) -> None:
        assert (await run(workspace, Planner("no plan", fails={}))).status == "failed"
        with pytest.raises(InputError, match="the run has no plan yet"):
            await replanned(workspace, Planner(CHAIN))
        planner = Planner(CHAIN, fails={})
        async with goalwright(workspace, planner.model) as runtime:
            held = runtime.new_run(UNSURE_GOAL)
            held.record(held.opening)
            runtime.journal.take(held.log.run_id)
            await held.log.settle()
            async with goalwright(workspace, planner.model) as other:
                with pytest.raises(RunHeld):
                    await other.replan(held.log.run_id, "more")
            runtime.journal.release(held.log.run_id)

    @pytest.mark.parametrize("request_text", ["", "  ", "x" * 20_001])
    async def test_a_request_that_says_nothing_or_too_much_is_refused(self, workspace: Path, request_text: str) -> None:
        with pytest.raises(InputError, match=r"the change is missing|characters"):
            await replanned(workspace, Planner(CHAIN), request_text)


class TestEditing:
    async def test_what_has_not_begun_is_as_the_person_wrote_it(self, workspace: Path) -> None:
        await stopped_at(workspace, "two", Planner(CHAIN, fails={}))
        planner = Planner(CHAIN, fails={})
        three = Task("three", "llm", instruction="Say it in French", depends_on=("two",))
        four = Task("four", "llm", instruction="Then this", depends_on=("one",))
        events = Recorder()
        async with goalwright(workspace, planner.model) as runtime:
            own = runtime.plan_of("last").plan
            new = Plan((*own.tasks[:2], three, four), "long")
            result = await runtime.resume("last", plan=PlanFile(new, UNSURE_GOAL), record=events)
        assert (result.status, planner.asked) == ("done", [])
        assert result.plan is not None
        assert (result.plan.task("three").instruction, result.plan.synthesis) == ("Say it in French", "long")
        (event,) = changed(workspace)
        assert (event["cause"], event["dropped"]) == ("person", ["three"])
        assert [task["id"] for task in event["added"]] == ["three", "four"]
        assert len(events.of(PlanChanged)) == 1

    async def test_a_failed_task_that_is_deleted_is_replaced(self, workspace: Path) -> None:
        assert (await run(workspace, Planner(changes=GIVEN_UP))).status == "partial"
        by_hand = Task("by-hand", "llm", instruction="From memory")
        notes = Task("notes", "llm", instruction="Do notes", depends_on=("by-hand",))
        planner = Planner(fails={})
        result = await edited(workspace, planner, by_hand, notes, drop=("fetch",))
        assert (result.status, statuses(result)["fetch"]) == ("done", "failed")
        assert planner.worked == ["by-hand", "notes", "brief"]
        (_, event) = changed(workspace)
        assert (event["rewired"], event["dropped"]) == ({"fetch": "by-hand"}, [])

    async def test_a_run_that_is_done_takes_more_tasks(self, workspace: Path) -> None:
        assert (await run(workspace, Planner(CHAIN, fails={}))).status == "done"
        planner = Planner(CHAIN, fails={})
        result = await edited(workspace, planner, Task("four", "llm", instruction="more", depends_on=("three",)))
        assert (result.status, planner.worked) == ("done", ["four"])

    async def test_the_run_s_own_plan_changes_nothing(self, workspace: Path) -> None:
        assert (await run(workspace, Planner(CHAIN, fails={}))).status == "done"
        planner = Planner(CHAIN, fails={})
        assert (await edited(workspace, planner)).status == "done"
        assert (planner.model.asked, changed(workspace)) == ([], [])

    async def test_a_synthesis_can_be_taken_away(self, workspace: Path) -> None:
        assert (await run(workspace, Planner(CHAIN, fails={}))).status == "done"
        result = await edited(workspace, Planner(CHAIN, fails={}), synthesis=None)
        assert (result.status, result.answer) == ("done", "three is done")

    async def test_every_fault_is_told_and_nothing_is_recorded(self, workspace: Path) -> None:
        await stopped_at(workspace, "two", Planner(CHAIN, fails={}))
        before = len(rows(workspace))
        one = Task("one", "llm", instruction="otherwise")
        with pytest.raises(InputError) as caught:
            await edited(workspace, Planner(CHAIN), one, drop=("two",))
        assert caught.value.message == (
            "the plan of the file cannot be used: task 'one' has begun and cannot be changed: it is done; "
            "task 'two' has begun and cannot be dropped: it is interrupted; "
            "task 'three' depends on 'two', which is dropped; drop it too, or rewire 'two'"
        )
        assert len(rows(workspace)) == before
        assert (await resumed(workspace, Planner(CHAIN, fails={}))).status == "done"

    async def test_a_plan_for_another_goal_is_refused(self, workspace: Path) -> None:
        assert (await run(workspace, Planner(CHAIN, fails={}))).status == "done"
        with pytest.raises(InputError, match="different goal"):
            await edited(workspace, Planner(CHAIN), goal="something else")

    async def test_a_model_changes_it_after_a_person_did(self, workspace: Path) -> None:
        await stopped_at(workspace, "two", Planner(CHAIN, fails={}))
        planner = Planner(CHAIN, [add("three-b", "two", instead_of="three")], {"three": "no"})
        result = await edited(workspace, planner, Task("three", "llm", instruction="x", depends_on=("two",)))
        assert result.status == "done"
        assert [event["cause"] for event in changed(workspace)] == ["person", "replan"]


async def test_a_rerun_of_a_changed_run_begins_from_its_last_plan(workspace: Path) -> None:
    planner = Planner(changes=[add("fetch-2", instead_of="fetch")])
    first = await run(workspace, planner)
    assert first.status == "done"
    again = Planner(fails={})
    async with goalwright(workspace, again.model) as runtime:
        part = runtime.plan_rerun("last", ["notes"], {})
        assert [task.id for task in part.plan.tasks] == ["survey", "notes", "brief", "fetch-2"]
        assert part.executed == ("notes", "brief")
        result = await runtime.rerun(first.run_id, part)
    assert (result.status, again.worked) == ("done", ["notes", "brief"])


async def test_the_plan_comments_name_begun_tasks(workspace: Path) -> None:
    await run(workspace, Planner(changes=GIVEN_UP))
    async with goalwright(workspace, Planner().model) as runtime:
        found = runtime.plan_of("last")
    assert found.comments() == [
        "2 tasks have begun and cannot change: survey (done), fetch (failed).",
        "To replace fetch: delete it, add a task, and let its dependents depend on the new one.",
    ]
    assert replace(found, ends={}).comments() == ["No task has begun: all of them may be changed."]
