"""The prices of models: the user's own, else those of litellm's list."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goalwright.models.litellm.litellm_model import load
from goalwright.models.litellm.price import FREE, Price, listed_price, unloaded_price
from goalwright.settings.default_model import is_local

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from goalwright.settings.model_prices import ModelPrice

_MILLION = 1e6
# Providers whose models run on a machine of the user's, and cost nothing; litellm would ask their server.
_OWN_MACHINE = ("ollama/", "ollama_chat/")


def _look_up(name: str) -> Price:
    return listed_price(load(), name)


@dataclass(frozen=True, slots=True)
class PriceList:
    """The price of any model: the user's `own` beat those that are `listed`."""

    own: Mapping[str, ModelPrice] = field(default_factory=dict)
    listed: Callable[[str], Price] = _look_up

    def own_price(self, name: str) -> Price | None:
        """The price that the user gives a model, or that needs no list; None if the list must be asked."""
        if (price := self.own.get(name)) is not None:
            return Price(price.input / _MILLION, price.output / _MILLION, price.max_output)
        return FREE if is_local(name) or name.startswith(_OWN_MACHINE) else None

    def __call__(self, name: str) -> Price:
        """The price of a model; litellm is imported for its list, which takes seconds."""
        price = self.own_price(name)
        return price if price is not None else self.listed(name)

    def at_hand(self, name: str) -> Price:
        """The price of a model, found within milliseconds: litellm is not loaded for it."""
        price = self.own_price(name)
        if price is not None:
            return price
        is_loaded = self.listed is not _look_up or hasattr(sys.modules.get("litellm"), "model_cost")
        return self.listed(name) if is_loaded else unloaded_price(name)


def is_cost(value: object) -> bool:
    """Whether a call can have cost this many dollars."""
    return isinstance(value, int | float) and math.isfinite(value) and 0 <= value <= _MILLION
