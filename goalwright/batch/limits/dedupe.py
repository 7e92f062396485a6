"""Makes identical calls of a batch only once."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import msgspec

from goalwright_executor.capture.json_text import digest
from goalwright_executor.results.memo import request_form
from goalwright_planner.model import Usage
from goalwright_planner.wrapped_model import WrappedModel

if TYPE_CHECKING:
    from goalwright_planner.model import Model, Reply, Request

_MAX_REPLIES = 10_000


@dataclass(slots=True)
class ReplyCache:
    """Replies by request, the oldest evicted first; identical calls wait for a call in progress."""

    futures: OrderedDict[str, asyncio.Future[Reply]] = field(default_factory=OrderedDict)

    def around(self, model: Model) -> DedupedModel:
        """Wrap a model, so that it is called once for each request."""
        return DedupedModel(model, self)


@dataclass(frozen=True, slots=True)
class DedupedModel(WrappedModel):
    """A model that is not called again for a request that it has answered."""

    replies: ReplyCache

    async def complete(self, request: Request) -> Reply:
        """Return the new or cached reply; a cached one costs nothing."""
        key = fingerprint(self.name, request)
        while (earlier := self.replies.futures.get(key)) is not None:
            await asyncio.wait([earlier])
            if not earlier.cancelled():
                return msgspec.structs.replace(earlier.result(), usage=Usage(), cost=0.0)
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self.replies.futures[key] = future
        try:
            reply = await self.model.complete(request)
        except BaseException:
            # Waiting calls are made again: this call's failure, or the end of its goal, does not concern them.
            if self.replies.futures.get(key) is future:  # it may have been evicted
                del self.replies.futures[key]
            future.cancel()
            raise
        future.set_result(reply)
        while len(self.replies.futures) > _MAX_REPLIES:
            self.replies.futures.popitem(last=False)
        return reply


def fingerprint(model: str, request: Request) -> str:
    """Return a hash that is equal for identical calls of any task; it includes the role, which decides the sampling."""
    tools = [[tool.name, tool.description, dict(tool.parameters)] for tool in request.tools]
    return digest(request_form(replace(request, task=None), model, tools))
