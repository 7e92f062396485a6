"""Budgets of whole runs, against a real server: parallel tasks spend what is allowed, and the end says how much."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from goalwright.runs.runtime import Goalwright
from goalwright.settings.settings import Settings
from goalwright_planner.events import Warned
from tests.fakes import Recorder
from tests.openai_server import Answer, Call, OpenAIServer, Say, Script, scripted

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

Serve = Callable[[Script], OpenAIServer]
KNOWN, UNKNOWN = "openai/gpt-4o", "openai/test-model"
PROMPT, OUTPUT, ASSUMED = 2.5e-6, 10e-6, 15e-6


def plan(tasks: int) -> dict[str, Any]:
    """So many tasks that wait for nothing."""
    rows = [{"id": f"t{n}", "action_type": "llm", "instruction": f"do {n}"} for n in range(tasks)]
    return {"tasks": rows, "synthesis": "all"}


def wanting(tokens: int, *, heeds: bool) -> Script:
    """A task's answers have so many tokens, or as many as the call allows."""

    def answer(call: Call) -> Answer:
        most = call.body.get("max_tokens") or call.body.get("max_completion_tokens") or tokens
        return Say("done", tokens=(100, min(tokens, most) if heeds else tokens), after=0.01)

    return answer


async def run(workspace: Path, model: str, **limits: Any) -> tuple[Any, Recorder]:
    record = Recorder()
    async with Goalwright(workspace, Settings(model=model, **limits)) as goalwright:
        return await goalwright.run("Write everything", record=record), record


@pytest.mark.parametrize(("tasks", "limit"), [(16, 1.0), (64, 0.3)])  # more of both in `models/test_budget.py`
async def test_parallel_tasks_of_known_price_stay_below_the_limit(
    workspace: Path, serve: Serve, tasks: int, limit: float
) -> None:
    server = serve(scripted(plan(tasks), task=wanting(100_000, heeds=True)))
    result, _ = await run(workspace, KNOWN, max_cost=limit)
    assert result.status == "stopped"
    assert limit / 2 < result.cost_usd <= limit
    assert f"stopped at ${result.cost_usd:.4f} of ${limit:g} (max_cost)" in result.error
    assert all(call.body["max_tokens"] <= 16_384 for call in server.calls)


@pytest.mark.parametrize(("tasks", "model"), [(64, KNOWN), (16, UNKNOWN)])
async def test_a_provider_that_ignores_limits_exceeds_by_one_call(
    workspace: Path, serve: Serve, tasks: int, model: str
) -> None:
    server = serve(scripted(plan(tasks), task=wanting(100_000, heeds=False)))
    result, record = await run(workspace, model, max_cost=1.0, allow_unknown_cost=True)
    each = 100 * PROMPT + 100_000 * OUTPUT if model == KNOWN else 100_100 * ASSUMED
    spent = len(server.asked("task")) * each
    assert spent <= 1.0 + each
    assert result.status == "stopped"
    assert f"stopped at ${spent:.2f}" in result.error
    said = [event.message for event in record.events if isinstance(event, Warned)]
    assert any(("was allowed" if model == KNOWN else "is unknown") in one for one in said)


@pytest.mark.parametrize(("tasks", "model"), [(16, KNOWN), (64, UNKNOWN)])
async def test_tokens_are_reserved(workspace: Path, serve: Serve, tasks: int, model: str) -> None:
    serve(scripted(plan(tasks), task=wanting(9_000, heeds=True)))
    result, _ = await run(workspace, model, max_tokens=50_000)
    assert result.status == "stopped"
    assert result.usage.tokens <= (50_000 if model == KNOWN else 60_000)
    assert f"stopped at {result.usage.tokens:,} of 50,000 tokens" in result.error


async def test_a_sufficient_budget_changes_nothing(workspace: Path, serve: Serve) -> None:
    server = serve(scripted(plan(16), task=wanting(50, heeds=True)))
    result, _ = await run(workspace, KNOWN, max_cost=5.0)
    assert result.status == "done"
    plain = serve(scripted(plan(16), task=wanting(50, heeds=True)))
    await run(workspace, KNOWN)
    assert all("max_tokens" not in call.body for call in plain.calls)
    sent, before = (
        sorted(json.dumps({**call.body, "max_tokens": None}, sort_keys=True) for call in one.calls)
        for one in (server, plain)
    )
    assert sent == before


async def test_negative_usage_is_estimated_with_one_warning(workspace: Path, serve: Serve) -> None:
    serve(scripted(plan(3), task=lambda _: Say("done", tokens=(-50_000_000, -5))))
    result, record = await run(workspace, KNOWN, max_cost=1.0)
    used = result.usage
    assert min(used.calls, used.prompt_tokens, used.completion_tokens, used.cached_tokens) >= 0
    assert result.cost_usd >= 0
    warned = [event.message for event in record.events if isinstance(event, Warned)]
    assert used.estimated_calls == 3
    said = [message for message in warned if "does not report its usage" in message]
    assert len(said) == 1


def test_the_command_prints_the_cost(workspace: Path, serve: Serve, goalwright: Callable[..., Any]) -> None:
    serve(scripted(plan(16), task=wanting(100_000, heeds=True)))
    ran = goalwright("run", "--model", KNOWN, "--max-cost", "0.3", "--json", "Write everything", cwd=workspace)
    assert ran.status == 5
    document = json.loads(ran.out)
    assert document["cost_usd"] <= 0.3
    assert f"stopped at ${document['cost_usd']:.4f} of $0.3 (max_cost)" in document["error"]
