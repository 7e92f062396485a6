"""Scores of a pool of skills for a goal's words, and how sure one can be of the best.

Tuned on collections of some 30 skills with 1,600 goals; the numbers stand on a plateau, where small changes do little.
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
# What is asked for comes first in a goal, its circumstances later: each further word counts a little less.
FADE = 0.06
# Among a handful of skills a word's rarity says nothing: count as if there were as many others without it.
FEWEST = 30
# The score over the root of the goal's own, and over the pool's greatest rarity, at which confidence is one half.
HALF = 1.17
# So sure makes a description that holds all of the goal's words, by their rarity.
COVERED = 1.25
# Most pairs of characters in a text without spaces are no words: what the pool does not know says little.
UNKNOWN_DENSE = 0.25

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Hit:
    """A skill's place in the ranking: its number, score and confidence."""

    document: int
    score: float
    confidence: float


@dataclass(slots=True)
class _Goal:
    """A goal's terms as the pool knows them: numbers in their order, rarities, and what all of it weighs."""

    order: list[int]
    short: dict[int, float]
    whole: dict[int, float]
    weight: float = 0.0
    short_weight: float = 0.0
    words: int = 0


class Scorer:
    """The postings of a pool with what is computed once: text lengths against their mean."""

    def __init__(self, data: Postings) -> None:
        self.data = data
        self.count = max(data.count, FEWEST)
        self.short = _norms([short - start for start, short, _ in data.spans])
        self.whole = _norms([end - start for start, _, end in data.spans])

    def rank(self, words: Sequence[str], most: int) -> list[Hit]:
        """The best skills for these terms, best first."""
        scores = [0.0] * self.data.count
        goal = self._add(words, scores)
        if not goal.order:
            return []
        best = heapq.nlargest(max(CANDIDATES, most), range(len(scores)), key=scores.__getitem__)
        best = [at for at in best if scores[at] > 0]
        for at, more in self._pairs(goal, best).items():
            scores[at] += more
        best.sort(key=lambda at: (-scores[at], at))
        hits: list[Hit] = []
        for at in best[:most]:
            sure = self._confidence(scores[at], goal, at)
            hits.append(Hit(at, scores[at], min(sure, hits[-1].confidence) if hits else sure))
        return hits

    def shared(self, at: int, words: Mapping[str, str]) -> tuple[list[str], list[str]]:
        """Which of the words, as they are spelled, stand in a skill's short text, and which in its body alone."""
        short = self.data.short_length(at)
        brief: list[str] = []
        body: list[str] = []
        for term, word in words.items():
            number = self.data.term(term)
            places = self.data.places(at, number) if number is not None else []
            if places:
                (brief if places[0] < short else body).append(word)
        return brief, body

    def _add(self, words: Sequence[str], scores: list[float]) -> _Goal:
        """Add each word's BM25 in both texts to all skills' scores."""
        data, goal = self.data, _Goal([], {}, {}, words=len(words))
        unseen = _rarity(self.count, 0)
        for place, word in enumerate(words):
            term, share = data.term(word), 1 / (1 + FADE * place)
            if term is None:
                weight = unseen * share * (UNKNOWN_DENSE if dense(word) else 1)
                goal.weight += weight * (1 + WHOLE)
                goal.short_weight += weight
                continue
            start, end = data.range(term)
            few, times = bytes(data.short[start:end]), bytes(data.whole[start:end])
            rare = share * _rarity(self.count, len(few) - few.count(0))
            common = share * _rarity(self.count, end - start)
            goal.order.append(term)
            goal.short[term], goal.whole[term] = rare, common
            goal.weight += rare + WHOLE * common
            goal.short_weight += rare
            self._sum(scores, (data.ids[start:end].tolist(), few, times), rare * (K1 + 1), WHOLE * common * (K1 + 1))
        return goal

    def _sum(self, scores: list[float], rows: tuple[list[int], bytes, bytes], short: float, whole: float) -> None:
        shorts, wholes = self.short, self.whole
        for at, few, times in zip(*rows, strict=True):
            if few:
                scores[at] += whole * times / (times + wholes[at]) + short * few / (few + shorts[at])
            else:
                scores[at] += whole * times / (times + wholes[at])

    def _pairs(self, goal: _Goal, best: Sequence[int]) -> dict[int, float]:
        """What close pairs of the goal's words bring that stand close in a skill too, rare pairs more."""
        order = goal.order
        wanted = {
            (first, second) if first < second else (second, first)
            for i, first in enumerate(order)
            for second in order[i + 1 : i + 1 + WINDOW]
        }
        counts = {at: self._close(at, wanted, order) for at in best}
        few, all_ = dict.fromkeys(wanted, 0), dict.fromkeys(wanted, 0)
        for found in counts.values():
            for pair, (a, _) in found.items():
                all_[pair] += 1
                few[pair] += a > 0
        rare = {pair: SHORT_PAIRS * (K1 + 1) * _rarity(self.count, few[pair]) for pair in wanted}
        common = {pair: WHOLE_PAIRS * (K1 + 1) * _rarity(self.count, all_[pair]) for pair in wanted}
        return {
            at: sum(
                common[pair] * b / (b + self.whole[at]) + rare[pair] * a / (a + self.short[at])
                for pair, (a, b) in found.items()
            )
            for at, found in counts.items()
        }

    def _close(self, at: int, wanted: set[Pair], order: Sequence[int]) -> dict[Pair, tuple[int, int]]:
        """How often each wanted pair stands close together in a skill: in the short text, and in all of it."""
        short = self.data.short_length(at)
        places = sorted((place, term) for term in order for place in self.data.places(at, term))
        found: dict[Pair, tuple[int, int]] = {}
        for i, (place, term) in enumerate(places):
            for other, second in places[i + 1 : i + 1 + WINDOW]:
                if other - place > WINDOW:
                    break
                pair = (term, second) if term < second else (second, term)
                if pair in wanted:
                    a, b = found.get(pair, (0, 0))
                    found[pair] = (a + (other < short), b + 1)
        return found

    def _confidence(self, score: float, goal: _Goal, at: int) -> float:
        """From 0 to 1, alike for pools of any size: by the score, or where the description holds most of the goal."""
        sure = score / (math.sqrt(goal.weight) * _rarity(self.count, 0)) if goal.weight else 0.0
        short = self.data.short_length(at)
        found = ((term, self.data.places(at, term)) for term in goal.order)
        held = [goal.short[term] for term, places in found if places and places[0] < short]
        covered = COVERED * sum(held) / goal.short_weight if len(held) >= min(2, goal.words) else 0.0
        return max(sure / (sure + HALF), min(covered, 1.0))


def _norms(lengths: Sequence[int]) -> list[float]:
    mean = sum(lengths) / len(lengths) or 1.0
    return [K1 * (1 - B + B * length / mean) for length in lengths]


def _rarity(count: int, having: int) -> float:
    return math.log(1 + (count - having + 0.5) / (having + 0.5))
