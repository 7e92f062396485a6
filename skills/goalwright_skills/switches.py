"""Parses and validates the environment variables that control skills."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

BUDGET = "SKILLS_PROMPT_CHAR_BUDGET"
REFRESH = "SKILLS_REFRESH_ON_CALL"
_OFF = frozenset({"false", "0", "no", "off"})
_ON = frozenset({"true", "1", "yes", "on", ""})


def is_off(value: str) -> bool:
    """Whether a value means off; any other value means on."""
    return value.strip().lower() in _OFF


def count(value: str) -> int | None:
    """Parse a whole number; None if it is invalid or has more than nine digits."""
    text = value.strip()
    return int(text) if text.isdecimal() and len(text) < 10 else None


def faults(env: Mapping[str, str]) -> Iterator[str]:
    """Yield a warning for each variable with an invalid value, which counts as unset."""
    if env.get(BUDGET, "").strip() and count(env[BUDGET]) is None:
        yield f"{BUDGET}={env[BUDGET]} is ignored: it must be a whole number of characters, such as 12000"
    for name, value in env.items():
        switch = name == REFRESH or (name.startswith("SKILL_") and name.endswith("_ENABLED"))
        if switch and not is_off(value) and value.strip().lower() not in _ON:
            yield f"{name}={value} is ignored: it must be true or false"
