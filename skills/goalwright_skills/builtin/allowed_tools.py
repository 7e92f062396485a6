"""What a skill's `allowed-tools` leaves of the built-in tools: it narrows what a task has, and never adds to it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from goalwright_skills.builtin.toolset import TOOLS, called

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

KEY = "allowed-tools"
_ALWAYS = frozenset(tool.name for tool in TOOLS if tool.always)
_DETAIL = re.compile(r"\([^)]*\)")


def narrowed(offered: Sequence[str], extra: Mapping[str, Any]) -> tuple[str, ...]:
    """The tools that a task of a skill has, of those that its run is offered."""
    names = _listed(extra)
    if names is None:
        return tuple(offered)
    allowed = _ALWAYS.union(*(called(name) for name in names))
    return tuple(name for name in offered if name in allowed)


def unknown(extra: Mapping[str, Any], others: Sequence[str] = ()) -> list[str]:
    """The names that stand for no tool: neither a built-in one nor one of `others`."""
    own = {name.lower() for name in others}
    return [name for name in _listed(extra) or () if not called(name) and name.lower() not in own]


def _listed(extra: Mapping[str, Any]) -> list[str] | None:
    """The names in a text or list such as `Read, Bash(git:*)`; None if there are none to go by."""
    value = extra.get(KEY)
    texts = value if isinstance(value, list) else [value]
    if value is None or not all(isinstance(text, str) for text in texts):
        return None
    names = [name for text in texts for name in re.split(r"[\s,]+", _DETAIL.sub("", str(text))) if name]
    return list(dict.fromkeys(names)) or None
