"""What a call may cost at most, before it is made."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from weft.providers.prices import most_prompt_tokens, prompt_tokens

if TYPE_CHECKING:
    from weft.providers.prices import Price
    from weft_planner.model import Request

# What --max-cost assumes for a token of unknown price: about the output price of the more expensive models.
ASSUMED_PRICE = 15e-6
# What a model of which nothing is known may answer: no common one answers more.
_UNKNOWN_OUTPUT = 131_072
# Such a model is told how long its answer may be only where that fits any context window.
_ANY_WINDOW = 4_096


@dataclass(frozen=True, slots=True, eq=False)
class Reservation:
    """Dollars and tokens set aside for a call; `max_output` is how long its answer may be, if that is bounded."""

    cost: float = 0.0
    tokens: int = 0
    prompt_tokens: int = 0
    max_output: int | None = None
    is_known: bool = False

    def limit(self, request: Request) -> Request:
        """The request, with the length of its answer limited to what was set aside."""
        if self.max_output is None:
            return request
        wanted = request.max_tokens
        return replace(request, max_tokens=self.max_output if wanted is None else min(wanted, self.max_output))


@dataclass(slots=True)
class Call:
    """A call that any of some models may answer: what counts is the most expensive."""

    request: Request
    names: tuple[str, ...]
    prices: tuple[Price, ...]
    is_counted: bool = False
    prompt: int = field(init=False)

    def __post_init__(self) -> None:
        self.prompt = most_prompt_tokens(self.request)

    def count(self) -> None:
        """Count the prompt's tokens instead of its bytes, which takes longer."""
        self.prompt = min(self.prompt, max(prompt_tokens(name, self.request) for name in self.names))
        self.is_counted = True

    @property
    def is_known(self) -> bool:
        """Whether the price is known of every model that may answer, and how long its answers can be."""
        return all(price.known for price in self.prices)

    def whole(self) -> Reservation:
        """What the call takes if its answer is as long as the model allows."""
        output = max(self._most_output(price) for price in self.prices)
        return self._reservation(output, output if self.is_known else None)

    def lowered(self, output: int) -> Reservation:
        """What the call takes if its answer is no longer than this."""
        if self.is_known:
            return self._reservation(output, output)
        return self._reservation(max(output, 0), output if 0 < output <= _ANY_WINDOW else None)

    def affordable_output(self, cost: float, tokens: float) -> int:
        """How long an answer these dollars and tokens pay for."""
        rest = [cost - self.prompt * _prompt(price) for price in self.prices]
        paid = min(
            left / _output(price) if _output(price) else math.copysign(math.inf, left)
            for left, price in zip(rest, self.prices, strict=True)
        )
        most = max(self._most_output(price) for price in self.prices)
        return int(max(-1.0, min(paid, tokens - self.prompt, most)))

    def _reservation(self, output: int, limit: int | None) -> Reservation:
        cost = max(
            self.prompt * _prompt(price) + min(output, self._most_output(price)) * _output(price)
            for price in self.prices
        )
        return Reservation(cost, self.prompt + output, self.prompt, limit, self.is_known)

    def _most_output(self, price: Price) -> int:
        most = price.max_output or _UNKNOWN_OUTPUT
        if price.context is not None and price.context <= most:  # the answer shares the window with the prompt
            most = max(price.context - self.prompt, 1_024)
        return min(most, self.request.max_tokens or most)


def _prompt(price: Price) -> float:
    return ASSUMED_PRICE if price.prompt is None else price.prompt


def _output(price: Price) -> float:
    return ASSUMED_PRICE if price.output is None else price.output
