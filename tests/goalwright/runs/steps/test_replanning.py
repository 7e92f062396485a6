"""A plan that cannot be carried out is changed at rest, bounded, and exactly so again in a resume or a replay."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from goalwright.runs.stop import Stop
from goalwright_planner.errors import BudgetSpent, Overloaded
from goalwright_planner.events import CallFinished, CallStarted, Event, PlanChanged, PlanRefused, TaskStarted, Warned
from goalwright_planner.model import Reply
from goalwright_planner.prompting.prompts import SEED
from tests.conftest import trust
from tests.fakes import Recorder, ScriptedModel
from tests.goalwright.recorded import replayed, rows
from tests.goalwright.runs.steps.replanned import (
    UNSURE_GOAL,
    Planner,
    add,
    change,
    changed,
    llm,
    plan,
    resumed,
    run,
    statuses,
)

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_planner.model import Request

REPLACED = add("fetch-2", "survey", instead_of="fetch")


async def test_a_failed_task_is_replaced_and_the_run_is_done(workspace: Path) -> None:
    planner = Planner(changes=[REPLACED])
    result = await run(workspace, planner)
    assert (result.status, result.answer, result.error) == ("done", "the answer", None)
    assert statuses(result) == {
        "survey": "done", "fetch": "failed", "notes": "done", "brief": "done", "fetch-2": "done",
    }  # fmt: skip
    assert planner.worked.count("fetch") == 1
    assert result.plan is not None
    assert result.plan.task("notes").depends_on == ("fetch-2",)
    (event,) = changed(workspace)
    assert event["cause"] == "replan"
    assert event["note"] == "task 'fetch' failed, and was needed for: notes, brief"


async def test_skipped_tasks_wait_again_after_a_change(workspace: Path) -> None:
    stop = Stop()

    def at_the_replacement(event: Event) -> None:
        if isinstance(event, CallFinished) and event.task == "fetch-2":
            stop.set()

    result = await run(workspace, Planner(changes=[REPLACED]), record=at_the_replacement, stop=stop)
    assert result.status == "interrupted"
    assert (statuses(result)["notes"], statuses(result)["brief"]) == ("pending", "pending")
    assert (await replayed(workspace, rows(workspace))).drift == ()


async def test_a_single_task_that_fails_is_replaced_too(workspace: Path) -> None:
    planner = Planner(plan(llm("fetch")), [add("ask", instead_of="fetch")])
    result = await run(workspace, planner)
    assert (result.status, result.answer) == ("done", "ask is done")


async def test_items_of_a_replaced_task_are_not_missing(workspace: Path) -> None:
    mapped = plan(llm("all", instruction="Do <<item>>", for_each=["x", "y"]), llm("end", "all"))
    planner = Planner(mapped, [add("instead", instead_of="all")], fails={"all[1]": "gone", "all[2]": "gone"})
    result = await run(workspace, planner)
    assert (result.status, result.answer, result.error) == ("done", "end is done", None)


async def test_an_added_task_may_repeat(workspace: Path) -> None:
    rounds = llm("ask", repeat={"until": '<<ask.output>> contains "ask#2"', "most": 3})
    planner = Planner(plan(llm("fetch"), llm("end", "fetch")), [change(rounds, rewire={"fetch": "ask"})])
    result = await run(workspace, planner)
    assert (result.status, result.answer) == ("done", "end is done")
    assert {task.id: task.attempts for task in result.tasks if task.id == "ask"} == {"ask": 2}


LOOP = llm("loop", repeat={"until": "<<loop.output>> is empty", "most": 2})


async def test_a_failed_repeat_is_replaced_with_all_its_rounds(workspace: Path) -> None:
    planner = Planner(plan(LOOP, llm("end", "loop")), [add("instead", instead_of="loop")], fails={})
    result = await run(workspace, planner)
    assert (result.status, result.answer, result.error) == ("done", "end is done", None)
    assert statuses(result) == {"loop": "failed", "end": "done", "instead": "done"}
    assert "task 'loop' failed, and was needed for: end" in planner.asked[0].messages[1].content
    assert '<task id="loop#2"' not in planner.asked[0].messages[1].content


MAPPED = plan(llm("all", instruction="Do <<item>>", for_each=["x", "y", "z"]))


async def test_a_failed_item_of_a_final_task_is_replaced_like_any_other(workspace: Path) -> None:
    planner = Planner(MAPPED, [add("again", instead_of="all[2]")], fails={"all[2]": "gone"})
    result = await run(workspace, planner)
    assert (result.status, result.answer, result.error) == ("done", "the answer", None)
    assert statuses(result) == {
        "all": "done", "all[1]": "done", "all[2]": "failed", "all[3]": "done", "again": "done",
    }  # fmt: skip
    (request,) = planner.asked
    assert "- item 'all[2]' failed, and the answer lacks its result" in request.messages[1].content
    assert '<task id="all[2]" status="failed">\ngone\n</task>' in request.messages[1].content


async def test_missing_results_are_listed_in_plan_order_after_a_change(workspace: Path) -> None:
    mapped = plan(llm("all", instruction="Do <<item>>", for_each=["x", "y"]), llm("end", "all"), llm("fetch"))
    planner = Planner(
        mapped, [add("again", instead_of="fetch")], fails=dict.fromkeys(("all[2]", "fetch", "again"), "gone")
    )
    result = await run(workspace, planner)
    assert (result.status, result.error) == (
        "partial", "2 of 6 tasks have no result: all[2], y: gone; again: gone"
    )  # fmt: skip


async def test_a_replaced_item_is_not_tried_again(workspace: Path) -> None:
    planner = Planner(MAPPED, [add("again", instead_of="all[2]")], fails={"all[2]": "gone", "again": "gone too"})
    result = await run(workspace, planner)
    assert (result.status, "again: gone too" in (result.error or "")) == ("partial", True)
    assert "all[2]" not in (result.error or "")
    later = Planner(MAPPED, [], fails={})
    result = await resumed(workspace, later)
    assert (result.status, later.worked) == ("done", ["again"])


async def test_handled_or_unneeded_item_failures_do_not_trigger_replanning(workspace: Path) -> None:
    inner = plan(llm("all", instruction="Do <<item>>", for_each=["x", "y"]), llm("end", "all"))
    planner = Planner(inner, [add("again", instead_of="all[2]")], fails={"all[2]": "gone"})
    assert (await run(workspace, planner)).status == "partial"
    branch = llm("branch", "all", when='<<all[2].status>> == "failed"')
    handled = plan(llm("all", instruction="Do <<item>>", for_each=["x", "y"]), branch)
    other = Planner(handled, [add("again", instead_of="all[2]")], fails={"all[2]": "gone"})
    assert (await run(workspace, other)).status == "done"
    assert (planner.asked, other.asked) == ([], [])


async def test_a_part_that_is_not_replaced_is_missing(workspace: Path) -> None:
    planner = Planner(changes=[change(llm("more", "survey"), drop=("brief",))])
    result = await run(workspace, planner)
    assert result.status == "partial"
    assert statuses(result) == {"survey": "done", "fetch": "failed", "notes": "skipped", "more": "done"}
    assert result.error is not None
    assert "fetch: the page is gone" in result.error


async def test_the_request_shows_goal_plan_states_reason_and_what_is_left(workspace: Path) -> None:
    long = plan(llm("survey"), llm("fetch"), llm("notes", "fetch"))
    planner = Planner(long, [add("fetch-2", instead_of="fetch")], {"fetch": "gone " * 1_000})
    result = await run(workspace, planner, max_cost=1.0, max_tokens=200_000, max_replans=3)
    assert result.status == "done"
    decomposer = next(request for request in planner.model.asked if request.role == "decomposer")
    (request,) = planner.asked
    system, user = request.messages
    assert system == decomposer.messages[0], "the same bytes, for the provider's cache"
    assert user.role == "user"
    text = user.content
    assert f"<goal>\n{UNSURE_GOAL}\n</goal>" in text
    assert json.dumps(llm("fetch"), ensure_ascii=False).removeprefix('{"id": "fetch", ') in text
    assert '<task id="survey" status="done">\nsurvey is done\n</task>' in text
    failed = text.partition('<task id="fetch" status="failed">\n')[2].partition("\n</task>")[0]
    assert failed.endswith("[…]")
    assert len(failed) == 1_504
    assert '<task id="notes" status="skipped">' in text
    assert "task 'fetch' failed, and was needed for: notes" in text
    assert "may be dropped: notes." in text
    assert "This is change 1 of the plan. 2 can follow it, and $0.9800 of $1 and " in text
    assert " of 200,000 tokens may" in text
    assert request.schema is not None


async def test_many_results_are_cut_to_fit_together(workspace: Path) -> None:
    class Wordy(Planner):
        def answer(self, request: Request) -> Reply | Exception:
            said = super().answer(request)
            long = request.role == "task" and isinstance(said, Reply)
            return Reply("x" * 5_000, cost=0.01) if long else said

    names = [f"t{number}" for number in range(40)]
    planner = Wordy(plan(*map(llm, names), llm("fetch")), [change(give_up="no way")])
    await run(workspace, planner, max_replans=1)
    text = planner.asked[0].messages[1].content
    assert 19_000 < text.count("x" * 10) * 10 <= 20_000
    assert all(f'<task id="{name}" status="done">\nxxx' in text for name in names)


async def test_a_faulty_change_is_asked_for_again_with_all_faults(workspace: Path) -> None:
    faulty = change(llm("survey"), llm("x", "fetch"), drop=("survey", "zz"))
    planner = Planner(changes=["no JSON at all", plan(llm("a")), faulty])
    events = Recorder()
    result = await run(workspace, planner, record=events)
    assert result.status == "partial"
    assert len(planner.asked) == 3
    refused = events.of(PlanRefused)
    assert [(event.attempt, event.change) for event in refused if isinstance(event, PlanRefused)] == [
        (1, 1), (2, 1), (3, 1),
    ]  # fmt: skip
    again = planner.asked[2].messages[-1].content
    assert "the answer is a whole plan; answer with one JSON object with 'add'" in again
    last = changed(workspace)[-1]
    for fault in (
        "the id 'survey' was used before",
        "task 'x' depends on 'fetch', which failed",
        "task 'survey' has begun and cannot be dropped: it is done",
        "there is no task 'zz' to drop",
    ):
        assert fault in last["note"]
    assert (last["added"], last["dropped"], last["rewired"]) == ([], [], {})
    warned = [event.message for event in events.of(Warned) if isinstance(event, Warned)]
    assert any(text.startswith("the plan was not changed: no valid change in 3 answers") for text in warned)


async def test_a_second_valid_change_is_accepted(workspace: Path) -> None:
    planner = Planner(changes=[change(), REPLACED])
    assert (await run(workspace, planner)).status == "done"
    assert "the change is empty" in planner.asked[1].messages[-1].content


async def test_failed_attempts_count(workspace: Path) -> None:
    planner = Planner(changes=[Overloaded("no time")])
    result = await run(workspace, planner, max_replans=2, retry_patience=0.0)
    assert result.status == "partial"
    assert [event["note"] for event in changed(workspace)] == ["the model gave no answer: no time"] * 2


async def test_a_replacement_that_fails_is_replaced_as_often_as_allowed(workspace: Path) -> None:
    fails = dict.fromkeys(("fetch", "fetch-1", "fetch-2", "fetch-3"), "the page is gone")
    changes: list[str | Exception] = [add("fetch-1", instead_of="fetch")]
    changes += [add(f"fetch-{n + 1}", instead_of=f"fetch-{n}") for n in range(1, 4)]
    planner = Planner(changes=changes, fails=fails)
    result = await run(workspace, planner, max_replans=2)
    assert result.status == "partial"
    assert statuses(result)["fetch-2"] == "failed"
    assert len(planner.asked) == 2
    assert "None can follow it" in planner.asked[1].messages[1].content


async def test_giving_up_ends_replanning(workspace: Path) -> None:
    planner = Planner(changes=[change(give_up="the page was the only source")])
    result = await run(workspace, planner, max_replans=5)
    assert result.status == "partial"
    assert len(planner.asked) == 1
    assert changed(workspace)[0]["note"] == "given up: the page was the only source"


async def test_without_replans_nothing_is_asked_or_offered(workspace: Path) -> None:
    planner = Planner(changes=[REPLACED])
    result = await run(workspace, planner, max_replans=0)
    assert (result.status, planner.asked, changed(workspace)) == ("partial", [], [])
    assert all(tool.name != "PlanIsWrong" for request in planner.model.asked for tool in request.tools)


async def test_a_spent_budget_stops_the_run_and_a_resume_replans(workspace: Path) -> None:
    planner = Planner(changes=[BudgetSpent("stopped at $0.02")])
    assert (await run(workspace, planner)).status == "stopped"
    assert changed(workspace) == [], "nothing was answered, and nothing counts"
    result = await resumed(workspace, Planner(changes=[REPLACED]))
    assert result.status == "done"


async def test_the_same_outcomes_in_another_order_give_the_same_request(tmp_path: Path) -> None:
    asked: list[Request] = []
    for order in (("survey", "fetch", "more"), ("more", "fetch", "survey")):
        folder = tmp_path / order[0]
        folder.mkdir()
        planner = Planner(plan(llm("survey"), llm("fetch"), llm("more"), llm("all", "fetch")), [change(give_up="no")])
        turns = {task: place * 0.05 for place, task in enumerate(order)}
        ended: list[str] = []
        result = await run_slowly(folder, planner, turns, ended)
        assert result == "partial"
        assert ended == list(order)
        asked += planner.asked
    assert asked[0].messages == asked[1].messages
    assert asked[0].key == asked[1].key != ""


async def run_slowly(folder: Path, planner: Planner, turns: dict[str, float], ended: list[str]) -> str:
    """Run with tasks that take as long as said; how it ended."""

    class Slow(ScriptedModel):
        async def complete(self, request: Request) -> Reply:
            if request.role == "task":
                await asyncio.sleep(turns[request.task or ""])
                ended.append(request.task or "")
            return await super().complete(request)

    planner.model = Slow(planner.answer)
    return (await run(folder, planner)).status


class TestPlanIsWrong:
    """A worker says so: what waits for its task is held, all else runs on."""

    plan = plan(llm("look"), llm("after", "look"), llm("last", "after"), llm("aside"), llm("end", "aside"))

    async def test_what_waits_is_held_until_the_plan_is_changed(self, workspace: Path) -> None:
        instead = change(llm("other", "look"), drop=("after", "last"))
        planner = Planner(self.plan, [instead], {}, {"look": "there is no such page"})
        events = Recorder()
        result = await run(workspace, planner, record=events)
        assert result.status == "done"
        assert set(statuses(result)) == {"look", "aside", "end", "other"}
        order = [event for event in events.events if isinstance(event, TaskStarted | PlanChanged)]
        names = [event.task if isinstance(event, TaskStarted) else "changed" for event in order]
        assert sorted(names[:-2]) == ["aside", "end", "look"]
        assert names[-2:] == ["changed", "other"]
        text = planner.asked[0].messages[1].content
        assert "the worker of task 'look' says that the plan is wrong: there is no such page" in text
        assert "may be dropped: after, last." in text

    async def test_a_round_says_so_for_its_task(self, workspace: Path) -> None:
        looped = plan(LOOP, llm("mend", "loop", when='<<loop.status>> == "failed"'))
        planner = Planner(looped, [change(llm("other"), drop=("mend",))], {}, {"loop#2": "there is no such page"})
        result = await run(workspace, planner)
        assert set(statuses(result)) == {"loop", "other"}
        text = planner.asked[0].messages[1].content
        assert "the worker of task 'loop' says that the plan is wrong: there is no such page" in text

    async def test_where_nothing_is_changed_the_rest_runs_as_planned(self, workspace: Path) -> None:
        planner = Planner(self.plan, [change(give_up="it is fine")], {}, {"look": "odd"})
        result = await run(workspace, planner, max_replans=3)
        assert (result.status, set(statuses(result).values())) == ("done", {"done"})
        assert len(planner.asked) == 1

    async def test_it_is_offered_only_while_replans_are_left(self, workspace: Path) -> None:
        planner = Planner(self.plan, [change(llm("other"), drop=("after", "last"))], {}, {"look": "no page"})
        await run(workspace, planner)
        offered = {
            request.task: "PlanIsWrong" in [tool.name for tool in request.tools]
            for request in planner.model.asked
            if request.role == "task"
        }
        assert offered == {"look": True, "aside": True, "end": True, "other": False}

    async def test_a_reason_is_needed(self, workspace: Path) -> None:
        planner = Planner(self.plan, [], {}, {"look": "  "})
        assert (await run(workspace, planner)).status == "done"
        assert planner.asked == []

    async def test_a_resume_holds_what_was_held(self, workspace: Path) -> None:
        stop = Stop()
        planner = Planner(self.plan, [change(llm("other"), drop=("after", "last"))], {}, {"look": "no page"})

        def at_request(event: Event) -> None:
            if isinstance(event, CallStarted) and event.role == "replanner":
                stop.set()

        assert (await run(workspace, planner, record=at_request, stop=stop)).status == "interrupted"
        again = Planner(self.plan, [change(llm("other"), drop=("after", "last"))], {}, {})
        result = await resumed(workspace, again)
        assert result.status == "done"
        assert again.worked == ["other"]


class Silent(ScriptedModel):
    """Never answers a request for a change."""

    async def complete(self, request: Request) -> Reply:
        if request.role == "replanner":
            await asyncio.Event().wait()
        return await super().complete(request)


class TestResume:
    """A resume first tries again what failed, then replans."""

    async def test_what_failed_is_tried_again_and_may_be_done(self, workspace: Path) -> None:
        assert (await run(workspace, Planner(changes=[change(give_up="no")]))).status == "partial"
        planner = Planner(changes=[REPLACED], fails={})
        result = await resumed(workspace, planner)
        assert (result.status, planner.asked) == ("done", [])

    async def test_a_replan_follows_where_it_fails_again_and_one_is_left(self, workspace: Path) -> None:
        assert (await run(workspace, Planner(changes=[change(give_up="no")]))).status == "partial"
        assert (await resumed(workspace, Planner(changes=[REPLACED]))).status == "partial", "none is left"
        planner = Planner(changes=[REPLACED])
        result = await resumed(workspace, planner, max_replans=2)
        assert result.status == "done"
        assert planner.worked[0] == "fetch"
        assert len(planner.asked) == 1

    async def test_a_replaced_task_is_not_tried_again(self, workspace: Path) -> None:
        fails = dict.fromkeys(("fetch", "fetch-2"), "the page is gone")
        assert (await run(workspace, Planner(changes=[REPLACED], fails=fails))).status == "partial"
        planner = Planner(changes=[], fails={})
        result = await resumed(workspace, planner)
        assert result.status == "done"
        assert planner.worked == ["fetch-2", "notes", "brief"]
        assert statuses(result)["fetch"] == "failed"

    async def test_a_run_stopped_during_the_request_makes_the_same_one(self, workspace: Path) -> None:
        stop = Stop()

        def at_request(event: Event) -> None:
            if isinstance(event, CallStarted) and event.role == "replanner":
                stop.set()

        first = Planner(changes=[REPLACED])
        first.model = Silent(first.answer)
        assert (await run(workspace, first, record=at_request, stop=stop, max_cost=1.0)).status == "interrupted"
        second = Planner(changes=[REPLACED])
        result = await resumed(workspace, second, max_cost=2.0, max_replans=4)
        assert result.status == "done"
        calls = [row.body for row in rows(workspace) if row.type == "call_started"]
        replanned = [call["request"] for call in calls if call["role"] == "replanner"]
        assert len(replanned) == 2
        assert len(set(replanned)) == 1, "budget and replans left are those of the first request"

    async def test_an_answer_on_record_is_not_paid_for_again(self, workspace: Path) -> None:
        stop = Stop()

        def after_a_fault(event: Event) -> None:
            if isinstance(event, PlanRefused):
                stop.set()

        def paid() -> list[str]:
            ended = [row.body for row in rows(workspace) if row.type == "call_finished"]
            return [body["request"] for body in ended if body["role"] == "replanner"]

        first = Planner(changes=["no JSON"])
        assert (await run(workspace, first, record=after_a_fault, stop=stop)).status == "interrupted"
        before = paid()  # without a call that was under way
        second = Planner(changes=[REPLACED])
        assert (await resumed(workspace, second)).status == "done"
        assert len(second.asked) == 1
        assert len(set(paid())) == len(paid()) == len(before) + 1 > 1


class TestReplay:
    """A strict replay makes every change again, from what is on record."""

    async def test_an_edited_prompt_is_drift_at_the_change(
        self, workspace: Path, request: pytest.FixtureRequest
    ) -> None:
        request.applymarker(pytest.mark.changes_skills)
        assert (await run(workspace, Planner(changes=[REPLACED]))).status == "done"
        own = workspace / ".agents" / "seed" / "replanner.j2"
        own.parent.mkdir(parents=True)
        shipped = (SEED / "replanner.j2").read_text(encoding="utf-8")
        own.write_text(shipped.replace("Now it needs a change.", "Change it."), encoding="utf-8")
        trust(workspace)
        replay = await replayed(workspace, rows(workspace))
        assert [one.where for one in replay.drift] == ["plan change 1"]
        assert "prompt of plan change 1: the user message, line 1 was" in replay.drift[0].what
        assert replay.result.status == "done"

    async def test_a_run_that_was_resumed_and_replanned_replays(self, workspace: Path) -> None:
        """The second failure is retried after the first was replaced: the request shows how it stood then."""
        both = plan(llm("fetch"), llm("other"), llm("a", "fetch"), llm("b", "other"), synthesis="s")
        fails = {"fetch": "gone", "other": "gone too"}
        assert (await run(workspace, Planner(both, [add("fetch-2", instead_of="fetch")], fails))).status == "partial"
        assert (await resumed(workspace, Planner(both, [], {}))).status == "done"
