"""Checks what a provider says of its own usage: impossible figures are not counted."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from weft_planner.events import Warned
from weft_planner.model import Usage
from weft_planner.wrapped_model import WrappedModel

if TYPE_CHECKING:
    from weft_planner.events import Record
    from weft_planner.model import Reply, Request

# No call has this many tokens, or costs this many dollars.
_MOST_TOKENS = 10**9
_MOST_DOLLARS = 10**6


def sound(usage: Usage) -> Usage:
    """The usage, with 0 for impossible figures: negative, not whole, not finite."""
    calls, prompt, completion, cached = map(
        _tokens, (usage.calls, usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens)
    )
    right = Usage(calls, prompt, completion, min(cached, prompt))
    return usage if right == usage else right


def checked(reply: Reply) -> Reply:
    """The reply, with 0 for impossible usage and cost."""
    usage = sound(reply.usage)
    cost = reply.cost if reply.cost is None or _is_cost(reply.cost) else 0.0
    return (
        reply if usage is reply.usage and cost is reply.cost else msgspec.structs.replace(reply, usage=usage, cost=cost)
    )


def _tokens(value: object) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS else 0


def _is_cost(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value) and 0 <= value <= _MOST_DOLLARS


@dataclass(frozen=True, slots=True)
class CheckedModel(WrappedModel):
    """A model whose usage is checked before anything is counted; the first wrong figure is warned about."""

    record: Record
    warned: set[str] = field(default_factory=set)

    async def complete(self, request: Request) -> Reply:
        """Answer the request, with usage that can be added up."""
        reply = await self.model.complete(request)
        sound = checked(reply)
        name = reply.model or self.name
        if sound is not reply and name not in self.warned:
            self.warned.add(name)
            used = reply.usage
            said = f"{used.prompt_tokens} and {used.completion_tokens} tokens, cost {reply.cost}"
            self.record(Warned(f"{name} reports impossible usage ({said[:200]}): it counts as 0 in the result"))
        return sound
