"""The most that a call may cost, calculated before it is sent."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from goalwright.models.litellm.estimates import most_prompt_tokens, prompt_tokens

if TYPE_CHECKING:
    from goalwright.models.litellm.prices import Price
    from goalwright_planner.model import Request

# The assumed longest answer of a model whose limit is unknown: no common model answers more.
_UNKNOWN_OUTPUT = 131_072
# The largest `max_tokens` sent to such a model: it fits any context window.
_ANY_WINDOW = 4_096


@dataclass(frozen=True, slots=True, eq=False)
class Reservation:
    """Dollars and tokens reserved for a call; `max_output` bounds its answer, if it must be bounded."""

    cost: float = 0.0
    tokens: int = 0
    max_output: int | None = None

    def limit(self, request: Request) -> Request:
        """The request, with its `max_tokens` lowered to the reservation."""
        if self.max_output is None:
            return request
        own = request.max_tokens
        return replace(request, max_tokens=self.max_output if own is None else min(own, self.max_output))


@dataclass(slots=True)
class Call:
    """A call of a model with this price, which is known or assumed."""

    request: Request
    price: Price
    is_counted: bool = False
    prompt: int = field(init=False)

    def __post_init__(self) -> None:
        self.prompt = most_prompt_tokens(self.request)

    def count(self) -> None:
        """Estimate the prompt's tokens closely; their upper bound is available at once, this takes longer."""
        self.prompt = min(self.prompt, prompt_tokens(self.request))
        self.is_counted = True

    def whole(self) -> Reservation:
        """The reservation for an answer as long as the model allows."""
        return self._reservation(self._most_output, self._most_output if self._is_bounded else None)

    def usual(self) -> Reservation:
        """The reservation for an answer of usual length if the model's limit is unknown, else the whole one."""
        return self.whole() if self._is_bounded else self.lowered(min(self._most_output, _ANY_WINDOW))

    def lowered(self, output: int) -> Reservation:
        """The reservation for an answer of at most `output` tokens."""
        return self._reservation(output, output)

    def affordable_output(self, cost: float, tokens: float) -> int:
        """The longest answer that these dollars and tokens pay for; negative if they do not pay for the prompt."""
        price, left = self.price.output or 0.0, cost - self.prompt * (self.price.prompt or 0.0)
        paid = left / price if price else math.copysign(math.inf, left)
        most = self._most_output if self._is_bounded else min(self._most_output, _ANY_WINDOW)
        return int(max(-1.0, min(paid, tokens - self.prompt, most)))

    def _reservation(self, output: int, limit: int | None) -> Reservation:
        cost = self.prompt * (self.price.prompt or 0.0) + output * (self.price.output or 0.0)
        return Reservation(cost, self.prompt + output, limit)

    @property
    def _is_bounded(self) -> bool:
        return self.price.max_output is not None

    @property
    def _most_output(self) -> int:
        most = self.price.max_output or _UNKNOWN_OUTPUT
        context = self.price.context
        if context is not None and context <= most:  # the answer shares the window with the prompt
            most = max(context - self.prompt, 1_024)
        return min(most, self.request.max_tokens or most)
