"""The user's own prices of models: what litellm's list lacks, or has wrong."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_FORM = "such as { input = 1.00, output = 4.00 }, in US dollars per million tokens"
# Below this, a price is one for a token, which litellm's list has.
_LEAST = 0.0005


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """US dollars per million tokens of a prompt and of an answer; `max_output` is how long an answer can be."""

    input: float
    output: float
    max_output: int | None = None

    def __str__(self) -> str:
        return f"${self.input:g} in, ${self.output:g} out per million tokens"


def read(raw: Any) -> dict[str, ModelPrice]:
    """The prices in a table, or in a text such as `openai/mine=1.00/4.00,openai/other=0/0`."""
    if isinstance(raw, str):
        raw = dict(_pair(part) for part in raw.split(",") if part.strip())
    if not isinstance(raw, Mapping):
        raise ValueError(f"must be a table of models and prices, {_FORM}, not {raw!r}")  # noqa: TRY004 - as others
    return {str(name): _price(str(name), row) for name, row in raw.items()}


def _price(name: str, row: Any) -> ModelPrice:
    if isinstance(row, ModelPrice):
        return row
    if not isinstance(row, Mapping):
        raise ValueError(f"must give {name!r} a price, {_FORM}, not {row!r}")  # noqa: TRY004 - as others
    if unknown := [key for key in row if key not in ("input", "output", "max_output")]:
        raise ValueError(f"has the key {unknown[0]!r} for {name!r}; give `input` and `output`, {_FORM}")
    if missing := [key for key in ("input", "output") if key not in row]:
        raise ValueError(f"lacks `{missing[0]}` for {name!r}: give both, {_FORM}; 0 is a price too")
    return ModelPrice(
        _dollars(name, "input", row["input"]), _dollars(name, "output", row["output"]), _longest(name, row)
    )


def _dollars(name: str, key: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not (math.isfinite(value) and value >= 0):
        raise ValueError(f"must give {name!r} a number of 0 or more for `{key}`, not {value!r}")
    if 0 < value < _LEAST:
        raise ValueError(
            f"has {value!r} for `{key}` of {name!r}, which looks like a price for one token: give it per million, "
            f"{value * 1e6:g}"
        )
    return float(value)


def _longest(name: str, row: Mapping[str, Any]) -> int | None:
    value = row.get("max_output")
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value <= 0):
        raise ValueError(f"must give {name!r} a whole number of tokens above 0 for `max_output`, not {value!r}")
    return value


def _pair(text: str) -> tuple[str, dict[str, float]]:
    name, _, prices = text.strip().rpartition("=")
    given, _, output = prices.partition("/")
    try:
        row = {"input": float(given), "output": float(output)}
    except ValueError:
        row = {}
    if not (name.strip() and row):
        raise ValueError(f"must be MODEL=INPUT/OUTPUT, separated by commas, not {text.strip()!r}")
    return name.strip(), row
