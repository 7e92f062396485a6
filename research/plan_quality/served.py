"""A model behind an OpenAI-compatible server, one request at a time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from goalwright.models.local.serving.endpoint import call
from goalwright_planner.model import Message, Reply, Usage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goalwright.models.local.serving.endpoint import Endpoint

# Seconds; long, because other programs may use the machine too.
_PATIENCE = 3600.0


class ServedModel:
    """The model of a running server, which enforces schemas."""

    def __init__(self, endpoint: Endpoint, most_tokens: int) -> None:
        self._endpoint = endpoint
        self._most_tokens = most_tokens
        self._turn = asyncio.Lock()

    @property
    def name(self) -> str:
        """The model's name on the server."""
        return self._endpoint.alias

    async def answer(self, messages: Sequence[Message], schema: Mapping[str, Any] | None = None) -> Reply:
        """Answer messages."""
        async with self._turn:
            return await asyncio.to_thread(self._answer, messages, schema)

    def _answer(self, messages: Sequence[Message], schema: Mapping[str, Any] | None) -> Reply:
        body: dict[str, Any] = {
            "messages": [{"role": message.role, "content": message.content} for message in messages],
            "temperature": 0,
            "max_tokens": self._most_tokens,
            "cache_prompt": True,
        }
        if schema is not None:
            body["response_format"] = {"type": "json_schema", "json_schema": {"name": "plan", "schema": schema}}
        address, key = self._endpoint.base_url.removesuffix("/v1"), self._endpoint.api_key
        found = call(address, key, "POST", "/v1/chat/completions", body, _PATIENCE)
        choice, spent = found["choices"][0], found["usage"]
        usage = Usage(1, spent["prompt_tokens"], spent["completion_tokens"])
        return Reply(choice["message"]["content"] or "", usage=usage, finish=choice["finish_reason"])
