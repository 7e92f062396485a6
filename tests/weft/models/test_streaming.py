"""Answers that come in pieces, or should have."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from weft.models.provider import _respond

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


def chunk(content: str | None) -> Any:
    return SimpleNamespace(choices=[SimpleNamespace(delta=SimpleNamespace(content=content, tool_calls=None))])


class Litellm:
    """Streams what it is given; asked for the whole, it gives the whole."""

    def __init__(self, *pieces: str | None) -> None:
        self.pieces = pieces
        self.asked: list[bool] = []

    async def acompletion(self, *, stream: bool = False, **_: Any) -> Any:
        self.asked.append(stream)
        return self._chunks() if stream else "the whole"

    async def _chunks(self) -> AsyncIterator[Any]:
        for piece in self.pieces:
            yield chunk(piece)

    def stream_chunk_builder(self, chunks: list[Any], **_: Any) -> str:
        return "".join(one.choices[0].delta.content or "" for one in chunks)


def test_pieces_are_heard_as_they_come_and_put_together() -> None:
    litellm, heard = Litellm("a", None, "b"), list[str]()
    assert asyncio.run(_respond(litellm, {"messages": []}, heard.append)) == "ab"
    assert heard == ["a", "b"]
    assert litellm.asked == [True]


def test_a_provider_that_does_not_stream_is_asked_for_the_whole() -> None:
    litellm, heard = Litellm(None), list[str]()
    assert asyncio.run(_respond(litellm, {"messages": []}, heard.append)) == "the whole"
    assert heard == []
    assert litellm.asked == [True, False]


def test_without_a_listener_nothing_is_streamed() -> None:
    litellm = Litellm("a")
    assert asyncio.run(_respond(litellm, {"messages": []}, None)) == "the whole"
    assert litellm.asked == [False]
