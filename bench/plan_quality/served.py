"""A model behind an OpenAI-compatible server: greedy, the same for both sides, with the tokens that each side used."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from weft.local.endpoint import call
from weft_planner.model import Message, Reply, Request, Usage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from weft.local.endpoint import Endpoint

# Seconds for a request, on a machine that others use too.
_PATIENCE = 3600.0


@dataclass(slots=True)
class ServedModel:
    """Answers one request at a time."""

    endpoint: Endpoint
    most_tokens: int
    usage: Usage = field(default_factory=Usage)

    @property
    def name(self) -> str:
        """The model's name on the server."""
        return self.endpoint.alias

    async def complete(self, request: Request) -> Reply:
        """The answer to a request of the planner; its schema is enforced while the model writes."""
        return await asyncio.to_thread(self.answer, request.messages, request.schema)

    def answer(self, messages: Sequence[Message], schema: Mapping[str, Any] | None = None) -> Reply:
        """The answer to some messages."""
        body: dict[str, Any] = {
            "messages": [{"role": message.role, "content": message.content} for message in messages],
            "temperature": 0,
            "max_tokens": self.most_tokens,
            "cache_prompt": True,
        }
        if schema is not None:
            body["response_format"] = {"type": "json_schema", "json_schema": {"name": "plan", "schema": schema}}
        address, key = self.endpoint.base_url.removesuffix("/v1"), self.endpoint.api_key
        found = call(address, key, "POST", "/v1/chat/completions", body, _PATIENCE)
        choice, spent = found["choices"][0], found["usage"]
        usage = Usage(1, spent["prompt_tokens"], spent["completion_tokens"])
        self.usage += usage
        return Reply(choice["message"]["content"] or "", usage=usage, finish=choice["finish_reason"])
