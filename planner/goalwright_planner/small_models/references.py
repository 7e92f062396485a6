"""Which parts of a goal build on others: by a word for "then", a pronoun, or the name of a thing that a part makes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goalwright_planner.plan.task_id import parent_of
from goalwright_planner.small_models.clauses import language_of, mask

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright_planner.plan.plan import Plan
    from goalwright_planner.small_models.languages import Language

# Words allowed before a pronoun: a later pronoun mostly refers to something in the request itself.
_NEAR = 7
_NEAR_POSSESSIVE = 3
# Words that refer to other requests: "in two sentences each", "another one".
_RELATIVE = re.compile(
    r"(?<!\w)(?:each|apiece|respectively|another|others?|same|similar|likewise|too|former|latter|jeweils|andere\w*|gleiche\w*"
    r"|chacune?|autres?|mêmes?|cada|otr[oa]s?|mism[oa]s?|每|另|同样)(?!\w)",
    re.IGNORECASE,
)
_DEFINITE = re.compile(
    r"(?<!\w)(?:the|that|this|our|das|den|dem|die|der|le|la|les|el|los|las)\s+([^\W\d_]{3,})", re.IGNORECASE
)
_MADE = re.compile(r"(?<!\w)(?:an?|one|eine?n?|une?|una?)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Piece:
    """One request of a goal; requests of one `group` were listed together, and `whole` needs all others of its group.

    A `linked` piece may build on others of its group, as in "a meal plan and a shopping list for it". A piece of its
    `own` has its own verb, and lists nothing.
    """

    text: str
    group: int
    then: bool = False
    whole: bool = False
    linked: bool = False
    own: bool = False


def builds_on(pieces: Sequence[Piece], language: Language) -> list[tuple[int, ...]]:
    """Return, for each request, the positions of the requests whose results it needs."""
    needs: list[tuple[int, ...]] = []
    for index, piece in enumerate(pieces):
        needs.append(_needs(pieces, index, piece, needs, language))
    return needs


def _needs(
    pieces: Sequence[Piece], index: int, piece: Piece, needs: Sequence[tuple[int, ...]], language: Language
) -> tuple[int, ...]:
    if piece.whole:
        return tuple(i for i in range(index) if pieces[i].group == piece.group)
    before = [i for i in range(index) if pieces[i].group != piece.group]
    ends = tuple(i for i in before if not any(i in needs[later] for later in before))
    text = mask(piece.text)
    if language.any_of(language.gathers).search(text) or _stands_for(text, "them", language):
        return tuple(before)  # a task sees the results of its dependencies only, not of theirs
    if piece.then and ends:
        return ends
    if piece.linked and (former := _former(pieces, index, language)):
        before = former
    if before and _stands_for(text, "it", language):
        return (_meant(pieces, before[-1], needs, language),)
    named = [i for i in before if _names(text, pieces[i].text, language)]
    return (named[-1],) if named else ()


def stand_alone(pieces: Sequence[Piece], needs: Sequence[tuple[int, ...]], language: Language) -> bool:
    """Whether each request is clear without the requests that it does not build on."""
    texts = [piece.text for piece in pieces]
    alone = [i for i, before in enumerate(needs) if not before]
    return not any(_leans(mask(texts[i]), language, first=i == 0) or _points(texts, i) for i in alone)


def _leans(text: str, language: Language, *, first: bool) -> bool:
    """Whether a request has a word that refers to others, or makes something without naming its subject."""
    pronouns = f"{language.it} {language.them} {language.its} {language.their}"
    if language.any_of(pronouns).search(text) or _RELATIVE.search(text):
        return True
    makes = language.any_of(language.makes, start=True).match(text)
    return not first and makes is not None and language.any_of(language.prepositions).search(text) is None


def _points(texts: Sequence[str], index: int) -> bool:
    """Whether a request mentions "the farm" after an earlier one mentioned a farm."""
    before = re.findall(r"\w+", " ".join(texts[:index]).casefold())
    return any(noun.casefold() in before for noun in _DEFINITE.findall(mask(texts[index])))


def _former(pieces: Sequence[Piece], index: int, language: Language) -> list[int]:
    """Return the requests of the group that a later one can refer to; none if the first has the same pronoun."""
    group = [i for i in range(index) if pieces[i].group == pieces[index].group]
    return [] if group and _stands_for(mask(pieces[group[0]].text), "it", language) else group


def _stands_for(text: str, number: str, language: Language) -> bool:
    """Whether a request has a pronoun near its verb, without a question word that the pronoun may belong to."""
    near = _near(text, language.it if number == "it" else language.them, _NEAR, language)
    return near or _near(text, language.its if number == "it" else language.their, _NEAR_POSSESSIVE, language)


def _near(text: str, words: str, most: int, language: Language) -> bool:
    pronoun = language.any_of(words).search(text)
    if pronoun is None or not language.spaced:
        return pronoun is not None
    before = text[: pronoun.start()]
    asked = language.any_of(language.asks).search(before)
    own = asked is not None and asked.start() > 0 and before[asked.end() :].strip()
    return len(before.split()) <= most and not own


def _meant(pieces: Sequence[Piece], last: int, needs: Sequence[tuple[int, ...]], language: Language) -> int:
    """Return the request that "it" refers to: the last thing that was made, or its changed form."""
    while len(needs[last]) == 1 and not pieces[last].then and _stands_for(mask(pieces[last].text), "it", language):
        if language.any_of(language.changes, start=True).match(pieces[last].text):
            break
        last = needs[last][0]
    return last


def _names(text: str, earlier: str, language: Language) -> bool:
    """Whether a request mentions "the poem" and an earlier one makes "a poem"."""
    made = _MADE.search(mask(earlier))
    if made is None:
        return False
    phrase = earlier[made.end() :]
    inner = language.any_of(language.prepositions).search(mask(phrase))
    words = (phrase[: inner.start()] if inner else phrase).split()
    noun = words[-1].strip(".,;:") if words else ""
    again = rf"(?<!\w)(?:the|that|this|das|den|dem|die|der|le|la|el)\s+(?:[\w-]+\s+)?{re.escape(noun)}(?!\w)"
    return len(noun) > 2 and re.search(again, text, re.IGNORECASE) is not None


def deliverables(plan: Plan) -> frozenset[str]:
    """Return the ids of tasks that others depend on, and whose results still belong in the answer.

    "Write a function, then write tests for it" asks for both; "write a poem, then shorten it" for the short poem only.
    """
    users = {
        task.id: [later.instruction for later in plan.tasks if task.id in later.depends_on]
        for task in plan.tasks
        if task.action_type != "tool" and parent_of(task.id) is None
    }
    return frozenset(name for name, texts in users.items() if texts and not any(_takes_up(text) for text in texts))


def _takes_up(instruction: str) -> bool:
    """Whether a task's result replaces the results it builds on: a new form of them, or all of them combined."""
    language = language_of(instruction)
    begins = language.any_of(f"{language.changes} {language.weighs}", start=True)
    return any(pattern.search(mask(instruction)) is not None for pattern in (begins, language.any_of(language.joins)))
