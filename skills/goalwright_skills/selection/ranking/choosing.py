"""Chooses the skills that a goal needs: for the whole goal, then for each of its parts, each skill once.

A goal or part that probably needs no skill selects none. Otherwise the best skill is chosen, with equally good
alternatives. Further skills are then chosen for the words of the goal that the chosen skills do not cover: a skill
gains what it scores for a word beyond what the chosen ones score for it. A skill that mentions a chosen one, or is
mentioned by it, gains more, and a skill that a chosen one requires comes with it.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from goalwright_skills.selection.query.goal_words import is_everyday
from goalwright_skills.selection.query.triggers import is_negated
from goalwright_skills.selection.ranking.reading import Fit
from goalwright_skills.selection.ranking.signals import FEWEST_WORDS, Candidate, Signals, strength

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from goalwright_skills.selection.ranking.reading import GoalReading, Passage


# Alternatives score this close to the best skill, or reach this share of its lead by words. The user's own skills may
# be further behind a bundled one.
NEAR, NEAR_BUNDLED = 0.5, 1.5
NEAR_LEAD = 0.85
ALTERNATIVES = 2
# A partner of a chosen skill is taken for a part if it scores this close to the part's best skill.
EQUAL = 1.0
# The share of the chosen skills' score for a word that is subtracted from the gain of the others: the same word may
# belong to two tasks.
TAKEN = 0.7
# A word counts as new if a skill scores this many times as much for it as the chosen ones.
NEW = 1.5
# The additional gain of a partner, and the number of partners above which it is shared out.
PARTNER, PARTNERS = 0.5, 3
# The least strength of a further skill, for the uncovered part of the goal.
LEFT = 1.0
MOST = 8
# The least probability of a further skill.
LIKELY = 0.05
# The least probability of a skill that the goal names.
NAMED = 0.9
# A word in more names than this belongs to a family of skills, such as the product that all of them are for.
FEW_NAMES = 2
_FEWEST_LETTERS = 4
_CLAUSE_END = re.compile(r"[.!?;:,]\s|[。！？；：，、]+|\s(?:and|then|but|or)\s")


def bound(text: str) -> int:
    """Return the largest number of skills for a goal: one more than it has clauses."""
    lines = (" ".join(line.split()) for line in text.split("\n"))  # the pattern is slow in long runs of spaces
    clauses = (clause for line in lines for clause in _CLAUSE_END.split(line) if clause.strip())
    count = sum(len(clause.split()) > 1 or not clause.isascii() for clause in clauses)
    return min(MOST, max(count, 1) + 1)


@dataclass(frozen=True, slots=True)
class Chosen:
    """A chosen skill, the passage it was chosen for and how well it fits.

    `partner` is an earlier choice that it goes with, and that requires it if `needed`. A `contested` choice has equally
    good alternatives.
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
        """Whether a plan has to use it: the goal names it, or it is very probable and has no alternative."""
        return self.named or (not self.contested and self.score >= self.passage.pool.combination.certain)

    @property
    def score(self) -> float:
        """The probability that it is the right one."""
        probability = self.passage.probability(self.fit)
        return max(probability, NAMED) if self.named else probability


