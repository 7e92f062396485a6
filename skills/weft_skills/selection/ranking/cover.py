"""Several skills for one goal: each further one counts for what of the goal the ones before leave.

Skills that score nearly as high as the first are alternatives to it. Of the others, what a skill adds by a word,
beyond what the chosen ones have by it, is its gain; it is chosen if it fits what is left of the goal as a skill fits a
goal of its own. A skill that a chosen one names, or that names one, gains more; one that a chosen skill says it is used
with comes with it.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weft_skills.selection.ranking.candidate import Candidate
from weft_skills.selection.ranking.confidence import FEWEST_WORDS, behind, strength

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from weft_skills.selection.ranking.bm25 import Query, Scorer

# An alternative scores at least this share of the first's score; the user's own sooner, if a bundled skill is first.
NEAR, NEAR_BUNDLED = 0.8, 0.6
# Of what chosen skills have by a word, this share is taken off the others' gain: the same word may mean two tasks.
TAKEN = 0.7
# A word is new if a skill has it this many times as much as the chosen ones.
NEW = 1.5
# How much more a partner gains; one of many partners gains less.
PARTNER, PARTNERS = 0.5, 3
# The strength, for what is left of the goal, from which a further skill is chosen.
LEFT = 1.0
MOST = 5
_CUT = re.compile(r"[.!?;:,]\s+|[。！？；：，、\n]+|\s+(?:and|then|but|or)\s+")


def bound(text: str) -> int:
    """How many skills a goal may have at most: one more than it has parts."""
    parts = sum(len(part.split()) > 1 or not part.isascii() for part in _CUT.split(text) if part.strip())
    return min(MOST, max(parts, 1) + 1)


@dataclass(frozen=True, slots=True)
class Pick:
    """A chosen skill, how strongly it fits what the ones before leave of the goal, and how many words speak for it.

    `share` is what is left of its probability beside an alternative, `partner` a skill chosen before that it goes with,
    which says so itself if this one is `needed`.
    """

    candidate: Candidate
    strength: float
    words: float
    share: float = 1.0
    partner: int | None = None
    needed: bool = False


@dataclass(frozen=True, slots=True)
class Cover:
    """Chooses a set of skills for a query; `names` gives a skill's name as terms, `bundled` whether it ships."""

    query: Query
    scorer: Scorer
    names: Callable[[int], set[int]]
    bundled: Callable[[int], bool]

    def chosen(self, candidates: Sequence[Candidate], limit: int) -> list[Pick]:
        """The first candidate, its alternatives, then those that fit what is left of the goal, best first."""
        waiting = self._nearest(candidates)
        found: list[Pick] = []
        covered: dict[int, float] = {}
        while len(found) < limit:
            chosen = [picked.candidate.document for picked in found]
            rest = [candidate for candidate in candidates if candidate.document not in chosen]
            pick = waiting.pop(0) if waiting else self._next(rest, covered, chosen)
            if pick is None:
                break
            found.append(pick)
            found += self._needed(pick, candidates, found)[: MOST - len(found)]
            for term, add in pick.candidate.adds.items():
                covered[term] = max(covered.get(term, 0.0), add)
        return found

    def _nearest(self, candidates: Sequence[Candidate]) -> list[Pick]:
        """The first candidate and its alternatives; a nested skill is not an alternative to its parent."""
        first, found = candidates[0], []
        shipped = self.bundled(first.document)
        for candidate in candidates:
            fit = strength(candidate.score, self.query.weight, self.scorer.unseen, candidate.words)
            near = NEAR_BUNDLED if shipped and not self.bundled(candidate.document) else NEAR
            if candidate is first:
                found.append(Pick(candidate, fit, candidate.words))
            elif (
                candidate.score >= near * first.score and self.scorer.data.parent(candidate.document) != first.document
            ):
                found.append(Pick(candidate, fit, candidate.words, behind(candidate.score, first.score)))
        return found

    def _needed(self, pick: Pick, candidates: Sequence[Candidate], found: Sequence[Pick]) -> list[Pick]:
        """The skills that a chosen one says it is used with, unless they are chosen."""
        chosen = {picked.candidate.document for picked in found}
        known = {candidate.document: candidate for candidate in candidates}
        own = pick.candidate.document
        return [
            Pick(known.get(at) or Candidate(at, 0.0, {}, 0.0), pick.strength, pick.words, pick.share, own, needed=True)
            for at in self.scorer.data.needs(own)
            if at not in chosen
        ]

    def _next(self, rest: Sequence[Candidate], covered: Mapping[int, float], chosen: Sequence[int]) -> Pick | None:
        left = self.query.unknown + sum(
            weight - min(weight, covered.get(term, 0.0)) for term, weight in self.query.weights.items()
        )
        found: Pick | None = None
        most = LEFT * math.sqrt(left * self.scorer.unseen)
        for candidate in rest:
            if candidate.score * (1 + PARTNER) < most:
                continue  # no gain exceeds the score
            words = self._new_words(candidate, covered)
            if words < FEWEST_WORDS:
                continue
            partner, closeness = self._partner(candidate.document, chosen)
            gain = _gain(candidate, covered) * (1 + PARTNER * closeness)
            fit = strength(gain, left, self.scorer.unseen, words)
            if gain >= most and fit >= LEFT:
                found, most = Pick(candidate, fit, words, partner=partner), gain
        return found

    def _new_words(self, candidate: Candidate, covered: Mapping[int, float]) -> float:
        """How many words speak for it that the chosen ones do not have; a word of its name speaks twice."""
        new = {
            term
            for term, add in candidate.adds.items()
            if term in self.query.evidence and add > NEW * covered.get(term, 0.0)
        }
        return sum(self.query.evidence[term] for term in new) + (not new.isdisjoint(self.names(candidate.document)))

    def _partner(self, document: int, chosen: Sequence[int]) -> tuple[int | None, float]:
        """The chosen skill that names this one or is named by it, and how close they are."""
        own = self.scorer.data.partners(document)
        best: tuple[int | None, float] = (None, 0.0)
        for other in chosen:
            if other in own:
                closeness = min(1.0, PARTNERS / min(len(own), len(self.scorer.data.partners(other))))
                best = max(best, (other, closeness), key=lambda pair: pair[1])
        return best


def _gain(candidate: Candidate, covered: Mapping[int, float]) -> float:
    """What a skill adds to what the chosen ones have, its pairs in proportion."""
    by_words = sum(candidate.adds.values())
    more = sum(max(0.0, add - TAKEN * covered.get(term, 0.0)) for term, add in candidate.adds.items())
    return more * candidate.score / by_words if by_words else 0.0
