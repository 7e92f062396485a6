"""Streamed answers, and providers that cannot stream."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from goalwright.models.litellm import lifecycle
from goalwright.models.litellm.model import LitellmModel, StreamedAnswer, _respond
from goalwright_planner.model import Message, Request
from tests.openai_server import Say
from tests.provider_server import ProviderServer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

PRICED = ("openai/gpt-4o-mini", "anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-flash")


def chunk(content: str | None) -> Any:
    return SimpleNamespace(choices=[SimpleNamespace(delta=SimpleNamespace(content=content, tool_calls=None))])


class Stream:
    """A stream of chunks with an optional finish reason."""

    def __init__(self, pieces: Sequence[str | None], finish: str | None) -> None:
        self.pieces = pieces
        self.received_finish_reason = finish

    async def __aiter__(self) -> AsyncIterator[Any]:
        for piece in self.pieces:
            yield chunk(piece)


class Litellm:
    """Streams the given pieces; without streaming, returns the whole answer."""

    def __init__(self, *pieces: str | None, finish: str | None = "stop") -> None:
        self.pieces = pieces
        self.finish = finish
        self.asked: list[bool] = []

    async def acompletion(self, *, stream: bool = False, **_: Any) -> Any:
        self.asked.append(stream)
        return Stream(self.pieces, self.finish) if stream else "the whole"

    def stream_chunk_builder(self, chunks: list[Any], **_: Any) -> str:
        return "".join(one.choices[0].delta.content or "" for one in chunks)


def test_chunks_are_passed_on_and_joined() -> None:
    litellm, heard = Litellm("a", None, "b"), list[str]()
    assert asyncio.run(_respond(litellm, {"messages": []}, heard.append, StreamedAnswer())) == "ab"
    assert heard == ["", "a", "b"], "an empty piece says that the answer begins"
    assert litellm.asked == [True]


def test_stream_records_whether_it_is_complete_and_reports_usage() -> None:
    for pieces, finish, is_whole in ((("a",), "stop", True), (("half of",), None, False), ((None,), "stop", False)):
        answer = StreamedAnswer()
        asyncio.run(_respond(Litellm(*pieces, finish=finish), {"messages": []}, lambda _: None, answer))
        assert (answer.is_whole, answer.is_reported) == (is_whole, False)
        assert answer.text == "".join(filter(None, pieces))


def test_nothing_is_streamed_without_a_callback() -> None:
    litellm = Litellm("a")
    assert asyncio.run(_respond(litellm, {"messages": []}, None, StreamedAnswer())) == "the whole"
    assert litellm.asked == [False]


@pytest.mark.parametrize("name", [*PRICED, "openai/test-model", "ollama_chat/test-model"])
async def test_reply_of_a_stream_has_text_usage_and_cost(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pieces: list[str] = []
    request = Request((Message("user", "Why?"),), on_text=pieces.append)
    with ProviderServer(lambda _: Say("for no reason", tokens=(1000, 200))) as server:
        for key, value in server.env.items():
            monkeypatch.setenv(key, value)
        for provider in ("OPENAI", "ANTHROPIC", "GEMINI"):
            monkeypatch.setenv(f"{provider}_API_KEY", "sk-test-0123456789abcdef")
        reply = await LitellmModel(name).complete(request)
        await lifecycle.close()
    assert reply.text == "".join(pieces) == "for no reason"
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (1000, 200)
    assert bool(reply.cost) == (name in PRICED)
