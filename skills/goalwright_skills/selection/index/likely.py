"""The skills that terms add most to, as far as the indexes list them."""

from __future__ import annotations

from heapq import nlargest
from operator import itemgetter
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# Where an index lists a term, what the adds there are multiplied by, and the share that the term counts by.
Span = tuple[int, int, float, float]
# What one sum of floats may be beside another of the same numbers, and to how many digits they are the same.
_ROUGHLY, _DIGITS = 1 - 1e-6, 4
# The share of the highest score that some dozens of others nearly always have.
_AMONG = 0.3


class Lists(Protocol):
    """What an index of `count` skills lists: those that a term adds most to, most first, and what it adds to each."""

    @property
    def ids(self) -> memoryview[int]:
        """The skills, for one term after the other."""

    @property
    def adds(self) -> memoryview[float]:
        """What is added to each."""

    @property
    def count(self) -> int:
        """How many skills the index has."""


def highest(scores: Mapping[int, float], limit: int) -> list[int]:
    """The skills with the highest scores."""
    if len(scores) > limit:
        least = nlargest(limit, scores.values())[-1]
        scores = {at: score for at, score in scores.items() if score >= least}
    order = sorted(scores)
    return order if len(order) <= limit else sorted(order, key=lambda at: -scores[at])[:limit]


def added(data: Lists, spans: Iterable[Span], limit: int) -> dict[int, float]:
    """What terms add to the skills that an index lists, as far as these may be among the `limit` highest."""
    scores = [0.0] * data.count
    for first, end, times, share in spans:
        weight = times * share
        for at, add in zip(data.ids[first:end].tolist(), data.adds[first:end].tolist(), strict=True):
            scores[at] += weight * add
    least = max(scores, default=0.0) * _AMONG
    found = {at: score for at, score in enumerate(scores) if score >= least}
    return found if len(found) >= limit and least else {at: score for at, score in enumerate(scores) if score}


class Likely:
    """The skills with the highest scores in several indexes, of which `spans` are the lists.

    Scores are added up one index after the other, the one that may have the highest first. An index is left out where
    all terms together, and a skill where the terms that list it, cannot reach the best so far.
    """

    def __init__(self, parts: Sequence[Lists], spans: Sequence[Sequence[Span]], limit: int) -> None:
        self._parts, self._spans, self._limit = parts, spans, limit
        self._best: list[float] = []
        self._least = 0.0
        self._found: list[tuple[float, int, int]] = []

    def scores(self, numbers: Sequence[Sequence[int]], gone: Sequence[Sequence[int]]) -> dict[int, float]:
        """The scores of the skills that may be among the best, by their `numbers`; without those that are `gone`."""
        bounds = [self._bounds(*one) for one in zip(self._parts, self._spans, strict=True)]
        for at in sorted(range(len(bounds)), key=lambda at: -bounds[at][0]):
            self._look(at, *bounds[at], gone[at])
        return {numbers[at][local]: round(score, _DIGITS) for score, at, local in self._found if score >= self._least}

    @staticmethod
    def _bounds(data: Lists, spans: Sequence[Span]) -> tuple[float, list[tuple[float, float, int, int]]]:
        """The most that all terms add to a skill together, and each term with the most that it adds, most first."""
        adds = data.adds
        lists = [
            (times * share * adds[first], times * share, first, end)
            for first, end, times, share in spans
            if first < end
        ]
        lists.sort(reverse=True)
        return sum(map(itemgetter(0), lists)) / _ROUGHLY, lists

    def _look(
        self, index: int, left: float, lists: Sequence[tuple[float, float, int, int]], gone: Iterable[int]
    ) -> None:
        """Note the skills of an index that may be among the best; `left` is what its lists add at most."""
        data, least = self._parts[index], self._least
        if left < least:
            return
        scores = [0.0] * data.count
        lifted: list[list[int]] = []
        for most, weight, first, end in lists:
            ids = data.ids[first:end].tolist()
            for at, add in zip(ids, data.adds[first:end].tolist(), strict=True):
                scores[at] += weight * add
            if left >= least:
                lifted.append(ids)
            left -= most
        near = {at for ids in lifted for at in ids if scores[at] >= least}.difference(gone)
        if near:
            self._found += [(scores[at], index, at) for at in near]
            self._best = sorted([*self._best, *[scores[at] for at in near]])[-self._limit :]
            if len(self._best) == self._limit:
                self._least = _ROUGHLY * self._best[0]
