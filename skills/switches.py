"""The environment variables that skills obey: how their values are read, and which cannot be."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

BUDGET = "SKILLS_PROMPT_CHAR_BUDGET"
REFRESH = "SKILLS_REFRESH_ON_CALL"
_OFF = frozenset({"false", "0", "no", "off"})
_ON = frozenset({"true", "1", "yes", "on", ""})


def is_off(value: str) -> bool:
    """Whether a value switches something off; all else leaves it on."""
    return value.strip().lower() in _OFF


def count(value: str) -> int | None:
    """The number that a value is; None where it is none, or one beyond all sense."""
    text = value.strip()
    return int(text) if text.isdecimal() and len(text) < 10 else None


def faults(env: Mapping[str, str]) -> Iterator[str]:
    """A sentence for each variable whose value means nothing, so that it counts as if it were not set."""
    if env.get(BUDGET, "").strip() and count(env[BUDGET]) is None:
        yield f"{BUDGET}={env[BUDGET]} is not used: it must be a whole number of characters, such as 12000"
    for name, value in env.items():
        switch = name == REFRESH or (name.startswith("SKILL_") and name.endswith("_ENABLED"))
        if switch and not is_off(value) and value.strip().lower() not in _ON:
            yield f"{name}={value} is not used: it must be true or false"
