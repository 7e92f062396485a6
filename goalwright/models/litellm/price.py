"""What a model charges and how much it may answer, as litellm's list has it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright_planner.model import Usage

# What --max-cost counts for a token of unknown price: about the output price of the more expensive models.
ASSUMED_PRICE = 15e-6
# The file in litellm's package that its list is read from.
_LIST = "model_prices_and_context_window_backup.json"


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a token, and the most tokens of an answer and a prompt; None where the list has no figure."""

    prompt: float | None = None
    output: float | None = None
    max_output: int | None = None
    context: int | None = None

    @property
    def is_known(self) -> bool:
        """Whether it is known what a token costs."""
        return self.prompt is not None and self.output is not None

    def of(self, usage: Usage) -> float | None:
        """What these tokens cost; None if the price is unknown."""
        if self.prompt is None or self.output is None:
            return None
        return usage.prompt_tokens * self.prompt + usage.completion_tokens * self.output

    def assumed(self) -> Price:
        """The price, with the one that is assumed where it is unknown."""
        return self if self.is_known else Price(ASSUMED_PRICE, ASSUMED_PRICE, self.max_output, self.context)


FREE = Price(0.0, 0.0)


def listed_price(litellm: Any, name: str) -> Price:
    """The price in litellm's list; nothing is known of a model that it lacks."""
    try:
        info = dict(litellm.get_model_info(name))
    except Exception:  # noqa: BLE001 - it raises bare exceptions for models that it does not know
        return Price()
    return _price(info | _as_listed(litellm.model_cost.get(info.get("key"), info)))


def unloaded_price(name: str) -> Price:
    """The price in the file of litellm's list."""
    row = unloaded_row(name, name.partition("/")[2])
    return _price({**row, **_as_listed(row)})


def unloaded_vision(name: str) -> bool:
    """Whether the file of litellm's list says that a model sees; of a gateway's, by the name behind the gateway's."""
    parts = name.split("/")
    return unloaded_row(*("/".join(parts[at:]) for at in range(len(parts)))).get("supports_vision") is True


@lru_cache(maxsize=64)
def unloaded_row(*names: str) -> Mapping[str, Any]:
    """What the file of litellm's list says of the first of these that it has; nothing if it has none.

    It is for a process that has not loaded litellm, which takes seconds.
    """
    package = find_spec("litellm")
    folders = (package.submodule_search_locations if package is not None else None) or ()
    try:
        rows = msgspec.json.decode(Path(*folders[:1], _LIST).read_bytes(), type=dict[str, msgspec.Raw])
        row = next((rows[name] for name in names if name in rows), msgspec.Raw(b"{}"))
        return msgspec.json.decode(row, type=dict[str, Any])
    except (OSError, msgspec.DecodeError):
        return {}


def _price(row: dict[str, Any]) -> Price:
    """What a row of the list says."""
    # The list has several prices of some models: for long prompts, for reasoning, by day. The highest may be asked.
    prompt = _highest(row, "input_cost_per_token", "cache_creation_input_token_cost")
    output = _highest(row, "output_cost_per_token", "output_cost_per_reasoning_token")
    return Price(prompt, output, _count(row.get("max_output_tokens")), _count(row.get("max_input_tokens")))


def _as_listed(row: Mapping[str, Any]) -> dict[str, Any]:
    """The prices in the list's own row: litellm says 0 of a model that has none, and leaves out those by length."""
    prices: dict[str, Any] = {}
    for key in ("input_cost_per_token", "output_cost_per_token"):
        tiers: list[Any] = [tier.get(key) for tier in row.get("tiered_pricing") or () if isinstance(tier, dict)]
        known = [float(price) for price in (row.get(key), *tiers) if _is_price(price)]
        prices[key] = max(known) if known else None
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
