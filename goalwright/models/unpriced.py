"""Models of unknown price: a limit on cost cannot hold for them, so they are refused before the first call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright.models.litellm.prices import ASSUMED_PRICE, PriceList
from goalwright_planner.errors import UnknownPrice
from goalwright_skills.text.plural import plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from goalwright.settings.settings import Settings


def unpriced(names: Sequence[str]) -> UnknownPrice:
    """The refusal of these models."""
    first = names[0]
    return UnknownPrice(
        f"the {plural(len(names), 'price', 'prices')} of {', '.join(names)} {plural(len(names), 'is', 'are')} "
        "unknown, so that --max-cost cannot hold",
        hint=f'give the price in your config.toml: [prices] "{first}" = {{ input = 1.00, output = 4.00 }}, in US '
        f"dollars per million tokens; or pass --allow-unknown-cost, which counts ${ASSUMED_PRICE * 1e6:g} per million",
    )


def check_prices(names: Iterable[str], settings: Settings, max_cost: float | None) -> None:
    """Raise if there is a limit on cost and a model's price is unknown. Imports litellm, unless nothing is asked."""
    if max_cost is None or settings.allow_unknown_cost:
        return
    price_of = PriceList(settings.prices or {})
    if unknown := [name for name in names if not price_of(name).is_known]:
        raise unpriced(unknown)
