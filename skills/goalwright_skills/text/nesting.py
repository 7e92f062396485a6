"""How deeply values are nested: strangers may nest them deeper than can be read or recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

MOST_LEVELS = 100
_CUT = "…"


def is_too_deep(value: Any) -> bool:
    """Whether lists and objects are nested more than 100 levels deep."""
    level = [value]
    for _ in range(MOST_LEVELS):
        level = [item for container in level for item in _items(container)]
        if not level:
            return False
    return any(isinstance(deepest, Mapping | list | tuple) for deepest in level)


def flattened(value: Any, levels: int = MOST_LEVELS) -> Any:
    """The value, with an ellipsis in place of what is nested deeper."""
    if isinstance(value, msgspec.Struct):
        try:
            value = msgspec.to_builtins(value, enc_hook=str)
        except RecursionError:
            value = msgspec.structs.asdict(value)
    if not isinstance(value, Mapping | list | tuple):
        return value
    if levels == 0:
        return _CUT
    if isinstance(value, Mapping):
        return {key: flattened(item, levels - 1) for key, item in value.items()}
    return [flattened(item, levels - 1) for item in value]


def _items(value: Any) -> Any:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list | tuple) else ()
