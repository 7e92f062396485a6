"""The words of a goal that can speak for a skill, and how much each does.

Numbers speak for none: those of a list, of a date or of a sum. Everyday words and the endings of file names speak half.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice

from goalwright_skills.selection.query.terms import spelled, terms

HALF = 0.5
# Hardly a text has more different words; each counts less than the one before it, and the last of these almost nothing.
MOST = 20_000
_NUMBER = re.compile(
    r"(?<![\w.])[#$€£]?\d+(?:[.,:/-]\d+)*(?:st|nd|rd|th|k|m|x|%|€|am|pm|h|min|px|mm|cm|km|kg|mb|gb)?(?!\w)",
    re.IGNORECASE,
)
_ENDING = re.compile(r"(?<=\w)\.([A-Za-z][A-Za-z0-9]{0,4})(?![\w.])")


@dataclass(frozen=True, slots=True)
class GoalWords:
    """The terms of a text with their spelling and with how much each speaks, and those that it asks for unsaid."""

    spelling: dict[str, str]
    evidence: dict[str, float]
    asked: dict[str, str]

    @property
    def say_something(self) -> bool:
        """Whether the words can ask for a skill: one alone cannot, and everyday words do not add up."""
        words = [evidence for term, evidence in self.evidence.items() if len(term) > 1]
        return bool(self.asked) or (len(words) > 1 and max(words) == 1.0)

    @classmethod
    def of(cls, text: str) -> GoalWords:
        """The words of a goal, or of a part of it."""
        spelling = dict(islice(spelled(_NUMBER.sub(" ", text)).items(), MOST))
        endings = {term for match in _ENDING.finditer(text) for term in terms(match[1])}
        evidence = {term: HALF if term in endings or is_everyday(term) else 1.0 for term in spelling}
        unsaid = {term: name for term, name in asked(text).items() if term not in spelling}
        return cls(spelling, evidence, unsaid)


# A word and its term begin with the same letters.
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
WORDS = frozenset(_WORDS.split())
_STARTS = frozenset(word[:_START] for word in WORDS)


def is_everyday(term: str) -> bool:
    """Whether a term is that of an everyday word."""
    start = term[:_START]
    return start in _STARTS and term in _terms_with(start)


@cache
def _terms_with(start: str) -> frozenset[str]:
    """The terms of the everyday words that begin so; to find those of all takes longer than to select a skill."""
    return frozenset(chain.from_iterable(terms(word) for word in WORDS if word[:_START] == start))


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
