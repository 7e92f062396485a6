"""What an attempt at a call took: as its provider says, else as an estimate of what was sent and received."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from goalwright.models.litellm import estimates
from goalwright.models.litellm.prices import PriceList, is_cost
from goalwright_planner.errors import ModelError
from goalwright_planner.wrapped_model import WrappedModel

if TYPE_CHECKING:
    from goalwright_planner.model import Reply, Request, Usage

_NOTE = "goalwright_spent"


class Spent(NamedTuple):
    """The tokens of an attempt, and what they cost in US dollars; None if the price is unknown."""

    usage: Usage
    cost: float | None


def spent_by(error: BaseException) -> Spent | None:
    """What an attempt took that ended so; None if it was never sent, or was refused."""
    if isinstance(error, ModelError):
        return Spent(error.usage, error.cost) if error.usage.calls else None
    spent: Spent | None = getattr(error, _NOTE, None)
    return spent


@dataclass(frozen=True, slots=True)
class MeteredModel(WrappedModel):
    """A model that says of each attempt what it took, also of those that break off or are cancelled."""

    prices: PriceList = field(default_factory=PriceList)

    async def complete(self, request: Request) -> Reply:
        """Answer the request, with usage that can be added up."""
        received: list[str] = []
        try:
            return self._complete(request, await self.model.complete(_hearing(request, received)))
        except ModelError as error:
            if (own := self.prices.own_price(self.name)) is not None:
                error.cost = own.of(error.usage)
            raise
        except asyncio.CancelledError as error:
            if not _is_metered(self.model):  # else that meter noted it, unless nothing was sent
                usage = estimates.broken(request, "".join(received))
                setattr(error, _NOTE, Spent(usage, self.prices.at_hand(self.name).of(usage)))
            raise

    def _complete(self, request: Request, reply: Reply) -> Reply:
        """The reply, with estimates where its usage is missing or impossible, and the user's own price."""
        if not reply.usage.calls:  # it was made before, and nothing was sent
            return reply
        usage = estimates.completed(reply.usage, request, estimates.answer_text(reply.text, reply.tool_calls))
        own = self.prices.own_price(reply.model or self.name)
        cost = reply.cost if is_cost(reply.cost) else None
        is_wrong = cost is not reply.cost or (usage is not reply.usage and not cost)  # it went with wrong usage
        if own is not None:
            cost = own.of(usage)
        elif is_wrong:
            cost = self.prices.at_hand(reply.model or self.name).of(usage)
        if usage is reply.usage and cost == reply.cost:
            return reply
        return msgspec.structs.replace(reply, usage=usage, cost=cost)


def _is_metered(model: object) -> bool:
    """Whether there is a meter further in, as there is in a batch: behind it, calls wait for their turn."""
    while isinstance(model, WrappedModel):
        if isinstance(model, MeteredModel):
            return True
        model = model.model
    return False


def _hearing(request: Request, received: list[str]) -> Request:
    """The request, with what arrives of its answer noted."""
    tell = request.on_text
    if tell is None:
        return request

    def hear(text: str) -> None:
        received.append(text)
        tell(text)

    return replace(request, on_text=hear)
