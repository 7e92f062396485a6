"""Words of everyday talk: they say little about which skill is meant, however few skills have them."""

from __future__ import annotations

from functools import cache
from itertools import chain

from goalwright_skills.selection.terms import terms

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
