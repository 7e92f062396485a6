"""Whether a goal asks for something to be done again until it is right, by its own words."""

from __future__ import annotations

import re

# What a planner is told of rounds costs tokens, which only these goals are worth.
_WORDS = re.compile(
    r"\b(?:until|till|repeat(?:ed|edly|ing)?|iterat(?:e|es|ively|ing|ion|ions)|re-?try|in a loop|rounds?"
    r"|again and again|over and over|keep (?:on )?\w+ing|(?:as often|as long) as"
    r"|bis (?:alle|das|der|die|es|kein|keine|nichts|sie)\b|wiederhol\w+|solange|runden?"
    r"|jusqu|répét\w+|tant que|hasta que|repit\w+|repet\w+|até que|finché|fino a quando|ripet\w+)"
    r"|直到|重复|反复|直至|まで繰り返|繰り返し|될 때까지|반복|пока не|повтор",
    re.IGNORECASE,
)


def asks_for_rounds(goal: str) -> bool:
    """Whether a goal speaks of doing something again, or until something holds."""
    return _WORDS.search(goal) is not None
