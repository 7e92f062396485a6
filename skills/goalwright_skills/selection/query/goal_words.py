"""The words of a goal that count as evidence for a skill, and how much each counts.

Numbers do not count; everyday words and file name endings count half. A goal that asks for a choice implies words that
it does not contain: "Compare React and Vue" fits a skill that "weighs options and recommends one".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice

from goalwright_skills.selection.query.terms import spelled, terms

HALF = 0.5
# A bound on the different words of a goal; each word counts less than the one before it, and words this late hardly.
MAX_WORDS = 20_000
_NUMBER = re.compile(
    r"(?<![\w.])[#$€£]?\d+(?:[.,:/-]\d+)*(?:st|nd|rd|th|k|m|x|%|€|am|pm|h|min|px|mm|cm|km|kg|mb|gb)?(?!\w)",
    re.IGNORECASE,
)
_FILE_ENDING = re.compile(r"(?<=\w)\.([A-Za-z][A-Za-z0-9]{0,4})(?![\w.])")
# A word and its term start with the same letters.
_START = 2
_WORDS = """
    time day days week month year hour minute today tomorrow yesterday tonight morning evening night weekend
    people person man woman friend family mother father brother sister son daughter kid child baby
    life home house room school job place world city country street car dog cat food water money
    part number name word line side end kind sort lot bit case fact idea question answer problem
    good bad best better worse great nice new old young big small large long short little high low right left
    first second last next early late easy hard free full whole real true sure ready happy sad fun fast quick simple
    two three four five six seven eight nine ten hundred thousand
    tell say said ask know think mean see look watch hear come take bring find keep put try call feel leave show
    play run move walk live stay happen become turn start stop begin finish continue open close set
    write read plan talk speak learn buy sell pay eat drink sleep wear cook sing dance draw drive travel visit
    meet love hate hope wish remember forget wait
    book song film movie music game party trip story poem letter email note card gift
    thank thanks hello hi good bye okay really maybe always never often again soon later already still
    away back around together alone
    """
EVERYDAY_WORDS = frozenset(_WORDS.split())
_STARTS = frozenset(word[:_START] for word in EVERYDAY_WORDS)
# The two things of a choice. The lengths are bounded, since a line of dashes would otherwise take hours.
_THING = r"[\w.+#-]{1,60}(?:\s+[\w.+#-]{1,60})?"
_HAN_THING = r"[^。！？，,.!?\n]{1,20}"
_CHOICE = re.compile(
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
)
_CHOICE_WORDS = ("compare", "choose", "option", "alternative", "decide", "versus", "对比", "选型")


@dataclass(frozen=True, slots=True)
class GoalWords:
    """The terms of a text with their spelling and their evidence, and the terms that it implies."""

    spelling: dict[str, str]
    evidence: dict[str, float]
    implied: tuple[str, ...]

    @property
    def can_select(self) -> bool:
        """Whether the words can select a skill: a single word or everyday words cannot."""
        words = [evidence for term, evidence in self.evidence.items() if len(term) > 1]
        return bool(self.implied) or (len(words) > 1 and max(words) == 1.0)

    @classmethod
    def of(cls, text: str) -> GoalWords:
        """Read the words of a goal, or of a part of it."""
        spelling = dict(islice(spelled(_NUMBER.sub(" ", text)).items(), MAX_WORDS))
        endings = {term for match in _FILE_ENDING.finditer(text) for term in terms(match[1])}
        evidence = {term: HALF if term in endings or is_everyday(term) else 1.0 for term in spelling}
        return cls(spelling, evidence, tuple(term for term in implied_terms(text) if term not in spelling))


def implied_terms(goal: str) -> list[str]:
    """Return the terms of skills that weigh options, if the goal asks for a choice."""
    if _CHOICE.search(goal) is None:
        return []
    return list(dict.fromkeys(chain.from_iterable(map(terms, _CHOICE_WORDS))))


def is_everyday(term: str) -> bool:
    """Whether a term is that of an everyday word, which does not tell skills apart."""
    start = term[:_START]
    return start in _STARTS and term in _everyday_terms(start)


@cache
def _everyday_terms(start: str) -> frozenset[str]:
    """Return the terms of the everyday words with this start; stemming all of them takes longer than a selection."""
    return frozenset(chain.from_iterable(terms(word) for word in EVERYDAY_WORDS if word[:_START] == start))
