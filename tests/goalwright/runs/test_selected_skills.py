"""A skill that was selected with certainty is used, or it is said why not: in plans, streams, changes and sub-goals."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from goalwright.runs.goal import Goal
from goalwright.runs.runtime import Goalwright
from goalwright.settings.settings import Settings
from goalwright_planner.events import PlanChanged, PlanMade, PlanRefused, SkillsSelected, Warned
from tests.conftest import add_skill
from tests.fakes import Recorder
from tests.goalwright.recorded import replayed, rows
from tests.goalwright.runs.adaptive import planned
from tests.openai_server import Answer, Call, Fail, OpenAIServer, Say, Script, in_turn, instruction, scripted

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_executor.history.result import Result

Serve = Callable[[Script], OpenAIServer]
GOAL = "List the endpoints of the to-do service. Use the cataloging-apis skill."
UNUSED = "the plan does not use the skill 'cataloging-apis', which was selected with certainty: "
FAULT = "no task uses the skill 'cataloging-apis'"


def llm(task_id: str, *before: str, **more: Any) -> dict[str, Any]:
    return {"id": task_id, "action_type": "llm", "instruction": f"do {task_id}", "depends_on": list(before), **more}


def skill(task_id: str, *before: str, **more: Any) -> dict[str, Any]:
    return llm(task_id, *before, action_type="skill", name="cataloging-apis", **more)


def plan(*tasks: dict[str, Any], **more: Any) -> str:
    return json.dumps({"tasks": tasks, "synthesis": None, **more})


WITHOUT, WITH = plan(llm("a")), plan(llm("a"), skill("survey"), synthesis="both")


def planning(*plans: str, task: Script | None = None, change: Script | None = None) -> Script:
    """Plans in turn, the rest as in every scripted run."""
    planner, rest = in_turn(*map(Say, plans)), scripted(plans[0], task=task, change=change)
    return lambda call: planner(call) if call.role == "decomposer" else rest(call)


async def run(workspace: Path, goal: Goal | str = GOAL, **more: Any) -> tuple[Result, Recorder]:
    record = Recorder()
    settings = replace(Settings(model="openai/test-model", retry_patience=30.0, stream_plan=False), **more)
    async with Goalwright(workspace, settings) as goalwright:
        return await goalwright.run(goal, record=record), record


def unused(result: Result) -> list[str]:
    return [text for text in result.warnings if "does not use the skill" in text]


async def test_a_plan_without_a_certain_skill_is_asked_for_again(workspace: Path, serve: Serve) -> None:
    server = serve(planning(WITHOUT, WITH))
    result, record = await run(workspace)
    first, again = server.asked("decomposer")
    assert "fit this goal with certainty: cataloging-apis." in first.user
    assert FAULT in again.user
    assert '"unused"' in first.user
    assert [event.certain for event in record.of(SkillsSelected)[0].selections][:1] == [True]
    assert (result.status, result.skills_used, unused(result)) == ("done", ("cataloging-apis",), [])
    assert (await replayed(workspace, rows(workspace))).drift == ()


async def test_a_certain_skill_is_asked_for_once_and_then_causes_a_warning(workspace: Path, serve: Serve) -> None:
    server = serve(planning(WITHOUT))
    result, record = await run(workspace)
    assert len(server.asked("decomposer")) == 2
    assert (result.status, result.skills_used) == ("done", ())
    assert unused(result) == [f"{UNUSED}it gives no reason"]
    assert [event.message for event in record.of(Warned)] == list(result.warnings)
    again = await replayed(workspace, rows(workspace))
    assert (again.drift, again.result.warnings, again.result.skills_used) == ((), result.warnings, ())


async def test_a_reason_in_unused_is_accepted_and_reported(workspace: Path, serve: Serve) -> None:
    why = {"cataloging-apis": "the list is given already", "no-such": "because"}
    server = serve(planning(plan(llm("a"), unused=why)))
    result, record = await run(workspace)
    assert len(server.asked("decomposer")) == 1
    (made,) = record.of(PlanMade)
    assert isinstance(made, PlanMade)
    assert made.plan.unused == why
    assert result.warnings == (
        f"{UNUSED}the list is given already",
        "'unused' of the plan has names that are not skills here: 'no-such'",
    )


async def test_unused_skills_and_faults_share_one_request(workspace: Path, serve: Serve) -> None:
    server = serve(planning(plan(llm("a", "nowhere")), WITHOUT))
    result, record = await run(workspace)
    assert len(server.asked("decomposer")) == 2
    (refused,) = record.of(PlanRefused)
    assert isinstance(refused, PlanRefused)
    assert [fault.partition(";")[0] for fault in refused.faults] == [
        "task 'a' depends on 'nowhere', which is not in the plan",
        f"{FAULT}, which was selected with certainty",
    ]
    assert len(unused(result)) == 1


async def test_a_valid_plan_is_kept_if_the_next_is_faulty(workspace: Path, serve: Serve) -> None:
    server = serve(planning(WITHOUT, "no plan", "no plan either"))
    result, _ = await run(workspace)
    assert len(server.asked("decomposer")) == 3
    assert (result.status, result.answer) == ("done", "did: do a")
    assert any("answer 3 cannot run, so the plan of answer 1 counts" in text for text in result.warnings)
    assert len(unused(result)) == 1
    assert (await replayed(workspace, rows(workspace))).drift == ()


@pytest.mark.parametrize("given", [["cataloging-apis"], "cataloging-apis", {"cataloging-apis": None}])
@pytest.mark.parametrize("stream", [False, True])
async def test_a_plan_is_not_lost_for_a_malformed_reason(
    workspace: Path, serve: Serve, given: object, stream: bool
) -> None:
    server = serve(planning(plan(llm("a"), unused=given)))
    result, _ = await run(workspace, stream_plan=stream)
    assert len(server.asked("decomposer")) == 2
    assert (result.status, result.answer) == ("done", "did: do a")
    assert unused(result) == [f"{UNUSED}it gives no reason"]
    assert any("the plan was repaired: what in 'unused'" in text for text in result.warnings)
    assert (await replayed(workspace, rows(workspace))).drift == ()


async def test_a_question_does_not_take_the_place_of_a_plan(workspace: Path, serve: Serve) -> None:
    serve(planning(WITHOUT, '{"tasks": [], "clarification": "Really?"}'))
    result, _ = await run(workspace)
    assert (result.status, len(unused(result))) == ("done", 1)


async def test_a_given_plan_causes_only_a_warning(workspace: Path, serve: Serve) -> None:
    server = serve(planning(WITHOUT))
    result, _ = await run(workspace, Goal(GOAL, plan=planned(llm("a"))))
    assert (server.asked("decomposer"), unused(result)) == ([], [f"{UNUSED}it gives no reason"])
    given = planned(llm("a"), unused={"cataloging-apis": "not today"})
    result, _ = await run(workspace, Goal(GOAL, plan=given))
    assert unused(result) == [f"{UNUSED}not today"]


async def test_a_skill_that_a_worker_loads_is_used(workspace: Path, serve: Serve) -> None:
    def task(call: Call) -> Answer:
        return Say("done") if call.tool_results else Say("", (("Skill", {"name": "cataloging-apis"}),))

    serve(planning(plan(llm("a"), unused={"cataloging-apis": "a worker loads it"}), task=task))
    result, _ = await run(workspace)
    assert result.skills_used == ("cataloging-apis",)


async def test_a_failed_task_has_used_nothing(workspace: Path, serve: Serve) -> None:
    def task(call: Call) -> Answer:
        return Fail(400, "no") if instruction(call) == "do survey" else Say("done")

    serve(planning(WITH, task=task))
    result, _ = await run(workspace)
    assert (result.status, result.skills_used) == ("partial", ())


async def test_a_list_without_items_uses_nothing(workspace: Path, serve: Serve) -> None:
    each = skill("each", "a", instruction="do <<item>>", for_each="<<a.output>>")
    serve(planning(plan(llm("a"), each), task=lambda _: Say("[]")))
    result, _ = await run(workspace)
    assert (result.status, result.skills_used) == ("done", ())


@pytest.mark.parametrize("more", [{"when": '<<a.output>> == "never"'}, {"for_each": [], "instruction": "do <<item>>"}])
async def test_a_task_that_had_nothing_to_do_does_not_count_as_use(
    workspace: Path, serve: Serve, more: dict[str, Any]
) -> None:
    serve(planning(plan(llm("a"), skill("survey", "a", **more), synthesis="both")))
    result, _ = await run(workspace)
    said = "the skill 'cataloging-apis' was selected with certainty but not used: survey had nothing to do"
    assert (result.status, result.skills_used, said in result.warnings) == ("done", (), True)


async def test_a_skill_that_was_not_selected_with_certainty_may_be_left_out(workspace: Path, serve: Serve) -> None:
    server = serve(planning(WITHOUT))
    result, _ = await run(workspace, "Tell about endpoints and parameters, or do something else altogether")
    assert len(server.asked("decomposer")) == 1
    assert "certainty" not in server.calls[0].user
    assert unused(result) == []


async def test_streamed_tasks_are_kept(workspace: Path, serve: Serve) -> None:
    server = serve(planning(plan(llm("a"), llm("b")), plan(llm("a"), llm("b"), skill("survey"), synthesis="all")))
    result, _ = await run(workspace, stream_plan=True)
    assert (result.status, result.skills_used) == ("done", ("cataloging-apis",))
    assert sorted(instruction(call) for call in server.asked("task")) == ["do a", "do b", "do survey"]
    assert "Keep these tasks exactly as they were, unless a fault names them; they have begun: a, b" in (
        server.asked("decomposer")[1].user
    )
    assert (await replayed(workspace, rows(workspace))).drift == ()


async def test_a_plan_that_loses_begun_tasks_is_not_used(workspace: Path, serve: Serve) -> None:
    server = serve(planning(plan(llm("a"), llm("b")), plan(llm("a", instruction="do it otherwise"), skill("survey"))))
    result, _ = await run(workspace, stream_plan=True)
    assert sorted(instruction(call) for call in server.asked("task")) == ["do a", "do b"]
    assert any("answer 2 changes tasks that have begun, so the plan of answer 1" in text for text in result.warnings)
    assert (result.status, len(unused(result))) == ("done", 1)
    assert (await replayed(workspace, rows(workspace))).drift == ()


def failing(call: Call) -> Answer:
    return Fail(400, "no") if instruction(call) == "do a" else Say(f"did: {instruction(call)}")


DROPPED = {"add": [llm("c")], "drop": ["survey"], "rewire": {"a": "c"}, "give_up": None}
KEPT = {"add": [llm("c")], "drop": [], "rewire": {"a": "c"}, "give_up": None}


@pytest.mark.parametrize(
    ("changes", "asked", "used", "said"),
    [
        ([DROPPED, KEPT], 2, ("cataloging-apis",), []),
        ([DROPPED, DROPPED], 2, (), ["it gives no reason"]),
        ([DROPPED | {"unused": ["cataloging-apis"]}], 2, (), ["it gives no reason"]),
        ([DROPPED | {"unused": {"cataloging-apis": "it cannot"}}], 1, (), ["it cannot"]),
        ([DROPPED, {"add": "?"}, {"add": "??"}], 3, (), ["it gives no reason"]),
    ],
)
async def test_a_change_that_drops_its_task_is_asked_again(
    workspace: Path, serve: Serve, changes: list[Any], asked: int, used: tuple[str, ...], said: list[str]
) -> None:
    change = in_turn(*(Say(json.dumps(one)) for one in changes))
    server = serve(planning(plan(llm("a"), skill("survey", "a"), synthesis="s"), task=failing, change=change))
    result, record = await run(workspace)
    assert len(server.asked("replanner")) == asked
    assert (result.status, result.skills_used) == ("done", used)
    assert unused(result) == [UNUSED + one for one in said]
    (changed,) = record.of(PlanChanged)
    assert isinstance(changed, PlanChanged)
    assert dict(changed.unused) == changes[-1].get("unused", {}) if said == ["it cannot"] else not changed.unused
    assert (await replayed(workspace, rows(workspace))).drift == ()


async def test_a_change_may_replace_a_task_whose_skill_failed(workspace: Path, serve: Serve) -> None:
    def task(call: Call) -> Answer:
        return Fail(400, "no") if instruction(call) == "do survey" else Say("done")

    change = {"add": [llm("c")], "drop": [], "rewire": {"survey": "c"}, "give_up": None}
    server = serve(planning(plan(skill("survey")), task=task, change=lambda _: Say(json.dumps(change))))
    result, _ = await run(workspace)
    assert len(server.asked("replanner")) == 1
    assert (result.status, result.skills_used, unused(result)) == ("done", (), [])


async def test_a_sub_goal_uses_its_certain_skill(workspace: Path, serve: Serve) -> None:
    inner = llm("part", action_type="goal", instruction="Use the cataloging-apis skill for all endpoints.")

    def script(call: Call) -> Answer:
        if call.role == "decomposer" and "for all endpoints." in call.user:
            return Say(WITHOUT)
        return planning(plan(inner))(call)

    server = serve(script)
    result, _ = await run(workspace)
    assert len(server.asked("decomposer")) == 3, "the goal names the skill, and so the plan uses it"
    assert unused(result) == [f"task 'part': {UNUSED}it gives no reason"]
    assert (await replayed(workspace, rows(workspace))).drift == ()


async def test_a_resumed_run_has_the_lists_of_its_record(workspace: Path, serve: Serve) -> None:
    serve(planning(plan(llm("a"), skill("survey", "a"), unused={"nothing": "so"}), task=failing))
    first, _ = await run(workspace, max_replans=0)
    assert (first.skills_used, len(first.warnings)) == ((), 1)
    serve(planning(WITHOUT))
    async with Goalwright(workspace, Settings(model="openai/test-model")) as goalwright:
        again = await goalwright.resume(first.run_id)
        assert (again.skills_used, again.warnings) == (("cataloging-apis",), first.warnings)
        assert goalwright.result(first.run_id).warnings == first.warnings


async def test_an_edited_plan_without_a_certain_skill_causes_a_warning(workspace: Path, serve: Serve) -> None:
    serve(planning(WITH))

    async def without_the_skill(shown: Any) -> Any:
        return planned(llm("a"))

    record = Recorder()
    async with Goalwright(workspace, Settings(model="openai/test-model")) as goalwright:
        result = await goalwright.run(GOAL, record=record, review=without_the_skill)
    assert unused(result) == [f"{UNUSED}it gives no reason"]


async def test_two_skills_are_both_asked_for(workspace: Path, serve: Serve) -> None:
    add_skill(workspace, "writing-briefs", "---\nname: writing-briefs\ndescription: Write a brief.\n---\nOne page.\n")
    server = serve(planning(WITHOUT))
    result, _ = await run(workspace, Goal("Do it", skills=("cataloging-apis", "writing-briefs")))
    again = server.asked("decomposer")[1].user
    assert "no task uses the skill 'cataloging-apis'" in again
    assert "no task uses the skill 'writing-briefs'" in again
    assert len(unused(result)) == 2
