"""The skills that a goal needs: for the whole of it, then for each of its parts, each skill once.

A goal, or a part, that probably needs no skill selects none. Otherwise the best skill is chosen and what is as good;
then, from the whole goal, those that fit what the chosen ones leave of its words: what a skill has by a word, beyond
what they have by it, is its gain. A skill that a chosen one names, or that names one, gains more; one that a chosen
skill says it is used with comes with it.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from goalwright_skills.selection.query.goal_words import is_everyday
from goalwright_skills.selection.query.triggers import refuses
from goalwright_skills.selection.ranking.reading import Fit
from goalwright_skills.selection.ranking.signals import FEWEST_WORDS, Candidate, Signals, strength

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from goalwright_skills.selection.ranking.reading import GoalReading, Passage


# What is as good as the first comes this near to its score, or to its lead by words; the user's own sooner, if the
# first is bundled.
NEAR, NEAR_BUNDLED = 0.5, 1.5
NEAR_LEAD = 0.85
ALTERNATIVES = 2
# A skill that goes with a chosen one is taken for a part if it comes this near to the best one's score.
EQUAL = 1.0
# Of what chosen skills have by a word, this share is taken off the others' gain: the same word may mean two tasks.
TAKEN = 0.7
# A word is new if a skill has it this many times as much as the chosen ones.
NEW = 1.5
# How much more a partner gains; one of many partners gains less.
PARTNER, PARTNERS = 0.5, 3
# The strength, for what is left of the goal, from which a further skill is chosen.
LEFT = 1.0
MOST = 8
# The least probability of a further skill.
LIKELY = 0.05
# The least probability of a skill that the goal names.
NAMED = 0.9
_CUT = re.compile(r"[.!?;:,]\s|[。！？；：，、]+|\s(?:and|then|but|or)\s")


def bound(text: str) -> int:
    """How many skills a goal may have at most: one more than it has clauses."""
    lines = (" ".join(line.split()) for line in text.split("\n"))  # patterns are slow in long runs of spaces
    found = (clause for line in lines for clause in _CUT.split(line) if clause.strip())
    clauses = sum(len(clause.split()) > 1 or not clause.isascii() for clause in found)
    return min(MOST, max(clauses, 1) + 1)


@dataclass(frozen=True, slots=True)
class Chosen:
    """A chosen skill, where it was found and how well it fits there.

    `partner` is a skill chosen before that it goes with, and which says so itself if this one is `needed`. One of
    several that are as good is `contested`.
    """

    document: int
    passage: Passage
    fit: Fit
    partner: int | None = None
    needed: bool = False
    named: bool = False
    contested: bool = False

    @property
    def certain(self) -> bool:
        """Whether a plan has to use it: it is named, or beyond doubt and without an alternative."""
        return self.named or (not self.contested and self.score >= self.passage.pool.combination.certain)

    @property
    def score(self) -> float:
        """The probability that it is the right one."""
        found = self.passage.probability(self.fit)
        return max(found, NAMED) if self.named else found


class Choosing:
    """Chooses skills for a goal that was read; those that it names are chosen in any case."""

    def __init__(self, reading: GoalReading, named: Iterable[int] = ()) -> None:
        self._reading, self._whole, self._named = reading, reading.whole, named
        self._pool, self._scorer = reading.pool, reading.pool.scorer
        self._chosen: dict[int, Chosen] = {}
        self._covered: dict[int, float] = {}

    def choices(self) -> list[Chosen]:
        """The skills that the goal needs, in the order of choosing; none if it needs none."""
        most = bound(self._whole.text)
        for document in self._named:
            self._add_all([Chosen(document, self._whole, self._whole.fits[document], named=True)], MOST)
        if self._whole.selects:
            self._add_all(self._best(), most)
        for part in self._reading.parts:
            if part.selects:
                self._add_all([self._best_of_part(part)], most)
        while self._chosen and len(self._chosen) < most and (following := self._next()) is not None:
            self._add_all([following], most)
        return list(self._chosen.values())

    def _add_all(self, found: Sequence[Chosen], most: int) -> None:
        for choice in found:
            if choice.document in self._chosen or len(self._chosen) >= most or self._is_unlikely(choice):
                continue
            self._chosen[choice.document] = choice
            for term, add in choice.fit.candidate.adds.items():
                self._covered[term] = max(self._covered.get(term, 0.0), add)
            self._add_all(list(self._needed(choice)), MOST)

    def _is_unlikely(self, choice: Chosen) -> bool:
        """Whether a further skill is hardly ever the right one."""
        return bool(self._chosen) and not choice.named and not choice.needed and choice.score < LIKELY

    def _best(self) -> list[Chosen]:
        """The best skill of the goal, and those that are as good; a nested skill is not as good as its parent."""
        passage = self._whole
        ranked = self._of_goal() if self._reading.parts else passage.ranked
        first = ranked[0]
        parent = self._scorer.data.parent
        bundled = self._pool.bundled(first.candidate.document)
        found = [Chosen(first.candidate.document, passage, first)]
        for fit in ranked[1 : 1 + ALTERNATIVES]:
            document = fit.candidate.document
            near = NEAR_BUNDLED if bundled and not self._pool.bundled(document) else NEAR
            related = parent(document) == found[0].document or parent(found[0].document) == document
            as_good = fit.score >= first.score - near or fit.signals.lead >= NEAR_LEAD * first.signals.lead > 0
            if as_good and not related:
                found.append(Chosen(document, passage, fit))
        return [replace(choice, contested=len(found) > 1) for choice in found]

    def _best_of_part(self, part: Passage) -> Chosen:
        """The best skill of a part, or one nearly as good that goes with a chosen skill."""
        first = part.ranked[0]
        equals = [fit for fit in part.ranked if fit.score >= first.score - EQUAL]
        best = max(equals, key=lambda fit: self._partner(fit.candidate.document)[1])
        partner = self._partner(best.candidate.document)[0]
        return Chosen(best.candidate.document, part, best, partner, contested=len(equals) > 1)

    def _of_goal(self) -> list[Fit]:
        """The skills in the order of the whole goal and its parts together."""
        fits = self._whole.fits
        return [Fit(fits[at].candidate, fits[at].signals, score) for at, score in self._reading.ranked if at in fits]

    def _needed(self, choice: Chosen) -> Iterator[Chosen]:
        """The skills that a chosen one says it is used with."""
        for at in self._scorer.data.needs(choice.document):
            fit = choice.passage.fits.get(at) or Fit(Candidate(at, 0.0, 0.0, {}, 0.0), Signals(), choice.fit.score)
            yield Chosen(at, choice.passage, fit, choice.document, needed=True)

    def _next(self) -> Chosen | None:
        """The skill that fits best what the chosen ones leave of the goal's words."""
        query, unseen = self._whole.query, self._scorer.unseen
        left = query.unknown + sum(
            weight - min(weight, self._covered.get(term, 0.0)) for term, weight in query.weights.items()
        )
        found: Chosen | None = None
        most = LEFT * math.sqrt(left * unseen)
        for document, fit in self._whole.fits.items():
            if document in self._chosen or fit.candidate.score * (1 + PARTNER) < most:
                continue  # no gain exceeds the score
            alone = _gain(fit.candidate, self._covered)
            if alone * (1 + PARTNER) < most or (words := self._new_words(fit.candidate)) < FEWEST_WORDS:
                continue
            partner, closeness = self._partner(document)
            gain = alone * (1 + PARTNER * closeness)
            if gain < most or strength(gain, left, unseen, words) < LEFT:
                continue
            chosen = Chosen(document, self._whole, fit, partner)
            if not self._is_unlikely(chosen):
                found, most = chosen, gain
        return found

    def _new_words(self, candidate: Candidate) -> float:
        """How many words speak for it that the chosen ones do not have; a word of its name speaks twice."""
        evidence = self._whole.query.evidence
        new = {
            term
            for term, add in candidate.adds.items()
            if term in evidence and add > NEW * self._covered.get(term, 0.0)
        }
        name = self._pool.spelled_name(candidate.document).keys() & self._whole.words.evidence.keys()
        named = not new.isdisjoint(map(self._scorer.data.term, name))
        return sum(evidence[term] for term in new) + named

    def _partner(self, document: int) -> tuple[int | None, float]:
        """The chosen skill that names this one or is named by it, and how close they are."""
        own = self._scorer.data.partners(document)
        best: tuple[int | None, float] = (None, 0.0)
        for other in self._chosen:
            if other in own:
                closeness = min(1.0, PARTNERS / min(len(own), len(self._scorer.data.partners(other))))
                best = max(best, (other, closeness), key=lambda pair: pair[1])
        return best