class Choosing:
    """Chooses skills for a goal; `named` are the skills that the goal names in passing, with the words that do so."""

    def __init__(self, reading: GoalReading) -> None:
        self._reading, self._whole = reading, reading.whole
        self._pool, self._scorer = reading.pool, reading.pool.scorer
        self.named = named(reading.whole)
        self._chosen: dict[int, Chosen] = {}
        self._covered: dict[int, float] = {}

    def choices(self) -> list[Chosen]:
        """Return the skills that the goal needs, in the order of choosing."""
        limit = bound(self._whole.text)
        for document in self.named:
            self._add_all([Chosen(document, self._whole, self._whole.fits[document], named=True)], MOST)
        if self._whole.selects:
            self._add_all(self._best(), limit)
        for part in self._reading.parts:
            if part.selects:
                self._add_all([self._best_of_part(part)], limit)
        while self._chosen and len(self._chosen) < limit and (following := self._next()) is not None:
            self._add_all([following], limit)
        return list(self._chosen.values())

    def _add_all(self, choices: Sequence[Chosen], limit: int) -> None:
        for choice in choices:
            if choice.document in self._chosen or len(self._chosen) >= limit or self._is_unlikely(choice):
                continue
            self._chosen[choice.document] = choice
            for term, add in choice.fit.candidate.adds.items():
                self._covered[term] = max(self._covered.get(term, 0.0), add)
            self._add_all(list(self._needed(choice)), MOST)

    def _is_unlikely(self, choice: Chosen) -> bool:
        return bool(self._chosen) and not choice.named and not choice.needed and choice.score < LIKELY

    def _best(self) -> list[Chosen]:
        """Return the best skill and its alternatives; nested skills and their parents exclude each other."""
        passage = self._whole
        ranked = self._by_goal_score() if self._reading.parts else passage.ranked
        first = ranked[0]
        parent = self._scorer.data.parent
        bundled = self._pool.bundled(first.candidate.document)
        choices = [Chosen(first.candidate.document, passage, first)]
        for fit in ranked[1 : 1 + ALTERNATIVES]:
            document = fit.candidate.document
            near = NEAR_BUNDLED if bundled and not self._pool.bundled(document) else NEAR
            related = parent(document) == choices[0].document or parent(choices[0].document) == document
            as_good = fit.score >= first.score - near or fit.signals.lead >= NEAR_LEAD * first.signals.lead > 0
            if as_good and not related:
                choices.append(Chosen(document, passage, fit))
        return [replace(choice, contested=len(choices) > 1) for choice in choices]

    def _best_of_part(self, part: Passage) -> Chosen:
        """Return the best skill of a part, or a slightly worse one that goes with a chosen skill."""
        first = part.ranked[0]
        equals = [fit for fit in part.ranked if fit.score >= first.score - EQUAL]
        best = max(equals, key=lambda fit: self._partner(fit.candidate.document)[1])
        partner = self._partner(best.candidate.document)[0]
        return Chosen(best.candidate.document, part, best, partner, contested=len(equals) > 1)

    def _by_goal_score(self) -> list[Fit]:
        """Sort the skills by the score for the whole goal and its parts together."""
        fits = self._whole.fits
        return [
            Fit(fits[document].candidate, fits[document].signals, score)
            for document, score in self._reading.ranked
            if document in fits
        ]

    def _needed(self, choice: Chosen) -> Iterator[Chosen]:
        """Yield the skills that a chosen one says it is used with."""
        for document in self._scorer.data.needs(choice.document):
            unread = Fit(Candidate(document, 0.0, 0.0, {}, 0.0), Signals(), choice.fit.score)
            fit = choice.passage.fits.get(document) or unread
            yield Chosen(document, choice.passage, fit, choice.document, needed=True)

    def _next(self) -> Chosen | None:
        """Return the skill with the largest gain for the words that the chosen skills do not cover."""
        query, unseen = self._whole.query, self._scorer.unseen
        left = query.unknown + sum(
            weight - min(weight, self._covered.get(term, 0.0)) for term, weight in query.weights.items()
        )
        best: Chosen | None = None
        best_gain = LEFT * math.sqrt(left * unseen)
        for document, fit in self._whole.fits.items():
            if document in self._chosen or fit.candidate.score * (1 + PARTNER) < best_gain:
                continue  # no gain exceeds the score
            alone = _gain(fit.candidate, self._covered)
            if alone * (1 + PARTNER) < best_gain or (words := self._new_words(fit.candidate)) < FEWEST_WORDS:
                continue
            partner, closeness = self._partner(document)
            gain = alone * (1 + PARTNER * closeness)
            if gain < best_gain or strength(gain, left, unseen, words) < LEFT:
                continue
            choice = Chosen(document, self._whole, fit, partner)
            if not self._is_unlikely(choice):
                best, best_gain = choice, gain
        return best

    def _new_words(self, candidate: Candidate) -> float:
        """Count the words of the goal that the chosen skills lack; a word of the skill's name counts twice."""
        evidence = self._whole.query.evidence
        new = {
            term
            for term, add in candidate.adds.items()
            if term in evidence and add > NEW * self._covered.get(term, 0.0)
        }
        name = self._pool.spelled_name(candidate.document).keys() & self._whole.words.evidence.keys()
        in_name = not new.isdisjoint(map(self._scorer.data.term, name))
        return sum(evidence[term] for term in new) + in_name

    def _partner(self, document: int) -> tuple[int | None, float]:
        """Return the chosen skill that mentions this one or is mentioned by it, and how close they are."""
        own = self._scorer.data.partners(document)
        best: tuple[int | None, float] = (None, 0.0)
        for other in self._chosen:
            if other in own:
                closeness = min(1.0, PARTNERS / min(len(own), len(self._scorer.data.partners(other))))
                best = max(best, (other, closeness), key=lambda pair: pair[1])
        return best


def named(whole: Passage) -> dict[int, str]:
    """Return the skills that the goal names in passing, with the words that do so.

    "release notes for 2.1" has the whole name `release-notes`, and "cluster it with scanpy" a word of a name that means
    nothing else: no common English word and no word of many names. In everyday talk only whole names count: a spanner
    for a bicycle is not `spanner-basics`.
    """
    names: dict[int, str] = {}
    spelling = whole.words.spelling
    terms = list(spelling)
    for document in [document for document, fit in whole.fits.items() if fit.signals.name > 0]:
        spelled_name = whole.pool.spelled_name(document)
        words = list(spelled_name)
        commonness = 1 if len(words) == 1 else 0
        if _has_sequence(terms, words):
            names[document] = " ".join(spelling[word] for word in words)
        elif len(words) == 1 or not whole.sounds_everyday:
            distinctive = (word for word in words if _is_distinctive(word, spelled_name[word], whole, commonness))
            if (word := next(distinctive, None)) is not None:
                names[document] = spelling[word]
    return {document: words for document, words in names.items() if not is_negated(whole.text, words.split()[0])}


def _has_sequence(terms: list[str], words: list[str]) -> bool:
    """Whether the terms contain a name of several words in order; names of everyday words alone do not count."""
    if len(words) < 2 or all(map(is_everyday, words)):
        return False
    return any(terms[start : start + len(words)] == words for start in range(len(terms)))


def _is_distinctive(term: str, in_name: str, whole: Passage, commonness: int) -> bool:
    """Whether the goal has this word of a name, at most this common, and few other names have it."""
    spelling, table = whole.words.spelling.get(term, ""), whole.pool.table
    if len(spelling) < _FEWEST_LETTERS or is_everyday(term):
        return False
    if table is None or max(table.commonness(spelling), table.commonness(in_name)) > commonness:
        return False
    return whole.pool.names_with(term) <= FEW_NAMES


def _gain(candidate: Candidate, covered: Mapping[int, float]) -> float:
    """Return the score of a skill beyond what the chosen skills cover, with its word pairs in proportion."""
    if not candidate.by_words:
        return 0.0
    gain = 0.0
    for term, add in candidate.adds.items():
        if (new := add - TAKEN * covered.get(term, 0.0)) > 0:
            gain += new
    return gain * candidate.score / candidate.by_words
