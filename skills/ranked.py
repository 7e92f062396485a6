"""The default detector: ranked retrieval over names, descriptions and bodies, with no model and no network.

score = BM25(short) + BM25(whole) + close word pairs in both, for the best
short = name twice, description and when_to_use without what they say of other skills; whole = short + body
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from operator import is_
from typing import TYPE_CHECKING

from skills import postings, triggers
from skills.detector import Selection
from skills.postings import Postings
from skills.words import spelled, terms

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from skills.skill import Skill


SMALL = 30


@dataclass(frozen=True, slots=True)
class Weights:
    """What was tuned."""

    k1: float = 3.0
    b: float = 0.5
    whole: float = 1.5
    short_pairs: float = 0.5
    whole_pairs: float = 0.75
    window: int = 4
    best: int = 50
    threshold: float = 0.5
    selected: int = 5


@dataclass(frozen=True, slots=True)
class Hit:
    """A skill's place in the ranking: its number, score and confidence."""

    document: int
    score: float
    confidence: float


class Ranked:
    """Ranks skills by the goal's words; keeps the words of all skills in `cache` between starts."""

    def __init__(self, cache: Path | None = None, weights: Weights | None = None) -> None:
        self._cache = cache
        self._weights = weights or Weights()
        self._skills: list[Skill] = []
        self._pool: _Pool | None = None

    def detect(self, goal: str, skills: Sequence[Skill]) -> list[Selection]:
        """The skills that the goal names, then those that fit it well enough."""
        named = triggers.named(goal, skills)
        chosen = {selection.name for selection in named}
        found = [s for s in self.rank(goal, skills, self._weights.selected) if s.name not in chosen]
        return named + [s for s in found if s.score >= self._weights.threshold]

    def rank(self, goal: str, skills: Sequence[Skill], most: int) -> list[Selection]:
        """The best skills whatever their score."""
        if not skills:
            return []
        pool = self._load(skills)
        words = list(dict.fromkeys(terms(goal)))
        hits = pool.rank(words, self._weights, most)
        return [
            Selection(skills[hit.document].name, round(hit.confidence, 4), pool.reason(hit.document, goal))
            for hit in hits
        ]

    def _load(self, skills: Sequence[Skill]) -> _Pool:
        """The pool of these very skills: in memory, else mapped from the cache, else made."""
        if self._pool is not None and len(skills) == len(self._skills) and all(map(is_, skills, self._skills)):
            return self._pool
        path = self._cache / "postings.bin" if self._cache is not None else None
        old = postings.open_file(path) if path is not None else None
        if (
            old is None
            or not postings.sure(skills)
            or old.digest != postings.digest(skills)
            or old.count != len(skills)
        ):
            data = postings.build(skills, old)
            if path is not None:
                postings.save(path, data)
            old = Postings(data)
        self._skills = list(skills)
        self._pool = _Pool(old, self._weights)
        return self._pool


class _Pool:
    """The postings of a pool with what is computed once: document lengths against their mean."""

    def __init__(self, data: Postings, weights: Weights) -> None:
        self.data = data
        shorts = [short - start for start, short, _ in data.spans]
        wholes = [end - start for start, _, end in data.spans]
        self.short = _norms(shorts, weights)
        self.whole = _norms(wholes, weights)

    def rank(self, words: Sequence[str], weights: Weights, most: int) -> list[Hit]:
        data, count = self.data, self.data.count
        scores = [0.0] * count
        rarity: dict[int, tuple[float, float]] = {}
        norm = 0.0
        unseen = _idf(count, 0)
        order: list[int | None] = []
        for word in words:
            term = data.term(word)
            order.append(term)
            if term is None:
                norm += unseen * (1 + weights.whole)
                continue
            start, end = data.range(term)
            few, times = bytes(data.short[start:end]), bytes(data.whole[start:end])
            rare, rare_whole = _idf(count, len(few) - few.count(0)), _idf(count, end - start)
            rarity[term] = rare, rare_whole
            norm += rare + weights.whole * rare_whole
            up, up_whole = rare * (weights.k1 + 1), weights.whole * rare_whole * (weights.k1 + 1)
            short, whole = self.short, self.whole
            for at, a, b in zip(data.ids[start:end].tolist(), few, times, strict=True):
                scores[at] += up_whole * b / (b + whole[at]) + (up * a / (a + short[at]) if a else 0.0)
        best = heapq.nlargest(max(weights.best, most), range(count), key=scores.__getitem__)
        for at in best:
            if scores[at]:
                scores[at] += self._pairs(at, order, rarity, weights)
        best.sort(key=lambda at: (-scores[at], at))
        scale = math.sqrt(norm) if norm else 1.0
        return [Hit(at, scores[at], _confidence(scores[at] / scale)) for at in best[:most] if scores[at] > 0]

    def _pairs(
        self, at: int, order: Sequence[int | None], rarity: dict[int, tuple[float, float]], weights: Weights
    ) -> float:
        """What close pairs of the goal's words bring that stand close in the skill too."""
        wanted = {
            frozenset(pair)
            for i, first in enumerate(order)
            for pair in [(first, second) for second in order[i + 1 : i + 1 + weights.window]]
            if first is not None and pair[1] is not None
        }
        tokens, short = self.data.tokens(at)
        places = [(i, token) for i, token in enumerate(tokens) if token in rarity]
        few: dict[frozenset[int], int] = {}
        times: dict[frozenset[int], int] = {}
        for i, (place, token) in enumerate(places):
            for other, second in places[i + 1 : i + 1 + weights.window]:
                if other - place > weights.window:
                    break
                pair = frozenset((token, second))
                if len(pair) == 2 and pair in wanted:
                    times[pair] = times.get(pair, 0) + 1
                    if other < short:
                        few[pair] = few.get(pair, 0) + 1
        k1, total = weights.k1, 0.0
        for pair, b in times.items():
            a = few.get(pair, 0)
            x, y = pair
            total += weights.whole_pairs * (rarity[x][1] + rarity[y][1]) / 2 * b * (k1 + 1) / (b + self.whole[at])
            if a:
                total += weights.short_pairs * (rarity[x][0] + rarity[y][0]) / 2 * a * (k1 + 1) / (a + self.short[at])
        return total

    def reason(self, at: int, goal: str) -> str:
        """Which words of the goal stand where in a skill."""
        tokens, short = self.data.tokens(at)
        brief, body = set(tokens[:short]), set(tokens[short:])
        numbers = {word: self.data.term(term) for term, word in spelled(goal).items()}
        first = [word for word, term in numbers.items() if term in brief]
        second = [word for word, term in numbers.items() if term in body and term not in brief]
        said = [
            f"{where}: {', '.join(words[:8])}" for where, words in (("description", first), ("body", second)) if words
        ]
        return f"words of the goal in its {'; in its '.join(said)}"


def _norms(lengths: Sequence[int], weights: Weights) -> list[float]:
    mean = sum(lengths) / len(lengths) or 1.0
    return [weights.k1 * (1 - weights.b + weights.b * length / mean) for length in lengths]


def _idf(count: int, having: int) -> float:
    # A word that half of three skills have says as much as in a larger pool: a small one is taken for a part of it.
    count = max(count, SMALL)
    return math.log(1 + (count - having + 0.5) / (having + 0.5))


def _confidence(score: float) -> float:
    return score / (score + 4)
