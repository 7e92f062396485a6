"""The prices of models, and the length of their answers: the user's own prices, else litellm's list."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from goalwright.models.litellm import lifecycle
from goalwright.settings.default_model import is_local

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from goalwright.settings.convert import ModelPrice
    from goalwright_planner.model import Usage

# The price of a token that counts against `max_cost` if a model's own is unknown: that of the dearest common models.
ASSUMED_PRICE = 15e-6
_MILLION = 1e6
# The file of litellm's list in its package.
_LIST = "model_prices_and_context_window_backup.json"
# Providers whose models run on the user's own machine and cost nothing; litellm would ask their server.
_OWN_MACHINE = ("ollama/", "ollama_chat/")


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per token, and the most tokens of an answer and a prompt; None where the list has no figure."""

    prompt: float | None = None
    output: float | None = None
    max_output: int | None = None
    context: int | None = None

    @property
    def is_known(self) -> bool:
        """Whether the price of both prompt and answer is known."""
        return self.prompt is not None and self.output is not None

    def of(self, usage: Usage) -> float | None:
        """The cost of these tokens; None if the price is unknown."""
        if self.prompt is None or self.output is None:
            return None
        return usage.prompt_tokens * self.prompt + usage.completion_tokens * self.output

    def assumed(self) -> Price:
        """The price, or the assumed one if it is unknown."""
        return self if self.is_known else Price(ASSUMED_PRICE, ASSUMED_PRICE, self.max_output, self.context)


FREE = Price(0.0, 0.0)


def _look_up(name: str) -> Price:
    return listed_price(lifecycle.load(), name)


@dataclass(frozen=True, slots=True)
class PriceList:
    """The price of any model: the user's `own` prices override the `listed` ones."""

    own: Mapping[str, ModelPrice] = field(default_factory=dict)
    listed: Callable[[str], Price] = _look_up

    def own_price(self, name: str) -> Price | None:
        """The price that needs no list: the user's own, or that of a free local model; else None."""
        if (price := self.own.get(name)) is not None:
            return Price(price.input / _MILLION, price.output / _MILLION, price.max_output)
        return FREE if is_local(name) or name.startswith(_OWN_MACHINE) else None

    def __call__(self, name: str) -> Price:
        """The price of a model; imports litellm for its list, which takes seconds."""
        price = self.own_price(name)
        return price if price is not None else self.listed(name)

    def at_hand(self, name: str) -> Price:
        """The price of a model within milliseconds: reads the list's file if litellm is not loaded."""
        price = self.own_price(name)
        if price is not None:
            return price
        is_loaded = self.listed is not _look_up or hasattr(sys.modules.get("litellm"), "model_cost")
        return self.listed(name) if is_loaded else unloaded_price(name)


def is_cost(value: object) -> bool:
    """Whether a value is a plausible cost of one call, in US dollars."""
    return isinstance(value, int | float) and math.isfinite(value) and 0 <= value <= _MILLION


def listed_price(litellm: Any, name: str) -> Price:
    """The price in litellm's list; unknown if the list lacks the model."""
    try:
        info = dict(litellm.get_model_info(name))
    except Exception:  # noqa: BLE001 - litellm raises bare exceptions for unknown models
        return Price()
    return _price(info | _listed_costs(litellm.model_cost.get(info.get("key"), info)))


def unloaded_price(name: str) -> Price:
    """The price in the file of litellm's list."""
    row = unloaded_row(name, name.partition("/")[2])
    return _price({**row, **_listed_costs(row)})


def unloaded_vision(name: str) -> bool:
    """Whether the file of litellm's list says that a model accepts images; ignores a gateway's prefixes."""
    parts = name.split("/")
    names = ("/".join(parts[start:]) for start in range(len(parts)))
    return unloaded_row(*names).get("supports_vision") is True


@lru_cache(maxsize=64)
def unloaded_row(*names: str) -> Mapping[str, Any]:
    """The first of these models in litellm's price list, read without importing litellm; empty if there is none."""
    package = find_spec("litellm")
    folders = (package.submodule_search_locations if package is not None else None) or ()
    try:
        rows = msgspec.json.decode(Path(*folders[:1], _LIST).read_bytes(), type=dict[str, msgspec.Raw])
        row = next((rows[name] for name in names if name in rows), msgspec.Raw(b"{}"))
        return msgspec.json.decode(row, type=dict[str, Any])
    except (OSError, msgspec.DecodeError):
        return {}


def _price(row: dict[str, Any]) -> Price:
    """The price in a row of the list: the highest of a model's prices for long prompts, reasoning or cache writes."""
    prompt = _highest(row, "input_cost_per_token", "cache_creation_input_token_cost")
    output = _highest(row, "output_cost_per_token", "output_cost_per_reasoning_token")
    return Price(prompt, output, _count(row.get("max_output_tokens")), _count(row.get("max_input_tokens")))


def _listed_costs(row: Mapping[str, Any]) -> dict[str, Any]:
    """The costs in the list's own row: litellm returns 0 for a missing price, and drops prices by prompt length."""
    prices: dict[str, Any] = {}
    for key in ("input_cost_per_token", "output_cost_per_token"):
        tiers: list[Any] = [tier.get(key) for tier in row.get("tiered_pricing") or () if isinstance(tier, dict)]
        costs = [float(price) for price in (row.get(key), *tiers) if _is_price(price)]
        prices[key] = max(costs) if costs else None
    return prices


def _highest(row: dict[str, Any], name: str, other: str) -> float | None:
    if not _is_price(row.get(name)):
        return None
    tiers = [row[key] for key in row if key.startswith(f"{name}_above_") or key in (name, other)]
    return max(float(price) for price in tiers if _is_price(price))


def _is_price(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value) and value >= 0


def _count(value: object) -> int | None:
    return int(value) if isinstance(value, int | float) and math.isfinite(value) and value > 0 else None
