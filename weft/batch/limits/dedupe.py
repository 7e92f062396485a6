"""Identical calls of one batch are made once."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from executor.capture.fast_json import digest
from executor.tasks.memo import request_form
from planner.model import Usage

if TYPE_CHECKING:
    from planner.model import Model, Reply, Request

_MOST_KEPT = 10_000


@dataclass(slots=True)
class ReplyCache:
    """Replies by what was asked, the oldest forgotten first; one that is still awaited is awaited by all."""

    known: OrderedDict[str, asyncio.Future[Reply]] = field(default_factory=OrderedDict)
    saved: int = 0

    def around(self, model: Model) -> DedupedModel:
        """The model, asked once for each request."""
        return DedupedModel(model, self)


@dataclass(frozen=True, slots=True)
class DedupedModel:
    """A model that is not asked what it was asked before."""

    model: Model
    answers: ReplyCache

    @property
    def name(self) -> str:
        """The name of the model itself."""
        return self.model.name

    async def complete(self, request: Request) -> Reply:
        """The answer, made or remembered; a remembered one costs nothing."""
        key = fingerprint(self.name, request)
        while (known := self.answers.known.get(key)) is not None:
            await asyncio.wait([known])
            if not known.cancelled():
                self.answers.saved += 1
                return replace(known.result(), usage=Usage(), cost=0.0)
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self.answers.known[key] = future
        try:
            reply = await self.model.complete(request)
        except BaseException:
            # Whoever waits asks anew: this call's failure, or the end of its goal, is not theirs.
            if self.answers.known.get(key) is future:  # among many others it may be forgotten by now
                del self.answers.known[key]
            future.cancel()
            raise
        future.set_result(reply)
        while len(self.answers.known) > _MOST_KEPT:
            self.answers.known.popitem(last=False)
        return reply


def fingerprint(model: str, request: Request) -> str:
    """What makes two calls the same, whichever task makes them; the role counts, because sampling depends on it."""
    tools = [[tool.name, tool.description, dict(tool.parameters)] for tool in request.tools]
    return digest(request_form(replace(request, task=None), model, tools))
