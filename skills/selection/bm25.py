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
    from collections.abc import Iterable, Mapping, Sequence

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
Places = dict[int, list[int]]


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


@dataclass(frozen=True, slots=True)
class _Ranking:
    """A goal's best skills in order, their scores, and where each of the goal's terms is in them."""

    words: tuple[str, ...]
    candidates: int
    goal: _Goal
    best: list[int]
    scores: Mapping[int, float]
    places: Mapping[int, Places]


class Scorer:
    """Scores the skills of a pool; keeps what is computed once: length norms, and the last goal's ranking."""

    def __init__(self, data: Postings) -> None:
        self.data = data
        self.count = max(data.count, MIN_POOL)
        self.short = _length_norms([short - start for start, short, _ in data.spans])
        self.whole = _length_norms([end - start for start, _, end in data.spans])
        self._last: _Ranking | None = None

    def rank(self, words: Sequence[str], limit: int) -> list[Hit]:
        """The best skills for these terms, best first."""
        ranking = self._ranking(tuple(words), max(CANDIDATES, limit))
        hits: list[Hit] = []
        for at in ranking.best[:limit]:
            score = ranking.scores[at]
            confidence = self._confidence(score, ranking.goal, at, ranking.places[at])
            hits.append(Hit(at, score, min(confidence, hits[-1].confidence) if hits else confidence))
        return hits

    def _ranking(self, words: tuple[str, ...], candidates: int) -> _Ranking:
        """The best candidates in order; a goal is ranked for its selection and again for its listing."""
        last = self._last
        if last is not None and (last.words, last.candidates) == (words, candidates):
            return last
        scores = [0.0] * self.data.count
        goal = self._score_terms(words, scores)
        best = heapq.nlargest(candidates, range(len(scores)), key=scores.__getitem__) if goal.order else []
        best = [at for at in best if scores[at] > 0]
        places = {at: self._places(at, goal.order) for at in best}
        for at, more in self._score_pairs(goal, places).items():
            scores[at] += more
        best.sort(key=lambda at: (-scores[at], at))
        self._last = _Ranking(words, candidates, goal, best, {at: scores[at] for at in best}, places)
        return self._last

    def _places(self, at: int, terms: Iterable[int]) -> Places:
        """The positions in a skill of those terms that it holds."""
        found = ((term, self.data.positions(at, term)) for term in terms)
        return {term: positions for term, positions in found if positions}

    def shared(self, at: int, words: Mapping[str, str]) -> tuple[list[str], list[str]]:
        """Which of the words, as spelled in the goal, are in a skill's short text, and which only in its body."""
        short = self.data.short_length(at)
        numbers = [(self.data.term(term), word) for term, word in words.items()]
        last = self._last
        ranked = last.places.get(at) if last is not None and last.words == tuple(words) else None
        places = ranked or self._places(at, (number for number, _ in numbers if number is not None))
        brief: list[str] = []
        body: list[str] = []
        for number, word in numbers:
            if number is not None and number in places:
                (brief if places[number][0] < short else body).append(word)
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

    def _score_pairs(self, goal: _Goal, places: Mapping[int, Places]) -> dict[int, float]:
        """What each skill gains by words that are close together in the goal and in it; rare pairs count more."""
        order = goal.order
        wanted = {
            (first, second) if first < second else (second, first)
            for i, first in enumerate(order)
            for second in order[i + 1 : i + 1 + WINDOW]
        }
        counts = {at: self._close_pairs(at, wanted, here) for at, here in places.items()}
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

    def _close_pairs(self, at: int, wanted: set[Pair], places: Places) -> dict[Pair, tuple[int, int]]:
        """How often each wanted pair is close together in a skill: in the short text, and in all of it."""
        found: dict[Pair, tuple[int, int]] = {}
        if len(places) < 2:
            return found
        short = self.data.short_length(at)
        text = sorted((position, term) for term, positions in places.items() for position in positions)
        for i, (position, term) in enumerate(text):
            for other, second in text[i + 1 : i + 1 + WINDOW]:
                if other - position > WINDOW:
                    break
                pair = (term, second) if term < second else (second, term)
                if pair in wanted:
                    a, b = found.get(pair, (0, 0))
                    found[pair] = (a + (other < short), b + 1)
        return found

    def _confidence(self, score: float, goal: _Goal, at: int, places: Places) -> float:
        """From 0 to 1, comparable across pools of any size: by the score, or by how much the description covers."""
        strength = score / (math.sqrt(goal.weight) * _idf(self.count, 0)) if goal.weight else 0.0
        short = self.data.short_length(at)
        weights = [goal.short[term] for term in goal.order if term in places and places[term][0] < short]
        covered = COVERED * sum(weights) / goal.short_weight if len(weights) >= min(2, goal.words) else 0.0
        return max(strength / (strength + HALF), min(covered, 1.0))


def _length_norms(lengths: Sequence[int]) -> list[float]:
    mean = sum(lengths) / len(lengths) or 1.0
    return [K1 * (1 - B + B * length / mean) for length in lengths]


def _idf(count: int, having: int) -> float:
    return math.log(1 + (count - having + 0.5) / (having + 0.5))
