"""Measures what each attempt at a call used and cost: as the provider reports it, else estimated from the text."""

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

_ATTRIBUTE = "goalwright_spent"


class Spent(NamedTuple):
    """The tokens of an attempt and their cost in US dollars; None if the price is unknown."""

    usage: Usage
    cost: float | None


def spent_by(error: BaseException) -> Spent | None:
    """The usage of an attempt that ended with this error; None if it was not sent, or was refused."""
    if isinstance(error, ModelError):
        return Spent(error.usage, error.cost) if error.usage.calls else None
    spent: Spent | None = getattr(error, _ATTRIBUTE, None)
    return spent


@dataclass(frozen=True, slots=True)
class MeteredModel(WrappedModel):
    """A model that reports the usage of every attempt, including those that fail or are cancelled."""

    prices: PriceList = field(default_factory=PriceList)

    async def complete(self, request: Request) -> Reply:
        """Answer the request, with valid usage and cost."""
        received: list[str] = []
        try:
            return self._with_usage(request, await self.model.complete(_collecting(request, received)))
        except ModelError as error:
            if (own := self.prices.own_price(self.name)) is not None:
                error.cost = own.of(error.usage)
            raise
        except asyncio.CancelledError as error:
            if not _is_metered(self.model):  # else the inner meter has set it, unless nothing was sent
                usage = estimates.broken(request, "".join(received))
                setattr(error, _ATTRIBUTE, Spent(usage, self.prices.at_hand(self.name).of(usage)))
            raise

    def _with_usage(self, request: Request, reply: Reply) -> Reply:
        """The reply, with estimates for missing or impossible usage, and with the user's own price."""
        if not reply.usage.calls:  # a recorded reply: nothing was sent
            return reply
        usage = estimates.completed(reply.usage, request, estimates.answer_text(reply.text, reply.tool_calls))
        own = self.prices.own_price(reply.model or self.name)
        cost = reply.cost if is_cost(reply.cost) else None
        is_wrong = cost is not reply.cost or (usage is not reply.usage and not cost)  # computed from wrong usage
        if own is not None:
            cost = own.of(usage)
        elif is_wrong:
            cost = self.prices.at_hand(reply.model or self.name).of(usage)
        if usage is reply.usage and cost == reply.cost:
            return reply
        return msgspec.structs.replace(reply, usage=usage, cost=cost)


def _is_metered(model: object) -> bool:
    """Whether an inner layer meters the calls; in a batch one does, behind the queue for the rate limit."""
    while isinstance(model, WrappedModel):
        if isinstance(model, MeteredModel):
            return True
        model = model.model
    return False


def _collecting(request: Request, received: list[str]) -> Request:
    """The request, with its streamed text also added to `received`."""
    on_text = request.on_text
    if on_text is None:
        return request

    def collect(text: str) -> None:
        received.append(text)
        on_text(text)

    return replace(request, on_text=collect)
