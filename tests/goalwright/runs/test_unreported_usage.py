"""Budgets hold for what providers do not report, and for answers that break off, against a real server."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from goalwright.batch.options import BatchOptions
from goalwright.batch.run_batch import run_batch
from goalwright.models.call_process.pool import PoolModel, WorkerPool
from goalwright.runs.goal import Goal
from goalwright.runs.runtime import Goalwright
from goalwright.settings.convert import ModelPrice
from goalwright.settings.settings import Settings
from goalwright.traces.timeline import timeline
from goalwright_planner.errors import UnknownPrice
from goalwright_planner.events import CallBroken, Warned
from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.task import Task
from tests.fakes import Recorder
from tests.goalwright.recorded import replayed, rows, store
from tests.openai_server import Say
from tests.stingy_provider import LEFT_OUT, MODEL, Bill, broken, unreported, words

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.openai_server import Answer, Call, OpenAIServer, Script

    Serve = Callable[[Script], OpenAIServer]

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")]

LIMIT = 0.002
ZEROS = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
USAGE = pytest.mark.parametrize("usage", [LEFT_OUT, ZEROS], ids=["left out", "zeros"])
UNKNOWN = "openai/test-model"


def plan(tasks: int) -> str:
    """So many tasks that wait for nothing."""
    rows = [{"id": f"t{n}", "action_type": "llm", "instruction": f"do {n}"} for n in range(tasks)]
    return json.dumps({"tasks": rows, "synthesis": "all"})


def answering(tasks: int) -> Callable[[Call], str]:
    """A plan of so many tasks, and two thousand tokens for each."""
    return lambda call: plan(tasks) if call.role == "decomposer" else words(call, 2_000)


def breaking_tasks(bill: Bill, tasks: int) -> Script:
    """A plan of so many tasks, none of which gets a whole answer."""
    answer = answering(tasks)
    whole, cut = unreported(bill, answer), broken(bill, answer)
    return lambda call: whole(call) if call.role == "decomposer" else cut(call)


def given(tasks: int) -> Goal:
    """A goal whose plan is given: all calls are those of its tasks."""
    return Goal("Write it", plan=Plan(tuple(Task(f"t{n}", "llm", instruction=f"do {n}") for n in range(tasks)), "all"))


async def run(
    workspace: Path, model: str = MODEL, *, goal: Goal | str = "Write everything", **settings: Any
) -> tuple[Any, Recorder]:
    record = Recorder()
    async with Goalwright(workspace, Settings(model=model, **settings)) as goalwright:
        return await goalwright.run(goal, record=record), record


@USAGE
async def test_a_provider_that_reports_no_usage_is_stopped_at_the_limit(
    workspace: Path, serve: Serve, usage: Any
) -> None:
    bill = Bill()
    serve(unreported(bill, answering(30), usage))
    result, record = await run(workspace, goal=given(30), max_cost=LIMIT)
    assert (result.status, result.code) == ("stopped", "BUDGET_SPENT")
    assert bill.dollars <= LIMIT
    assert 1 <= bill.calls < 10
    assert result.usage.estimated_calls == result.usage.calls == bill.calls
    assert bill.dollars <= result.cost_usd <= 1.5 * LIMIT
    said = [event.message for event in record.events if isinstance(event, Warned) and "estimated" in event.message]
    assert said == [f"{MODEL} does not report its usage: tokens are estimated from the text that was sent and received"]


async def test_answers_that_break_off_end_at_the_limit_instead_of_failing(workspace: Path, serve: Serve) -> None:
    bill = Bill()
    serve(breaking_tasks(bill, 7))
    result, record = await run(workspace, goal=given(7), max_cost=LIMIT)
    assert (result.status, result.code) == ("stopped", "BUDGET_SPENT")
    assert bill.dollars <= 1.5 * LIMIT
    lost = [event for event in record.events if isinstance(event, CallBroken)]
    assert lost
    assert all(event.usage.estimated_calls == 1 and event.cost for event in lost)
    assert result.usage.calls == bill.calls == result.usage.estimated_calls
    replay = await replayed(workspace, rows(workspace))
    assert (replay.result.usage, replay.result.cost_usd) == (result.usage, result.cost_usd)


async def test_what_a_broken_call_of_unknown_price_cost_is_unknown(workspace: Path, serve: Serve) -> None:
    serve(broken(Bill(), answering(1)))
    result, _ = await run(workspace, UNKNOWN, goal=given(1))
    assert (result.status, result.cost_usd) == ("failed", None)
    assert result.usage.estimated_calls == result.usage.calls > 0
    with closing(store(workspace)) as kept:
        assert [run.cost_usd for run in kept.summaries()] == [None]
    shown = timeline(rows(workspace)).to_dict()
    assert {row["cost_usd"] for row in shown["spans"]} == {None}


async def test_streams_that_end_early_count_each_time(workspace: Path, serve: Serve) -> None:
    bill = Bill()
    server = serve(broken(bill, answering(7)))
    result, _ = await run(workspace, max_cost=0.004)
    assert result.status == "stopped"
    assert bill.dollars <= 0.006
    assert server.calls[0].body.get("stream")
    assert result.usage.calls == bill.calls


async def test_without_a_limit_what_broke_off_is_part_of_the_cost(workspace: Path, serve: Serve) -> None:
    bill, left = Bill(), [2]
    fine, cut = unreported(bill, answering(1)), broken(bill, answering(1))

    def script(call: Call) -> Answer:
        if call.role == "task" and left[0]:
            left[0] -= 1
            return cut(call)
        return fine(call)

    serve(script)
    result, _ = await run(workspace)
    assert result.status == "done"
    assert result.usage.calls == bill.calls == 5
    assert result.cost_usd >= bill.dollars
    (summary,) = [json.loads(json.dumps(result.to_dict()))["usage"]]
    assert summary["estimated_calls"] == 5


WHOLE = {
    "tasks": [
        {"id": "a", "action_type": "llm", "instruction": "do a", "check": {"ask": "Is it good?"}},
        {"id": "b", "action_type": "llm", "instruction": "do b", "depends_on": ["a"], "when": {"ask": "Is it so?"}},
        {"id": "g", "action_type": "goal", "instruction": "reach g", "depends_on": ["b"]},
    ],
    "synthesis": "all",
}


async def test_planners_judges_conditions_sub_goals_and_syntheses_are_all_estimated(
    workspace: Path, serve: Serve
) -> None:
    def answer(call: Call) -> str:
        match call.role:
            case "decomposer":
                return plan(2) if "reach g" in call.user.rpartition("<goal>")[2] else json.dumps(WHOLE)
            case "condition" | "checker":
                return '{"holds": true, "why": "it is"}'
            case _:
                return "done"

    server = serve(unreported(Bill(), answer))
    result, _ = await run(workspace)
    assert result.status == "done", result.error
    assert {"decomposer", "task", "condition", "checker", "synthesis"} <= {call.role for call in server.calls}
    assert result.usage.calls == result.usage.estimated_calls == len(server.calls)
    replay = await replayed(workspace, rows(workspace))
    assert replay.result.usage == result.usage


async def test_a_sub_goal_with_a_limit_of_its_own_is_held_to_it(workspace: Path, serve: Serve) -> None:
    outer = {"tasks": [{"id": "g", "action_type": "goal", "instruction": "reach g", "max_cost": LIMIT}]}
    bill = Bill()

    def answer(call: Call) -> str:
        if call.role == "decomposer":
            return plan(10) if "reach g" in call.user.rpartition("<goal>")[2] else json.dumps(outer)
        return words(call, 2_000)

    serve(unreported(bill, answer))
    result, _ = await run(workspace, max_replans=0)
    assert result.status in ("partial", "failed")
    assert any("of $0.002" in (task.error or "") for task in result.tasks)
    assert bill.dollars <= 2 * LIMIT  # the outer plan has no limit


async def test_a_resumed_run_starts_with_what_was_estimated(workspace: Path, serve: Serve) -> None:
    bill = Bill()
    serve(unreported(bill, answering(30)))
    first, _ = await run(workspace, max_cost=LIMIT)
    calls = bill.calls
    async with Goalwright(workspace, Settings(model=MODEL, max_cost=LIMIT)) as goalwright:
        again = await goalwright.resume(first.run_id)
    assert (again.status, bill.calls) == ("stopped", calls)
    assert again.usage == first.usage


@USAGE
async def test_a_batch_is_stopped_at_its_limit(workspace: Path, serve: Serve, usage: Any) -> None:
    bill = Bill()
    serve(unreported(bill, answering(3), usage))
    options = BatchOptions(max_cost=LIMIT)
    report = await run_batch(
        [f"goal {n}" for n in range(10)], workspace / "out.jsonl", model=MODEL, workspace=workspace, options=options
    )
    assert report.stopped == "budget"
    assert bill.dollars <= LIMIT


async def test_a_batch_whose_answers_break_off_is_stopped_at_its_limit(workspace: Path, serve: Serve) -> None:
    bill = Bill()
    serve(breaking_tasks(bill, 3))
    options = BatchOptions(max_cost=LIMIT)
    report = await run_batch(
        [f"goal {n}" for n in range(10)], workspace / "out.jsonl", model=MODEL, workspace=workspace, options=options
    )
    assert report.stopped == "budget"
    assert bill.dollars <= 1.5 * LIMIT


async def test_a_process_that_makes_the_calls_says_what_broke_off(workspace: Path, serve: Serve) -> None:
    bill = Bill()
    serve(breaking_tasks(bill, 2))
    pool = WorkerPool(Settings(model=MODEL), workspace / "models.json", 1)
    record = Recorder()
    try:
        settings = Settings(model=MODEL, max_cost=LIMIT)
        async with Goalwright(workspace, settings, open_model=lambda name: PoolModel(name, pool)) as goalwright:
            result = await goalwright.run("Write everything", record=record)
    finally:
        await pool.close()
    assert result.code == "BUDGET_SPENT"
    assert bill.dollars <= 1.5 * LIMIT
    assert result.usage.calls == bill.calls


async def test_a_model_of_unknown_price_is_refused_before_the_first_call(workspace: Path, serve: Serve) -> None:
    server = serve(lambda _: Say("never"))
    with pytest.raises(UnknownPrice, match=UNKNOWN):
        await run(workspace, UNKNOWN, max_cost=1.0)
    with pytest.raises(UnknownPrice, match=UNKNOWN):
        await run(workspace, MODEL, fallback=(UNKNOWN,), max_cost=1.0)
    options = BatchOptions(max_cost=1.0)
    with pytest.raises(UnknownPrice, match=UNKNOWN):
        await run_batch(["one"], workspace / "out.jsonl", model=UNKNOWN, workspace=workspace, options=options)
    assert server.calls == []
    assert not (workspace / ".agents" / "journal.sqlite").exists() or rows_of_all(workspace) == 0


def rows_of_all(workspace: Path) -> int:
    """How many runs the journal has."""
    opened = store(workspace)
    try:
        return len(list(opened.summaries()))
    finally:
        opened.close()


async def test_an_unknown_price_that_is_allowed_is_assumed_and_reserved(workspace: Path, serve: Serve) -> None:
    bill = Bill()
    server = serve(unreported(bill, answering(30)))
    result, record = await run(workspace, UNKNOWN, max_cost=0.3, allow_unknown_cost=True)
    assert result.status == "stopped"
    assert result.cost_usd is None
    assert sum(bill.output) * 15e-6 <= 0.3
    assert all(call.body["max_tokens"] <= 4_096 for call in server.asked("task"))
    said = [event.message for event in record.events if isinstance(event, Warned) and "price" in event.message]
    assert said == [f"the price of {UNKNOWN} is unknown: the limit on cost counts its tokens at $15 per million"]
    none, _ = await run(workspace, UNKNOWN, max_cost=0.0002, allow_unknown_cost=True)
    assert (none.status, none.usage.calls) == ("stopped", 0), "what a call may cost is reserved before it leaves"


async def test_a_price_of_the_users_own_lets_the_budget_hold(workspace: Path, serve: Serve) -> None:
    bill = Bill()
    serve(unreported(bill, answering(30)))
    prices = {UNKNOWN: ModelPrice(0.15, 0.6)}
    result, _ = await run(workspace, UNKNOWN, max_cost=LIMIT, prices=prices)
    assert result.status == "stopped"
    assert bill.dollars <= LIMIT
    assert 0 < result.cost_usd <= 1.5 * LIMIT
    free, _ = await run(workspace, UNKNOWN, max_cost=LIMIT, prices={UNKNOWN: ModelPrice(0, 0)})
    assert (free.status, free.cost_usd) == ("done", 0.0)
    assert free.usage.estimated_calls == free.usage.calls
