"""What a goal asks for without saying it, as the words that skills for it use.

"Compare React and Vue" and "Which database should I use?" ask for a choice between alternatives, though neither has a
word of a description such as "weighs options and recommends one".
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from goalwright_skills.selection.terms import terms


@dataclass(frozen=True, slots=True)
class Intent:
    """A kind of request: what it is called, how goals express it, and the words of skills that serve it."""

    name: str
    goal: re.Pattern[str]
    words: tuple[str, ...]


# Bounded, since what begins it are signs that it may have too: a line of dashes would take hours.
_THING = r"[\w.+#-]{1,60}(?:\s+[\w.+#-]{1,60})?"
# What is compared in Chinese; 比较 alone says "rather".
_HAN_THING = r"[^。！？，,.!?\n]{1,20}"
_INTENTS = (
    Intent(
        "a choice",
        re.compile(
            rf"""
            \b(?:compare|comparing|comparison|versus|vs|pros\s+and\s+cons|trade-?offs?)\b
            | \b(?:choose|choosing|decide|deciding|pick|picking)\s+(?:between|from|among|one\s+of)\b
            | \bchoosing\b | \bhelp\s+(?:me|us)\s+(?:choose|decide|pick)\b
            | \bwhich\b[^.?!\n]{{1,60}}\bshould\s+(?:i|we)\b
            | \b(?:should\s+(?:i|we)|recommend(?:ation)?)\b[^.?!\n]{{1,60}}\bor\b
            | \b(?:which|what)(?:['’]?s|\s+is)?\s+(?:\w+\s+){{0,3}}better\b
            | ^\W{{0,20}}(?!(?:is|are|was|do|does|did|can|will|has|have|yes|no|now|sooner|more)\b)
              {_THING}\s+or\s+{_THING}\s*\?
            | 对比|比较(?:一下|下)|比较{_HAN_THING}[和与跟及]|[和与跟及]{_HAN_THING}比较
            | 哪个好|哪个更|哪个比较|哪一个|還是|还是|選擇|选择
            """,
            re.IGNORECASE | re.VERBOSE,
        ),
        ("compare", "choose", "option", "alternative", "decide", "versus", "对比", "选型"),
    ),
)


def asked(goal: str) -> dict[str, str]:
    """The terms that a goal asks for, each with the name of its intent."""
    found = [intent for intent in _INTENTS if intent.goal.search(goal)]
    return {term: intent.name for intent in found for word in intent.words for term in terms(word)}
