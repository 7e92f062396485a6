"""The layers of a call: retries, fallbacks, budgets and remembered capabilities."""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING

import pytest

from goalwright.models.budget import Budget, BudgetedModel
from goalwright.models.fallback import FallbackModel
from goalwright.models.litellm.capabilities import Capabilities
from goalwright.models.litellm.prompted_tools import with_calls, without_tools
from goalwright.models.retry import RetryingModel, RetryPolicy
from goalwright_planner.errors import (
    BudgetSpent,
    CallTimedOut,
    KeyRefused,
    ModelError,
    RateLimited,
    ServerFailed,
    UnknownModel,
    Unreachable,
)
from goalwright_planner.events import CallRetried, Warned
from goalwright_planner.model import Message, Reply, Request, ToolCall, ToolSpec, Usage
from tests.fakes import Recorder, ScriptedModel, saying

if TYPE_CHECKING:
    from pathlib import Path

REQUEST = Request((Message("system", "be brief"), Message("user", "hi")), task="t")
QUICK = RetryPolicy(seconds=0.3, first_wait=0.001, longest_wait=0.01)


async def test_a_transient_failure_is_retried_and_reported() -> None:
    record = Recorder()
    model = saying(ServerFailed("oops"), Unreachable("gone"), "back")
    reply = await RetryingModel(model, QUICK, record).complete(REQUEST)
    assert reply.text == "back"
    retries = [event for event in record.events if isinstance(event, CallRetried)]
    assert [(event.attempt, event.reason, event.task) for event in retries] == [(1, "oops", "t"), (2, "gone", "t")]


@pytest.mark.parametrize(("error", "attempts"), [(ServerFailed("x"), 5), (CallTimedOut("x"), 2), (KeyRefused("x"), 1)])
async def test_attempts_are_limited_and_refusals_not_retried(error: ModelError, attempts: int) -> None:
    model = saying(error)
    with pytest.raises(type(error)):
        await RetryingModel(model, QUICK, Recorder()).complete(REQUEST)
    assert len(model.asked) == attempts


@pytest.mark.slow
async def test_rate_limits_do_not_count_as_failures() -> None:
    asked_to_wait = [RateLimited("slow", retry_after=0.001)] * 6
    model = saying(*asked_to_wait, ServerFailed("oops"), *asked_to_wait, "back")
    reply = await RetryingModel(model, RetryPolicy(seconds=20, first_wait=0.001), Recorder()).complete(REQUEST)
    assert reply.text == "back"


async def test_a_rate_limit_is_bounded_by_time() -> None:
    model = saying(RateLimited("slow"))
    began = time.monotonic()
    with pytest.raises(RateLimited):
        await RetryingModel(model, QUICK, Recorder()).complete(REQUEST)
    assert len(model.asked) > 1
    assert time.monotonic() - began < 60


async def test_no_attempt_is_made_before_retry_after_has_passed() -> None:
    record = Recorder()
    began = time.monotonic()
    patience = RetryPolicy(seconds=5, first_wait=0.001)
    await RetryingModel(saying(RateLimited("slow", retry_after=0.2), "ok"), patience, record).complete(REQUEST)
    assert time.monotonic() - began >= 0.2
    impatient = saying(RateLimited("slow", retry_after=60))
    with pytest.raises(RateLimited):
        await RetryingModel(impatient, QUICK, record).complete(REQUEST)
    assert len(impatient.asked) == 1


async def test_the_last_failure_is_raised_if_no_fallback_answers() -> None:
    record = Recorder()
    models = (saying(KeyRefused("first")), saying(KeyRefused("second")))
    with pytest.raises(KeyRefused, match="second"):
        await FallbackModel(models, record).complete(REQUEST)
    assert [event.message for event in record.events if isinstance(event, Warned)] == [
        "first; falling back to scripted"
    ]


async def test_unknown_model_is_called_and_reported_once() -> None:
    record = Recorder()
    nobody, other = ScriptedModel(lambda _: UnknownModel("no such"), name="nobody"), saying("ok")
    model = FallbackModel((nobody, other), record)
    assert (await model.complete(REQUEST)).text == "ok"
    await asyncio.gather(*(model.complete(REQUEST) for _ in range(3)))
    assert (len(nobody.asked), len(other.asked)) == (1, 4)
    warnings = [event.message for event in record.events if isinstance(event, Warned)]
    assert warnings == ["no such; falling back to scripted for the rest of the run"]


async def test_failed_model_is_tried_again_for_the_next_call() -> None:
    first = ScriptedModel(lambda _: KeyRefused("not now"), name="first")
    model = FallbackModel((first, saying("ok")), Recorder())
    for _ in range(2):
        await model.complete(REQUEST)
    assert len(first.asked) == 2


async def test_no_call_starts_once_the_budget_is_spent() -> None:
    budget = Budget(max_tokens=50)
    model = saying(Reply("x", usage=Usage(1, 46, 5)))
    metered = BudgetedModel(model, budget, Recorder())
    await metered.complete(REQUEST)
    with pytest.raises(BudgetSpent, match="51 of 50 tokens"):
        await metered.complete(REQUEST)
    assert len(model.asked) == 1


def test_capabilities_are_cached_until_old_or_invalid(tmp_path: Path) -> None:
    path = tmp_path / "cache" / "models.json"
    first = Capabilities(path)
    known = first.of("m")
    assert known.step_down()
    assert known.step_down()
    assert not known.step_down()
    known.tools = False
    first.save("m")
    again = Capabilities(path).of("m")
    assert (again.format, again.tools) == ("prompt", False)
    assert Capabilities(path).of("other").format == "json_schema"
    rows = json.loads(path.read_text(encoding="utf-8"))
    rows["m"]["at"] -= 30 * 86_400
    path.write_text(json.dumps(rows), encoding="utf-8")
    assert Capabilities(path).of("m").format == "json_schema"
    for nonsense in ("{", "[]", '{"m": 5}'):
        path.write_text(nonsense, encoding="utf-8")
        assert Capabilities(path).of("m").tools


def test_unwritable_cache_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    capabilities = Capabilities(tmp_path / "file" / "models.json")
    capabilities.of("m").step_down()
    capabilities.save("m")
    assert capabilities.of("m").format == "json_object"


def test_tools_are_described_in_the_prompt_and_calls_are_read_from_the_answer() -> None:
    tool = ToolSpec("ReadFile", "Reads.", {"type": "object"})
    history = (
        *REQUEST.messages,
        Message("assistant", "", tool_calls=(ToolCall("c", "ReadFile", '{"path": "x"}'),)),
        Message("tool", '{"text": "found"}', tool_call_id="c"),
    )
    plain = without_tools(Request(history, tools=(tool,)))
    assert plain.tools == ()
    assert [message.role for message in plain.messages] == ["system", "user", "assistant", "user"]
    assert plain.messages[0].content == "be brief"
    assert '"name": "ReadFile"' in plain.messages[1].content
    assert "found" in plain.messages[3].content
    asking = Request(REQUEST.messages, tools=(tool,))
    called = with_calls(Reply('```json\n{"tool": "ReadFile", "arguments": {"path": "y"}}\n```'), asking)
    assert [(call.name, call.arguments) for call in called.tool_calls] == [("ReadFile", '{"path": "y"}')]
    for text in ("plain words", '{"tool": "Unknown"}', '{"other": 1}', "[1]"):
        assert with_calls(Reply(text), asking).tool_calls == ()
