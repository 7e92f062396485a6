"""The messages between goalwright and a call process."""

from __future__ import annotations

import asyncio

import pytest

from goalwright.models.call_process import messages
from goalwright.models.call_process.messages import CallFailure, ModelCall
from goalwright_planner.errors import ModelError, RateLimited
from goalwright_planner.model import Message, Request, ToolCall, ToolSpec

MODEL = "openai/test-model"


async def received(raw: bytes) -> object:
    reader = asyncio.StreamReader()
    reader.feed_data(raw)
    reader.feed_eof()
    return await messages.read(reader, messages.TO_PROCESS)


async def test_request_is_sent_without_callbacks() -> None:
    request = Request(
        (Message("assistant", "é", (ToolCall("1", "look_up", "{}"),)), Message("tool", "x", tool_call_id="1")),
        (ToolSpec("look_up", "Looks up.", {"type": "object"}),),
        may_call_tools=False,
        schema={"type": "string"},
        role="checker",
        task="a",
        on_text=lambda _: None,
        key="secret",
        about="secret",
        max_tokens=7,
    )
    call = await received(messages.frame(ModelCall.of(3, MODEL, request)))
    assert isinstance(call, ModelCall)
    assert (call.id, call.model, call.stream) == (3, MODEL, True)
    assert call.request == request
    assert (call.request.on_text, call.request.key, call.request.about) == (None, "", None)
    assert call.request.max_tokens == 7


def test_error_keeps_its_class_and_values() -> None:
    error = CallFailure.of(1, RateLimited("slow down", hint="wait", model=MODEL, retry_after=3.0)).error
    assert (type(error), error.message, error.hint, error.model) == (RateLimited, "slow down", "wait", MODEL)
    assert isinstance(error, RateLimited)
    assert error.retry_after == 3.0


@pytest.mark.parametrize("kind", ["os.system", "PlanError", "GoalwrightError", ""])
def test_unknown_error_class_becomes_a_model_error(kind: str) -> None:
    assert type(CallFailure(1, kind, "x").error) is ModelError


def test_lone_surrogate_is_refused() -> None:
    with pytest.raises(ModelError, match="surrogates not allowed"):
        messages.frame(ModelCall.of(1, MODEL, Request((Message("user", "\ud800"),))))


@pytest.mark.parametrize("raw", [b"", b"\xff\xff\xff\xff", b"\x00\x00\x00\x02[]", b"\x00\x00\x00\x04junk"])
async def test_invalid_message_ends_the_connection(raw: bytes) -> None:
    assert await received(raw) is None