def _gain(candidate: Candidate, covered: Mapping[int, float]) -> float:
    """What a skill adds to what the chosen ones have, its pairs in proportion."""
    if not candidate.by_words:
        return 0.0
    more = 0.0
    for term, add in candidate.adds.items():
        if (new := add - TAKEN * covered.get(term, 0.0)) > 0:
            more += new
    return more * candidate.score / candidate.by_words


# A word that more names have belongs to a family of skills, such as the product that all of them are for.
FEW_NAMES = 2
_FEWEST_LETTERS = 4


def named(whole: Passage) -> dict[int, str]:
    """The skills among those that may fit which the goal names, with the words that do so."""
    found: dict[int, str] = {}
    order = list(whole.words.spelling)
    said = [name for name in whole.fits if whole.fits[name].signals.name > 0]
    for document in said:
        own = whole.pool.spelled_name(document)
        words = list(own)
        if _in_a_row(words, order):
            found[document] = " ".join(whole.words.spelling[word] for word in words)
        elif (len(words) == 1 or not whole.sounds_everyday) and (
            telling := [word for word in words if _is_distinctive(word, own[word], whole, 1 if len(words) == 1 else 0)]
        ):
            found[document] = whole.words.spelling[telling[0]]
    return {document: words for document, words in found.items() if not refuses(whole.text, words.split()[0])}


def _in_a_row(words: list[str], order: list[str]) -> bool:
    """Whether a name of several words, not all everyday ones, is said as it stands."""
    if len(words) < 2 or all(map(is_everyday, words)):
        return False
    return any(order[at : at + len(words)] == words for at in range(len(order)))


def _is_distinctive(term: str, in_name: str, whole: Passage, most: int) -> bool:
    """Whether the goal has a word of a name that is at `most` so common, and that few names have."""
    spelling, table = whole.words.spelling.get(term, ""), whole.pool.table
    if len(spelling) < _FEWEST_LETTERS or is_everyday(term):
        return False
    if table is None or max(table.commonness(spelling), table.commonness(in_name)) > most:
        return False
    return whole.pool.names_with(term) <= FEW_NAMES
