"""The usage of every call is known; values that the provider does not report are estimated."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from goalwright.models.litellm import lifecycle
from goalwright.models.litellm.model import LitellmModel
from goalwright.models.litellm.prices import Price, PriceList
from goalwright.models.metered import MeteredModel, spent_by
from goalwright.models.retry import RetryingModel, RetryPolicy
from goalwright.settings.convert import ModelPrice
from goalwright_planner.errors import CallTimedOut, ModelError, ServerFailed, Unreachable
from goalwright_planner.model import Message, Reply, Request, Usage
from tests.openai_server import Call, Drop, Fail, OpenAIServer, Write
from tests.stingy_provider import EVENTS, JSON, LEFT_OUT, MODEL, document, stream, whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.openai_server import Answer, Script

    Serve = Callable[[Script], OpenAIServer]

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")]

TEXT = "Nine words that say what everyone knows about cats."
ASKED = Request((Message("system", "Be brief."), Message("user", "Tell me about cats. " * 20)))
PROMPT_TOKENS, ANSWER_TOKENS = 90, 10  # about what tokenizers count
QUICK = RetryPolicy(seconds=0.3, first_wait=0.001, longest_wait=0.01)


def streamed(heard: list[str] | None = None) -> Request:
    return Request(ASKED.messages, on_text=(heard if heard is not None else []).append)


async def ask(server_says: Script, serve: Serve, request: Request = ASKED, **parts: Any) -> Reply:
    serve(server_says)
    try:
        return await MeteredModel(LitellmModel(MODEL, **parts)).complete(request)
    finally:
        await lifecycle.close()


def assert_estimated(usage: Usage) -> None:
    assert (usage.calls, usage.estimated_calls) == (1, 1)
    assert PROMPT_TOKENS <= usage.prompt_tokens <= 4 * PROMPT_TOKENS
    assert ANSWER_TOKENS <= usage.completion_tokens <= 4 * ANSWER_TOKENS


MISSING = {
    "left out": LEFT_OUT,
    "null": None,
    "empty": {},
    "zeros": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    "negative": {"prompt_tokens": -50, "completion_tokens": -5, "total_tokens": -55},
    "null figures": {"prompt_tokens": None, "completion_tokens": None, "total_tokens": None},
}


@pytest.mark.parametrize("how", ["whole", "stream"])
@pytest.mark.parametrize("usage", MISSING.values(), ids=MISSING.keys())
async def test_unreported_usage_is_estimated(usage: Any, how: str, serve: Serve) -> None:
    def script(call: Call) -> Answer:
        return stream(call, TEXT, usage=usage) if how == "stream" else whole(document(call, TEXT, usage))

    reply = await ask(script, serve, streamed() if how == "stream" else ASKED)
    assert reply.text == TEXT
    assert_estimated(reply.usage)
    assert reply.cost == pytest.approx(reply.usage.prompt_tokens * 0.15e-6 + reply.usage.completion_tokens * 0.6e-6)


@pytest.mark.parametrize("how", ["whole", "stream"])
async def test_reported_usage_is_unchanged(how: str, serve: Serve) -> None:
    usage = {"prompt_tokens": 77, "completion_tokens": 9, "total_tokens": 86}

    def script(call: Call) -> Answer:
        return stream(call, TEXT, usage=usage) if how == "stream" else whole(document(call, TEXT, usage))

    reply = await ask(script, serve, streamed() if how == "stream" else ASKED)
    assert reply.usage == Usage(1, 77, 9)
    assert reply.cost == pytest.approx(77 * 0.15e-6 + 9 * 0.6e-6)


async def test_only_missing_usage_is_estimated(serve: Serve) -> None:
    reply = await ask(lambda call: whole(document(call, TEXT, {"prompt_tokens": 77})), serve)
    assert reply.usage.prompt_tokens == 77
    assert reply.usage.estimated_calls == 1
    assert reply.usage.completion_tokens >= ANSWER_TOKENS
    reply = await ask(lambda call: whole(document(call, TEXT, {"prompt_tokens": 0, "completion_tokens": 9})), serve)
    assert reply.usage.completion_tokens == 9
    assert reply.usage.estimated_calls == 1
    assert reply.usage.prompt_tokens >= PROMPT_TOKENS


async def test_reported_total_is_not_lowered(serve: Serve) -> None:
    usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 50_000}
    reply = await ask(lambda call: whole(document(call, TEXT, usage)), serve)
    assert reply.usage.tokens == 50_000, "the rest of the total is the answer's: thoughts, for example"
    assert reply.usage.estimated_calls == 1


async def test_an_empty_answer_has_no_tokens(serve: Serve) -> None:
    usage = {"prompt_tokens": 77, "completion_tokens": 0, "total_tokens": 77}
    reply = await ask(lambda call: whole(document(call, "", usage)), serve)
    assert reply.usage == Usage(1, 77, 0)


async def test_tool_calls_are_part_of_the_answer(serve: Serve) -> None:
    call_of_tool = {"id": "1", "type": "function", "function": {"name": "ReadFile", "arguments": '{"path": "a.md"}'}}
    reply = await ask(lambda call: whole(document(call, "", None, tool_calls=[call_of_tool])), serve)
    assert reply.tool_calls[0].name == "ReadFile"
    assert reply.usage.completion_tokens > 5


def _cut(call: Call) -> Answer:
    body = document(call, TEXT)
    return whole(body[: len(body) - 40])


def _shorter_than_said(call: Call) -> Answer:
    body = document(call, TEXT)
    return whole(body[: len(body) - 40], length=len(body))


def _reset_after_headers(_: Call) -> Answer:
    return Write((JSON + b"content-length: 5000\r\n\r\n", b'{"id": '), reset=True)


def _nothing(_: Call) -> Answer:
    return whole(b"")


def _unusable(call: Call) -> Answer:
    return whole(document(call, TEXT, {"prompt_tokens": "many", "completion_tokens": "few"}))


BREAKS = {
    "cut": _cut,
    "shorter": _shorter_than_said,
    "reset": _reset_after_headers,
    "empty": _nothing,
    "dropped": lambda _: Drop(),
}


@pytest.mark.parametrize("script", BREAKS.values(), ids=BREAKS.keys())
async def test_broken_answer_counts_its_received_part(script: Script, serve: Serve) -> None:
    with pytest.raises(ModelError) as failed:
        await ask(script, serve)
    spent = spent_by(failed.value)
    assert spent is not None
    assert spent.usage.prompt_tokens >= PROMPT_TOKENS
    assert spent.usage.estimated_calls == spent.usage.calls == 1
    assert spent.cost is not None
    assert spent.cost > 0
    if script is _cut:
        assert spent.usage.completion_tokens >= ANSWER_TOKENS


async def test_unreadable_usage_still_costs(serve: Serve) -> None:
    with pytest.raises(ModelError) as failed:
        await ask(_unusable, serve)
    assert spent_by(failed.value) is not None


ENDS = {
    "no finish reason": {"finish": None},
    "no finish reason and no end": {"finish": None, "done": False},
    "reset": {"finish": None, "done": False, "reset": True},
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS.keys())
async def test_early_end_of_a_stream_is_counted_and_retried(end: dict[str, Any], serve: Serve) -> None:
    server = serve(lambda call: stream(call, TEXT, **end))
    with pytest.raises(ModelError) as failed:
        await MeteredModel(LitellmModel(MODEL)).complete(streamed())
    assert len(server.calls) == 1
    spent = spent_by(failed.value)
    assert spent is not None
    assert_estimated(spent.usage)
    await lifecycle.close()


async def test_cut_stream_of_tool_calls_is_counted(serve: Serve) -> None:
    arguments = '{"path": "a rather long path to a file that nobody has"}'
    tool = {"index": 0, "id": "1", "type": "function", "function": {"name": "ReadFile", "arguments": arguments}}
    server = serve(lambda call: stream(call, deltas=({"role": "assistant", "tool_calls": [tool]},), finish=None))
    with pytest.raises(ServerFailed) as failed:
        await MeteredModel(LitellmModel(MODEL)).complete(streamed())
    spent = spent_by(failed.value)
    assert spent is not None
    assert spent.usage.completion_tokens > 10
    assert len(server.calls) == 1
    await lifecycle.close()


async def test_stream_with_a_finish_reason_is_complete_without_done(serve: Serve) -> None:
    reply = await ask(lambda call: stream(call, TEXT, done=False), serve, streamed())
    assert reply.text == TEXT
    assert_estimated(reply.usage)


async def test_broken_stream_is_retried_without_streaming(serve: Serve) -> None:
    heard: list[str] = []
    server = serve(
        lambda call: stream(call, "Nine words", finish=None) if call.body.get("stream") else whole(document(call, TEXT))
    )
    model = RetryingModel(MeteredModel(LitellmModel(MODEL)), QUICK, lambda _: None)
    assert (await model.complete(streamed(heard))).text == TEXT
    assert (await model.complete(streamed(heard))).text == TEXT
    assert [bool(call.body.get("stream")) for call in server.calls] == [True, False, False]
    await lifecycle.close()


async def test_gateway_without_streaming_is_retried_without_it(serve: Serve) -> None:
    server = serve(lambda call: whole(document(call, TEXT)))
    model = RetryingModel(MeteredModel(LitellmModel(MODEL)), QUICK, lambda _: None)
    assert (await model.complete(streamed())).text == TEXT
    assert len(server.calls) <= 2
    await lifecycle.close()


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503])
async def test_a_refused_call_costs_nothing(status: int, serve: Serve) -> None:
    with pytest.raises(ModelError) as failed:
        await ask(lambda _: Fail(status), serve)
    assert spent_by(failed.value) is None


async def test_unsent_call_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_BASE", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    with pytest.raises(Unreachable) as failed:
        await MeteredModel(LitellmModel(MODEL)).complete(ASKED)
    assert spent_by(failed.value) is None
    await lifecycle.close()


async def test_timed_out_call_counts_its_prompt(serve: Serve) -> None:
    with pytest.raises(CallTimedOut) as failed:
        await ask(lambda _: Write((EVENTS, *[b": wait\n\n"] * 200)), serve, streamed(), timeout=0.5)
    spent = spent_by(failed.value)
    assert spent is not None
    assert spent.usage.prompt_tokens >= PROMPT_TOKENS


async def test_cancelled_call_counts_prompt_and_received_text(serve: Serve) -> None:
    heard = asyncio.Event()
    serve(lambda call: Write((*stream(call, TEXT, finish=None).pieces[:-1], *[b": wait\n\n"] * 500)))
    model = MeteredModel(LitellmModel(MODEL))
    listening = Request(ASKED.messages, on_text=lambda text: heard.set() if text == TEXT else None)
    work = asyncio.ensure_future(model.complete(listening))
    await heard.wait()
    work.cancel()
    with pytest.raises(asyncio.CancelledError) as cancelled:
        await work
    spent = spent_by(cancelled.value)
    assert spent is not None
    assert_estimated(spent.usage)
    await lifecycle.close()


async def test_own_price_applies_to_estimates_and_broken_calls(serve: Serve) -> None:
    prices = PriceList({MODEL: ModelPrice(100.0, 1000.0)})
    serve(lambda call: whole(document(call, TEXT)))
    reply = await MeteredModel(LitellmModel(MODEL), prices).complete(ASKED)
    assert reply.cost == pytest.approx(reply.usage.prompt_tokens * 1e-4 + reply.usage.completion_tokens * 1e-3)
    serve(_cut)
    with pytest.raises(ModelError) as failed:
        await MeteredModel(LitellmModel(MODEL), prices).complete(ASKED)
    spent = spent_by(failed.value)
    assert spent is not None
    assert spent.cost == Price(1e-4, 1e-3).of(spent.usage)
    await lifecycle.close()
