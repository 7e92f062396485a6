"""Converts values from TOML or text to the types of settings; raises ValueError for an invalid one."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from goalwright_executor.approvals.policy import ApprovalRule
from goalwright_skills.builtin.web import search_provider
from goalwright_skills.builtin.web.search_provider import SearchProvider

_PRICE_FORM = "such as { input = 1.00, output = 4.00 }, in US dollars per million tokens"
# A lower price is one per token, as in litellm's list, instead of one per million.
_LOWEST_PRICE = 0.0005
_MODEL_NAME = re.compile(r"[\w-]{1,64}")
_BOOLEANS = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """US dollars per million tokens of a prompt and of an answer; `max_output` is the longest answer in tokens."""

    input: float
    output: float
    max_output: int | None = None

    def __str__(self) -> str:
        return f"${self.input:g} in, ${self.output:g} out per million tokens"


def convert(raw: Any, target: Any, *, may_be_zero: bool = False) -> Any:
    """Convert a value from TOML or text to the type of a setting."""
    if get_origin(target) in (Union, UnionType):
        target = next(member for member in get_args(target) if member is not type(None))
    if get_origin(target) is Literal:
        if raw not in get_args(target):
            raise ValueError(f"must be one of {', '.join(get_args(target))}, not {raw!r}")
        return raw
    if target == tuple[ApprovalRule, ...]:
        return approval_rules(raw)
    if get_origin(target) is tuple:
        items = [part.strip() for part in raw.split(",")] if isinstance(raw, str) else raw
        if not isinstance(items, list | tuple) or not all(isinstance(item, str) for item in items):
            raise ValueError(f"must be a list of strings, not {raw!r}")
        return tuple(item for item in items if item)
    if get_origin(target) is Mapping:
        value_type = get_args(target)[1]
        if value_type is bool:
            return _booleans(raw)
        return model_prices(raw) if value_type is ModelPrice else _named_models(raw)
    if target is SearchProvider:
        return search_provider.read(raw)
    if target is bool:
        return _boolean(raw)
    if target in (int, float):
        return _number(raw, target, may_be_zero=may_be_zero)
    if not isinstance(raw, str):
        raise ValueError(f"must be a string, not {raw!r}")  # noqa: TRY004 - one exception class for all faults
    return raw


def approval_rules(raw: Any) -> tuple[ApprovalRule, ...]:
    """Parse the [[approvals]] tables of a settings file."""
    if not isinstance(raw, list | tuple):
        raise ValueError(f"must be tables [[approvals]] in a file, not {raw!r}")  # noqa: TRY004 - as above
    return tuple(ApprovalRule.of(row, number) for number, row in enumerate(raw, 1))


def model_prices(raw: Any) -> dict[str, ModelPrice]:
    """Parse the prices in a table, or in a text such as `openai/mine=1.00/4.00,openai/other=0/0`."""
    if isinstance(raw, str):
        raw = dict(_price_pair(part) for part in raw.split(",") if part.strip())
    if not isinstance(raw, Mapping):
        raise ValueError(f"must be a table of models and prices, {_PRICE_FORM}, not {raw!r}")  # noqa: TRY004 - as above
    return {str(name): _price(str(name), row) for name, row in raw.items()}


def _price(name: str, row: Any) -> ModelPrice:
    if isinstance(row, ModelPrice):
        return row
    if not isinstance(row, Mapping):
        raise ValueError(f"must give {name!r} a price, {_PRICE_FORM}, not {row!r}")  # noqa: TRY004 - as above
    if unknown := [key for key in row if key not in ("input", "output", "max_output")]:
        raise ValueError(f"has the key {unknown[0]!r} for {name!r}; give `input` and `output`, {_PRICE_FORM}")
    if missing := [key for key in ("input", "output") if key not in row]:
        raise ValueError(f"lacks `{missing[0]}` for {name!r}: give both, {_PRICE_FORM}; 0 is a price, too")
    prompt, output = (_dollars(name, key, row[key]) for key in ("input", "output"))
    return ModelPrice(prompt, output, _max_output(name, row))


def _dollars(name: str, key: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not (math.isfinite(value) and value >= 0):
        raise ValueError(f"must give {name!r} a number of 0 or more for `{key}`, not {value!r}")
    if 0 < value < _LOWEST_PRICE:
        raise ValueError(
            f"has {value!r} for `{key}` of {name!r}, which looks like a price per token: give it per million tokens, "
            f"{value * 1e6:g}"
        )
    return float(value)


def _max_output(name: str, row: Mapping[str, Any]) -> int | None:
    value = row.get("max_output")
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value <= 0):
        raise ValueError(f"must give {name!r} a whole number of tokens above 0 for `max_output`, not {value!r}")
    return value


def _price_pair(text: str) -> tuple[str, dict[str, float]]:
    name, _, prices = text.strip().rpartition("=")
    prompt, _, output = prices.partition("/")
    try:
        row = {"input": float(prompt), "output": float(output)}
    except ValueError:
        row = {}
    if not (name.strip() and row):
        raise ValueError(f"must be MODEL=INPUT/OUTPUT, separated by commas, not {text.strip()!r}")
    return name.strip(), row


def _named_models(raw: Any) -> dict[str, str]:
    """Parse named models from a table, or from a text such as `fast=openai/gpt-6-luna,strong=gemini/…`."""
    if isinstance(raw, str):
        raw = dict(_model_pair(part) for part in raw.split(",") if part.strip())
    if not isinstance(raw, Mapping):
        raise ValueError(f"must be a table of names and models, not {raw!r}")  # noqa: TRY004 - as above
    for name, model in raw.items():
        if not (isinstance(name, str) and _MODEL_NAME.fullmatch(name)):
            raise ValueError(f"has the name {name!r}; use letters, digits, '_' and '-', 64 at most")
        if not (isinstance(model, str) and model.strip()):
            raise ValueError(f"must give {name!r} the name of a model, not {model!r}")
    return dict(raw)


def _model_pair(text: str) -> tuple[str, str]:
    name, equals, model = text.partition("=")
    if not equals:
        raise ValueError(f"must be NAME=MODEL, separated by commas, not {text.strip()!r}")
    return name.strip(), model.strip()


def _booleans(raw: Any) -> dict[str, bool]:
    """Parse names with true or false, in a table or in a text such as `openai/mine=true,ollama/*=false`."""
    if isinstance(raw, str):
        raw = {name.strip(): word.strip() for name, _, word in (part.rpartition("=") for part in raw.split(","))}
    if not isinstance(raw, Mapping) or "" in raw:
        raise ValueError(f'must be a table such as {{ "openai/mine" = true }}, not {raw!r}')
    return {str(name): _boolean(word) for name, word in raw.items()}


def _boolean(raw: Any) -> bool:
    if isinstance(raw, bool):
        return raw
    if isinstance(raw, str) and raw.lower() in _BOOLEANS:
        return _BOOLEANS[raw.lower()]
    raise ValueError(f"must be true or false, not {raw!r}")


def _number(raw: Any, target: type[int] | type[float], *, may_be_zero: bool) -> int | float:
    try:
        number = target(raw) if isinstance(raw, str) or not isinstance(raw, bool) else None
    except (TypeError, ValueError, OverflowError):
        number = None
    if target is int and isinstance(raw, float) and number != raw:
        number = None  # do not round 2.5
    if number is None or not (number > 0 or (may_be_zero and number == 0)):  # so that `nan` is refused, too
        least = "of 0 or more" if may_be_zero else "above 0"
        raise ValueError(f"must be a {'whole ' if target is int else ''}number {least}, not {raw!r}")
    return number
