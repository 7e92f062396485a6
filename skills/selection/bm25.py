"""BM25 scores of a pool of skills for a goal's words, and how confident the ranking is.

Tuned on collections of about 30 skills with 1,600 goals; the constants sit on a plateau, so small changes do little.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skills.selection.terms import dense

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skills.selection.postings import Postings

K1, B = 4.0, 0.6
WHOLE = 1.5
SHORT_PAIRS, WHOLE_PAIRS = 0.5, 0.75
WINDOW = 4
CANDIDATES = 50
# A goal says first what is wanted and then under which circumstances: each further word counts a little less.
FADE = 0.06
# In a small pool a word's rarity says nothing: count as if there were this many skills.
MIN_POOL = 30
# The score, divided by the root of the goal's weight and by the pool's highest IDF, at which confidence is one half.
HALF = 1.17
# The confidence, before capping at 1, of a description that holds all of the goal's words, weighted by their IDF.
COVERED = 1.25
# Most pairs of characters in a text without spaces are not words, so pairs unknown to the pool say little.
UNKNOWN_DENSE = 0.25

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Hit:
    """A ranked skill: its number in the pool, its score and the confidence."""

    document: int
    score: float
    confidence: float


@dataclass(slots=True)
class _Goal:
    """A goal's terms: their numbers in order, their IDF in short and whole texts, and the weight of all of them."""

    order: list[int]
    short: dict[int, float]
    whole: dict[int, float]
    weight: float = 0.0
    short_weight: float = 0.0
    words: int = 0


class Scorer:
    """Scores the skills of a pool; keeps what is computed once: each text's length norm."""

    def __init__(self, data: Postings) -> None:
        self.data = data
        self.count = max(data.count, MIN_POOL)
        self.short = _length_norms([short - start for start, short, _ in data.spans])
        self.whole = _length_norms([end - start for start, _, end in data.spans])

    def rank(self, words: Sequence[str], limit: int) -> list[Hit]:
        """The best skills for these terms, best first."""
        scores = [0.0] * self.data.count
        goal = self._score_terms(words, scores)
        if not goal.order:
            return []
        best = heapq.nlargest(max(CANDIDATES, limit), range(len(scores)), key=scores.__getitem__)
        best = [at for at in best if scores[at] > 0]
        for at, more in self._score_pairs(goal, best).items():
            scores[at] += more
        best.sort(key=lambda at: (-scores[at], at))
        hits: list[Hit] = []
        for at in best[:limit]:
            confidence = self._confidence(scores[at], goal, at)
            hits.append(Hit(at, scores[at], min(confidence, hits[-1].confidence) if hits else confidence))
        return hits

    def shared(self, at: int, words: Mapping[str, str]) -> tuple[list[str], list[str]]:
        """Which of the words, as spelled in the goal, are in a skill's short text, and which only in its body."""
        short = self.data.short_length(at)
        brief: list[str] = []
        body: list[str] = []
        for term, word in words.items():
            number = self.data.term(term)
            positions = self.data.positions(at, number) if number is not None else []
            if positions:
                (brief if positions[0] < short else body).append(word)
        return brief, body

    def _score_terms(self, words: Sequence[str], scores: list[float]) -> _Goal:
        """Add each word's BM25 in both texts to the skills' scores."""
        data, goal = self.data, _Goal([], {}, {}, words=len(words))
        unseen = _idf(self.count, 0)
        for position, word in enumerate(words):
            term, share = data.term(word), 1 / (1 + FADE * position)
            if term is None:
                weight = unseen * share * (UNKNOWN_DENSE if dense(word) else 1)
                goal.weight += weight * (1 + WHOLE)
                goal.short_weight += weight
                continue
            start, end = data.range(term)
            in_short, in_whole = bytes(data.short[start:end]), bytes(data.whole[start:end])
            short = share * _idf(self.count, len(in_short) - in_short.count(0))
            whole = share * _idf(self.count, end - start)
            goal.order.append(term)
            goal.short[term], goal.whole[term] = short, whole
            goal.weight += short + WHOLE * whole
            goal.short_weight += short
            rows = data.ids[start:end].tolist(), in_short, in_whole
            self._add_term(scores, rows, short * (K1 + 1), WHOLE * whole * (K1 + 1))
        return goal

    def _add_term(self, scores: list[float], rows: tuple[list[int], bytes, bytes], short: float, whole: float) -> None:
        short_norms, whole_norms = self.short, self.whole
        for at, in_short, in_whole in zip(*rows, strict=True):
            if in_short:
                scores[at] += whole * in_whole / (in_whole + whole_norms[at]) + short * in_short / (
                    in_short + short_norms[at]
                )
            else:
                scores[at] += whole * in_whole / (in_whole + whole_norms[at])

    def _score_pairs(self, goal: _Goal, best: Sequence[int]) -> dict[int, float]:
        """What each skill gains by words that are close together in the goal and in it; rare pairs count more."""
        order = goal.order
        wanted = {
            (first, second) if first < second else (second, first)
            for i, first in enumerate(order)
            for second in order[i + 1 : i + 1 + WINDOW]
        }
        counts = {at: self._close_pairs(at, wanted, order) for at in best}
        having_short, having = dict.fromkeys(wanted, 0), dict.fromkeys(wanted, 0)
        for found in counts.values():
            for pair, (a, _) in found.items():
                having[pair] += 1
                having_short[pair] += a > 0
        short = {pair: SHORT_PAIRS * (K1 + 1) * _idf(self.count, having_short[pair]) for pair in wanted}
        whole = {pair: WHOLE_PAIRS * (K1 + 1) * _idf(self.count, having[pair]) for pair in wanted}
        return {
            at: sum(
                whole[pair] * b / (b + self.whole[at]) + short[pair] * a / (a + self.short[at])
                for pair, (a, b) in found.items()
            )
            for at, found in counts.items()
        }

    def _close_pairs(self, at: int, wanted: set[Pair], order: Sequence[int]) -> dict[Pair, tuple[int, int]]:
        """How often each wanted pair is close together in a skill: in the short text, and in all of it."""
        short = self.data.short_length(at)
        places = sorted((position, term) for term in order for position in self.data.positions(at, term))
        found: dict[Pair, tuple[int, int]] = {}
        for i, (position, term) in enumerate(places):
            for other, second in places[i + 1 : i + 1 + WINDOW]:
                if other - position > WINDOW:
                    break
                pair = (term, second) if term < second else (second, term)
                if pair in wanted:
                    a, b = found.get(pair, (0, 0))
                    found[pair] = (a + (other < short), b + 1)
        return found

    def _confidence(self, score: float, goal: _Goal, at: int) -> float:
        """From 0 to 1, comparable across pools of any size: by the score, or by how much the description covers."""
        strength = score / (math.sqrt(goal.weight) * _idf(self.count, 0)) if goal.weight else 0.0
        short = self.data.short_length(at)
        found = ((term, self.data.positions(at, term)) for term in goal.order)
        weights = [goal.short[term] for term, positions in found if positions and positions[0] < short]
        covered = COVERED * sum(weights) / goal.short_weight if len(weights) >= min(2, goal.words) else 0.0
        return max(strength / (strength + HALF), min(covered, 1.0))


def _length_norms(lengths: Sequence[int]) -> list[float]:
    mean = sum(lengths) / len(lengths) or 1.0
    return [K1 * (1 - B + B * length / mean) for length in lengths]


def _idf(count: int, having: int) -> float:
    return math.log(1 + (count - having + 0.5) / (having + 0.5))
