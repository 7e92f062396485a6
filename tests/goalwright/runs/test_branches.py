"""Branches: tasks that are not needed, joins behind them, and the branch for a failure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from goalwright_planner.events import ConditionChecked, TaskStarted, Warned
from goalwright_planner.plan.plan import Plan
from tests.goalwright.runs.adaptive import REFUSED, Adaptive, holds, llm, outputs, planned, statuses

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def adaptive(workspace: Path) -> Adaptive:
    return Adaptive(workspace)


def choice(task: str, chooser: str, **more: Any) -> dict[str, Any]:
    """A branch that runs if the chooser names it."""
    return llm(task, chooser, when=f'<<{chooser}.output>> == "{task}"', **more)


@pytest.mark.parametrize("chosen", ["left", "right"])
async def test_airflow_7885_a_join_after_two_branches_runs_whichever_is_taken(adaptive: Adaptive, chosen: str) -> None:
    plan = planned(
        llm("choose"), choice("left", "choose"), choice("right", "choose"), llm("next", "right"),
        llm("join", "left", "next"), llm("after", "join"),
    )  # fmt: skip
    result = await adaptive.run(plan, {"choose": chosen})
    assert (result.status, result.error) == ("done", None)
    taken = {"left": {"left"}, "right": {"right", "next"}}[chosen]
    assert {task for task, status in statuses(result).items() if status == "done"} == {
        "choose", "join", "after", *taken
    }  # fmt: skip
    assert {status for task, status in statuses(result).items() if task not in taken} == {"done", "unneeded"}
    assert {task.error for task in result.tasks} == {None}


@pytest.mark.parametrize("chosen", ["a", "join"])
async def test_airflow_11768_a_join_with_an_edge_past_the_branch_waits_for_it(adaptive: Adaptive, chosen: str) -> None:
    plan = planned(llm("branch"), choice("a", "branch"), llm("join", "branch", "a"))
    result = await adaptive.run(plan, {"branch": chosen})
    assert statuses(result) == {"branch": "done", "a": "done" if chosen == "a" else "unneeded", "join": "done"}
    if chosen == "a":
        assert "Do a done" in adaptive.model.asked[-1].messages[-1].content, "it waited for a, and was given its result"


@pytest.mark.parametrize("chosen", ["foo", "bar"])
async def test_airflow_46297_a_join_behind_branches_that_fan_out_runs(adaptive: Adaptive, chosen: str) -> None:
    each = {"for_each": "<<start.output>>", "instruction": "Do <<item>>"}
    plan = planned(
        llm("start"), llm("branching", "start"),
        llm("foo", "start", "branching", when='<<branching.output>> == "foo"', **each),
        llm("bar", "start", "branching", when='<<branching.output>> == "bar"', **each),
        llm("finalize", "foo", "bar", instruction="<<foo.output>><<bar.output>>"),
        llm("finalize_all", "finalize"),
    )  # fmt: skip
    result = await adaptive.run(plan, {"start": "[1, 2, 3]", "branching": chosen})
    found = statuses(result)
    assert (result.status, found["finalize"], found["finalize_all"]) == ("done", "done", "done")
    assert (found["foo"], found["bar"]) == (("done", "unneeded") if chosen == "foo" else ("unneeded", "done"))
    assert sorted(task for task in found if task.startswith(chosen)) == [chosen, *(f"{chosen}[{n}]" for n in (1, 2, 3))]
    assert outputs(result)["finalize"] == "### 1\n\nDo 1 done\n\n### 2\n\nDo 2 done\n\n### 3\n\nDo 3 done done"


@pytest.mark.parametrize(
    ("first", "second", "runs"),
    [("branch2", "deadend", False), ("branch2", "dummy", True), ("problematic", "", True)],
)
async def test_airflow_55187_a_branch_point_that_succeeded_is_no_reason_to_run(
    adaptive: Adaptive, first: str, second: str, runs: bool
) -> None:
    plan = planned(
        llm("branch1"), choice("branch2", "branch1"), choice("deadend", "branch2"), choice("dummy", "branch2"),
        llm("problematic", "branch1", "dummy",
            when='<<branch1.output>> == "problematic" or <<dummy.status>> == "done"'),
    )  # fmt: skip
    result = await adaptive.run(plan, {"branch1": first, "branch2": second})
    assert result.status == "done"
    assert statuses(result)["problematic"] == ("done" if runs else "unneeded")


async def test_a_task_with_only_unneeded_dependencies_is_unneeded(adaptive: Adaptive) -> None:
    plan = planned(
        llm("a"), llm("b", "a", when="<<a.output>> is empty"), llm("c", "a", when="1 == 2"), llm("d", "b", "c"),
        llm("e", "d"), llm("f", "d", "a"),
    )  # fmt: skip
    result = await adaptive.run(plan)
    assert statuses(result) == {
        "a": "done", "b": "unneeded", "c": "unneeded", "d": "unneeded", "e": "unneeded", "f": "done",
    }  # fmt: skip
    assert result.status == "done"
    assert adaptive.asked == ["a", "f", "synthesis"]
    started = {event.task for event in adaptive.record.events if isinstance(event, TaskStarted)}
    assert started == {"a", "f"}
    assert {task.attempts for task in result.tasks if task.status == "unneeded"} == {0}


async def test_a_reference_to_an_unneeded_task_is_empty_text(adaptive: Adaptive) -> None:
    plan = planned(
        llm("a"), llm("b", "a", when="1 == 2"), llm("c", "a", "b", instruction="[<<b.output>>] <<a.output>>")
    )
    result = await adaptive.run(plan)
    assert outputs(result)["c"] == "[] Do a done done"
    assert '<result task="b"' not in adaptive.model.asked[-1].messages[-1].content


async def test_an_unneeded_dependency_is_not_listed_among_the_results(adaptive: Adaptive) -> None:
    plan = planned(llm("a"), llm("b", "a", when="1 == 2"), llm("c", "a", "b"))
    await adaptive.run(plan)
    content = adaptive.model.asked[-1].messages[-1].content
    assert '<result task="a"' in content
    assert '<result task="b"' not in content


async def test_a_fallback_branch_runs_only_after_a_failure(adaptive: Adaptive) -> None:
    plan = planned(
        llm("fetch"), llm("use", "fetch"), llm("fallback", "fetch", when='<<fetch.status>> == "failed"'),
        llm("end", "use", "fallback", when='<<use.status>> == "done" or <<fallback.status>> == "done"'),
    )  # fmt: skip
    result = await adaptive.run(plan, {"fetch": REFUSED})
    assert statuses(result) == {"fetch": "failed", "use": "skipped", "fallback": "done", "end": "done"}
    assert (result.status, result.error, result.code) == ("done", None, None)
    assert "Missing" not in (result.answer or "")
    (warned,) = (event.message for event in adaptive.record.events if isinstance(event, Warned))
    assert warned == "task 'fetch' failed, and task 'fallback' handled that: not now"
    result = await adaptive.run(plan)
    assert statuses(result) == {"fetch": "done", "use": "done", "fallback": "unneeded", "end": "done"}
    assert result.status == "done"


async def test_unhandled_failures_make_the_run_partial(
    adaptive: Adaptive,
) -> None:
    branch = llm("branch", "fetch", when='<<fetch.status>> == "failed"')
    result = await adaptive.run(planned(llm("fetch"), branch), {"fetch": REFUSED, "branch": REFUSED})
    assert (result.status, result.answer) == ("failed", None)
    result = await adaptive.run(planned(llm("a"), llm("fetch"), branch), {"fetch": REFUSED, "branch": REFUSED})
    assert result.status == "partial"
    other = llm("branch", "fetch", when='<<fetch.status>> == "skipped"')
    result = await adaptive.run(planned(llm("a"), llm("fetch"), other), {"fetch": REFUSED})
    assert (result.status, statuses(result)["branch"]) == ("partial", "unneeded")
    result = await adaptive.run(planned(llm("fetch"), branch, llm("use", "fetch")), {"fetch": REFUSED})
    assert result.status == "partial"
    assert "fetch: not now" not in (result.error or "")
    assert "use: it depends on 'fetch', which failed" in (result.error or "")


async def test_the_failure_of_an_item_can_be_handled(adaptive: Adaptive) -> None:
    each = llm("each", for_each=["a", "b"], instruction="Do <<item>>")
    branch = llm("branch", "each", when='<<each[2].status>> == "failed"')
    result = await adaptive.run(planned(each, branch), {"each[2]": REFUSED})
    assert (result.status, result.error) == ("done", None)
    result = await adaptive.run(planned(each, branch), {"each[1]": REFUSED, "each[2]": REFUSED})
    assert (result.status, statuses(result)["branch"]) == ("partial", "done")
    whole = llm("branch", "each", when='<<each.status>> == "failed"')
    result = await adaptive.run(planned(each, whole), {"each[1]": REFUSED, "each[2]": REFUSED})
    assert (result.status, result.error) == ("done", None)


async def test_a_fallback_is_skipped_if_something_else_that_it_needs_failed(adaptive: Adaptive) -> None:
    plan = planned(llm("a"), llm("b"), llm("c", "a", "b", when='<<a.status>> == "failed"'))
    result = await adaptive.run(plan, {"a": REFUSED, "b": REFUSED})
    assert [task.error for task in result.tasks if task.id == "c"] == ["it depends on 'b', which failed"]


async def test_a_successful_retry_makes_the_fallback_unneeded(adaptive: Adaptive) -> None:
    plan = planned(
        llm("a"), llm("b", "a", when='<<a.status>> == "failed"'), llm("c", "a", "b", when="<<b.status>> != 1")
    )
    result = await adaptive.run(plan, {"a": REFUSED})
    assert statuses(result) == {"a": "failed", "b": "done", "c": "skipped"}
    result = await adaptive.resume()
    assert statuses(result) == {"a": "done", "b": "unneeded", "c": "done"}
    assert adaptive.asked == ["a", "c"]
    assert result.status == "done"


@pytest.mark.parametrize("value", [True, False])
async def test_a_condition_is_asked_once_across_resumes(adaptive: Adaptive, value: bool) -> None:
    plan = planned(
        llm("draft"), llm("legal", "draft", when={"ask": "Does this name a person: <<draft.output>>?"}),
        llm("end", "draft", "legal"),
    )  # fmt: skip
    result = await adaptive.run(plan, {"when legal": holds(value, "it names nobody"), "end": REFUSED})
    assert result.status == "partial"
    checked = [event for event in adaptive.record.events if isinstance(event, ConditionChecked)]
    assert [(event.task, event.holds, event.why) for event in checked] == [("legal", value, "it names nobody")]
    assert result.usage.calls == (3 if value else 2)
    result = await adaptive.resume()
    assert statuses(result) == {"draft": "done", "legal": "done" if value else "unneeded", "end": "done"}
    assert adaptive.asked == ["end"]
    assert result.cost_usd == pytest.approx(0.04 if value else 0.03), "the question is counted"


async def test_an_invalid_condition_answer_fails_the_task(adaptive: Adaptive) -> None:
    plan = planned(llm("a"), llm("b", "a", when={"ask": "Is it?"}))
    result = await adaptive.run(plan, {"when b": "Hm."})
    assert result.status == "partial"
    assert "did not say whether the condition holds: the answer is prose" in (result.error or "")
    result = await adaptive.resume({"when b": holds(True)})
    assert (result.status, adaptive.asked) == ("done", ["b", "when b"])


def test_a_plan_of_tools_with_a_question_needs_a_model() -> None:
    row = {"id": "a", "action_type": "tool", "name": "t_x", "arguments": {}, "depends_on": []}
    assert not Plan.from_dict({"tasks": [row]}).needs_model
    assert Plan.from_dict({"tasks": [{**row, "when": {"ask": "Is it?"}}]}).needs_model


async def test_a_run_in_which_nothing_is_needed_is_done(adaptive: Adaptive) -> None:
    result = await adaptive.run(planned(llm("a", when="1 == 2"), llm("b", "a"), synthesis="all"))
    assert (result.status, result.error) == ("done", None)
    assert result.answer == "Nothing had to be done: the conditions of the tasks do not hold."
    assert adaptive.asked == []


async def test_the_answer_is_the_last_result_if_the_final_task_is_not_needed(adaptive: Adaptive) -> None:
    result = await adaptive.run(planned(llm("review"), llm("fix", "review", when="<<review.output>> is empty")))
    assert (result.status, result.answer) == ("done", "Do review done")


async def test_a_budget_stops_at_a_question_and_the_run_goes_on_with_more(adaptive: Adaptive) -> None:
    plan = planned(llm("a"), llm("b", "a", when={"ask": "Is it?"}))
    result = await adaptive.run(plan, {"when b": holds(True)}, max_cost=0.02)
    assert result.status == "stopped"
    result = await adaptive.resume({"when b": holds(True)}, max_cost=1.0)
    assert result.status == "done"
