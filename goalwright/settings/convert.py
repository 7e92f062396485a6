"""Values from TOML or from text, converted to the types of settings; raises ValueError with what is wrong with one."""

from __future__ import annotations

from collections.abc import Mapping
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from goalwright.settings import model_prices, named_models
from goalwright.settings.model_prices import ModelPrice
from goalwright_executor.approvals.policy import ApprovalRule
from goalwright_skills.builtin.web import search_provider
from goalwright_skills.builtin.web.search_provider import SearchProvider


def convert(raw: Any, wanted: Any, *, may_be_zero: bool = False) -> Any:
    """A value from TOML or from text, converted to the setting's type."""
    if get_origin(wanted) in (Union, UnionType):
        wanted = next(one for one in get_args(wanted) if one is not type(None))
    if get_origin(wanted) is Literal:
        if raw not in get_args(wanted):
            raise ValueError(f"must be one of {', '.join(get_args(wanted))}, not {raw!r}")
        return raw
    if wanted == tuple[ApprovalRule, ...]:
        return approval_rules(raw)
    if get_origin(wanted) is tuple:
        items = [part.strip() for part in raw.split(",")] if isinstance(raw, str) else raw
        if not isinstance(items, list | tuple) or not all(isinstance(item, str) for item in items):
            raise ValueError(f"must be a list of strings, not {raw!r}")
        return tuple(item for item in items if item)
    if get_origin(wanted) is Mapping:
        item = get_args(wanted)[1]
        if item is bool:
            return _words(raw)
        return model_prices.read(raw) if item is ModelPrice else named_models.read(raw)
    if wanted is SearchProvider:
        return search_provider.read(raw)
    if wanted is bool:
        return _boolean(raw)
    if wanted in (int, float):
        return _number(raw, wanted, may_be_zero=may_be_zero)
    if not isinstance(raw, str):
        raise ValueError(f"must be a string, not {raw!r}")  # noqa: TRY004 - one kind of error for a bad value
    return raw


def _words(raw: Any) -> dict[str, bool]:
    """Names with true or false, in a table or in a text such as `openai/mine=true,ollama/*=false`."""
    if isinstance(raw, str):
        raw = {name.strip(): word.strip() for name, _, word in (part.rpartition("=") for part in raw.split(","))}
    if not isinstance(raw, Mapping) or "" in raw:
        raise ValueError(f'must be a table such as {{ "openai/mine" = true }}, not {raw!r}')
    return {str(name): _boolean(word) for name, word in raw.items()}


def approval_rules(raw: Any) -> tuple[ApprovalRule, ...]:
    """The rules in the tables of a settings file."""
    if not isinstance(raw, list | tuple):
        raise ValueError(f"must be tables [[approvals]] in a file, not {raw!r}")  # noqa: TRY004 - as below
    return tuple(ApprovalRule.of(row, number) for number, row in enumerate(raw, 1))


def _boolean(raw: Any) -> bool:
    words = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}
    if isinstance(raw, bool):
        return raw
    if isinstance(raw, str) and raw.lower() in words:
        return words[raw.lower()]
    raise ValueError(f"must be true or false, not {raw!r}")


def _number(raw: Any, wanted: type[int] | type[float], *, may_be_zero: bool) -> int | float:
    try:
        number = wanted(raw) if isinstance(raw, str) or not isinstance(raw, bool) else None
    except (TypeError, ValueError, OverflowError):
        number = None
    if wanted is int and isinstance(raw, float) and number != raw:
        number = None  # of 2.5, nobody means 2
    if number is None or not (number > 0 or (may_be_zero and number == 0)):  # so that `nan` is refused too
        least = "of 0 or more" if may_be_zero else "above 0"
        raise ValueError(f"must be a {'whole ' if wanted is int else ''}number {least}, not {raw!r}")
    return number
