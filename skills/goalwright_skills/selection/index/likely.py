"""Finds the skills with the highest scores by single words, as far as the indexes list them."""

from __future__ import annotations

from heapq import nlargest
from operator import itemgetter
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# The range of a term in an index's lists, the factor of the adds there, and the share of the term.
Span = tuple[int, int, float, float]
# The tolerance between two sums of the same floats in different order, and the number of equal digits.
_ROUGHLY, _DIGITS = 1 - 1e-6, 4
# The share of the highest score that some dozens of other skills nearly always reach.
_AMONG = 0.3


class Lists(Protocol):
    """The lists of an index: for each term, the skills that it adds most to, and what it adds."""

    @property
    def ids(self) -> memoryview[int]:
        """The skills by term."""

    @property
    def adds(self) -> memoryview[float]:
        """The adds of the skills."""

    @property
    def count(self) -> int:
        """The number of skills in the index."""


def highest(scores: Mapping[int, float], limit: int) -> list[int]:
    """Return the skills with the highest scores."""
    if len(scores) > limit:
        least = nlargest(limit, scores.values())[-1]
        scores = {skill: score for skill, score in scores.items() if score >= least}
    order = sorted(scores)
    return order if len(order) <= limit else sorted(order, key=lambda skill: -scores[skill])[:limit]


def added(data: Lists, spans: Iterable[Span], limit: int) -> dict[int, float]:
    """Add up the scores of the listed skills, as far as they may be among the `limit` highest."""
    scores = [0.0] * data.count
    for first, end, times, share in spans:
        weight = times * share
        for skill, add in zip(data.ids[first:end].tolist(), data.adds[first:end].tolist(), strict=True):
            scores[skill] += weight * add
    least = max(scores, default=0.0) * _AMONG
    high = {skill: score for skill, score in enumerate(scores) if score >= least}
    return high if len(high) >= limit and least else {skill: score for skill, score in enumerate(scores) if score}


class Likely:
    """Finds the skills with the highest scores in several indexes; `spans` are the lists of the terms.

    The index with the highest possible score is read first. Indexes and skills whose terms cannot reach the best scores
    so far are skipped.
    """

    def __init__(self, parts: Sequence[Lists], spans: Sequence[Sequence[Span]], limit: int) -> None:
        self._parts, self._spans, self._limit = parts, spans, limit
        self._best: list[float] = []
        self._least = 0.0
        self._candidates: list[tuple[float, int, int]] = []

    def scores(self, numbers: Sequence[Sequence[int]], gone: Sequence[Sequence[int]]) -> dict[int, float]:
        """Return the scores of the skills that may be among the best, by their `numbers`, without the `gone` ones."""
        bounds = [self._bounds(part, spans) for part, spans in zip(self._parts, self._spans, strict=True)]
        for index in sorted(range(len(bounds)), key=lambda index: -bounds[index][0]):
            self._read(index, *bounds[index], gone[index])
        return {
            numbers[index][local]: round(score, _DIGITS)
            for score, index, local in self._candidates
            if score >= self._least
        }

    @staticmethod
    def _bounds(data: Lists, spans: Sequence[Span]) -> tuple[float, list[tuple[float, float, int, int]]]:
        """Return the highest possible score of a skill, and the lists with their highest adds, highest first."""
        adds = data.adds
        lists = [
            (times * share * adds[first], times * share, first, end)
            for first, end, times, share in spans
            if first < end
        ]
        lists.sort(reverse=True)
        return sum(map(itemgetter(0), lists)) / _ROUGHLY, lists

    def _read(
        self, index: int, left: float, lists: Sequence[tuple[float, float, int, int]], gone: Iterable[int]
    ) -> None:
        """Collect the skills of an index that may be among the best; `left` is the most that its lists can add."""
        data, least = self._parts[index], self._least
        if left < least:
            return
        scores = [0.0] * data.count
        reachable: list[list[int]] = []
        for highest_add, weight, first, end in lists:
            ids = data.ids[first:end].tolist()
            for skill, add in zip(ids, data.adds[first:end].tolist(), strict=True):
                scores[skill] += weight * add
            if left >= least:
                reachable.append(ids)
            left -= highest_add
        near = {skill for ids in reachable for skill in ids if scores[skill] >= least}.difference(gone)
        if near:
            self._candidates += [(scores[skill], index, skill) for skill in near]
            self._best = sorted([*self._best, *[scores[skill] for skill in near]])[-self._limit :]
            if len(self._best) == self._limit:
                self._least = _ROUGHLY * self._best[0]
