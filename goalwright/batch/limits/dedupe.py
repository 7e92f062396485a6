"""Makes identical calls of a batch once."""

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

_MOST_KEPT = 10_000


@dataclass(slots=True)
class ReplyCache:
    """Replies by request, the oldest dropped first; identical calls wait for the one that is running."""

    futures: OrderedDict[str, asyncio.Future[Reply]] = field(default_factory=OrderedDict)

    def around(self, model: Model) -> DedupedModel:
        """The model, called once for each request."""
        return DedupedModel(model, self)


@dataclass(frozen=True, slots=True)
class DedupedModel(WrappedModel):
    """A model that is not called again for a request it has answered."""

    replies: ReplyCache

    async def complete(self, request: Request) -> Reply:
        """The reply, new or cached; a cached one costs nothing."""
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
            # Those who wait call again: this call's failure, or the end of its goal, is not theirs.
            if self.replies.futures.get(key) is future:  # it may have been dropped by now
                del self.replies.futures[key]
            future.cancel()
            raise
        future.set_result(reply)
        while len(self.replies.futures) > _MOST_KEPT:
            self.replies.futures.popitem(last=False)
        return reply


def fingerprint(model: str, request: Request) -> str:
    """What makes two calls identical, whichever task makes them; the role counts, since it decides the sampling."""
    tools = [[tool.name, tool.description, dict(tool.parameters)] for tool in request.tools]
    return digest(request_form(replace(request, task=None), model, tools))
