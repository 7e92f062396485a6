"""Whether a goal asks for something to be done with some of many things, by its own words."""

from __future__ import annotations

import re

# What a planner is told of conditions on items costs tokens, which only these goals are worth.
_MANY = (
    r"(?:\b(?:each|every|all|any|those|the ones|jede[nmrs]?|alle[nmrs]?|chaque|tous|toutes|cada|tod[oa]s|ogni)\b"
    r"|每|それぞれ|すべて|각|모든|кажд|всех)"
)
_SOME = (
    r"(?:\b(?:only (?:if|where|when|those|the ones|for)|if (?:it|they|its|there)|unless|except (?:if|where|for|those)"
    r"|(?:that|which) (?:is|are|was|were|has|have|do|does|needs?|lacks?|contains?|mentions?)|whose"
    r"|nur (?:wenn|falls|die|für)|falls|außer|seulement (?:si|ceux|celles)|sauf|solo (?:si|se|los|las|quelli)|excepto"
    r"|apenas (?:se|os|as)|tranne)\b|如果|只有|只对|場合|だけ|경우|если|только)"
)
_WORDS = re.compile(rf"{_MANY}[^.!?\n]{{0,200}}{_SOME}|{_SOME}[^.!?\n]{{0,200}}{_MANY}", re.IGNORECASE)


def tells_items_apart(goal: str) -> bool:
    """Whether a goal speaks of many things, and of a condition that holds for some of them."""
    return _WORDS.search(goal) is not None
