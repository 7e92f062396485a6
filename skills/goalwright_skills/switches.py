"""The environment variables that control skills: how values are read, and which are invalid."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

BUDGET = "SKILLS_PROMPT_CHAR_BUDGET"
REFRESH = "SKILLS_REFRESH_ON_CALL"
_OFF = frozenset({"false", "0", "no", "off"})
_ON = frozenset({"true", "1", "yes", "on", ""})


def is_off(value: str) -> bool:
    """Whether a value switches something off; any other value leaves it on."""
    return value.strip().lower() in _OFF


def count(value: str) -> int | None:
    """A value as a whole number; None if it is not one, or is absurdly large."""
    text = value.strip()
    return int(text) if text.isdecimal() and len(text) < 10 else None


def faults(env: Mapping[str, str]) -> Iterator[str]:
    """A sentence for each variable with an invalid value, which counts as not set."""
    if env.get(BUDGET, "").strip() and count(env[BUDGET]) is None:
        yield f"{BUDGET}={env[BUDGET]} is ignored: it must be a whole number of characters, such as 12000"
    for name, value in env.items():
        switch = name == REFRESH or (name.startswith("SKILL_") and name.endswith("_ENABLED"))
        if switch and not is_off(value) and value.strip().lower() not in _ON:
            yield f"{name}={value} is ignored: it must be true or false"
