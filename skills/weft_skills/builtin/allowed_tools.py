"""What a skill's `allowed-tools` leaves of the built-in tools: it narrows what a task has, and never adds to it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from weft_skills.builtin.toolset import OPTIONAL, STANDARD

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

KEY = "allowed-tools"
# The names that skills use, as other agents have them.
NAMES: Mapping[str, tuple[str, ...]] = {
    "read": ("ReadFile",),
    "glob": ("ListFiles",),
    "grep": ("Grep",),
    "write": ("WriteFile",),
    "edit": ("EditFile",),
    "bash": ("shell_run", "run_script"),
    "webfetch": ("WebFetch",),
}
_KEPT = ("Skill",)
_DETAIL = re.compile(r"\([^)]*\)")


def narrowed(offered: Sequence[str], extra: Mapping[str, Any]) -> tuple[str, ...]:
    """The tools that a task of a skill has, of those that its run is offered."""
    names = _listed(extra)
    if names is None:
        return tuple(offered)
    allowed = {tool for name in names for tool in _tools(name)}
    return tuple(name for name in offered if name in allowed or name in _KEPT)


def unknown(extra: Mapping[str, Any], others: Sequence[str] = ()) -> list[str]:
    """The names that stand for no tool: neither a built-in one nor one of `others`."""
    known = {name.lower() for name in (*others, *_KEPT)}
    return [name for name in _listed(extra) or () if not _tools(name) and name.lower() not in known]


def _tools(name: str) -> tuple[str, ...]:
    own = next((tool for tool in (*STANDARD, *OPTIONAL.values()) if tool.lower() == name.lower()), None)
    return NAMES.get(name.lower(), (own,) if own is not None else ())


def _listed(extra: Mapping[str, Any]) -> list[str] | None:
    """The names in a text or list such as `Read, Bash(git:*)`; None if there are none to go by."""
    value = extra.get(KEY)
    texts = value if isinstance(value, list) else [value]
    if value is None or not all(isinstance(text, str) for text in texts):
        return None
    names = [name for text in texts for name in re.split(r"[\s,]+", _DETAIL.sub("", str(text))) if name]
    return list(dict.fromkeys(names)) or None
