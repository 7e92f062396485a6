"""Vectors of many skills, compared in two steps: all by the leading dimensions, then the best again by all dimensions.

Leading dimensions carry most of the meaning. A skill has 16 bits in each: enough for its product with a goal's vector,
since neither is longer than one. The goal's has few different weights: columns of the same one are added up before they
are multiplied, which takes three times as long. This takes a few milliseconds for tens of thousands of skills.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from heapq import nlargest
from itertools import accumulate
from typing import TYPE_CHECKING

from goalwright_skills.selection.index.numbering import DEAD
from goalwright_skills.selection.index.vectors import Exact, Lanes, Weights, columns, deviation, weighed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from goalwright_skills.selection.index.numbering import Numbering

LEADING = 48
# The length of a goal's vector as whole numbers, and what each is a multiple of. Rounding adds half a multiple in each
# dimension at most, so 120 in all: times the length of a row, 254 and a little, that is below 2 ** 15.
_LENGTH, _MULTIPLE, _MIDDLE = 88, 8, 1 << 15
# How many skills are compared again for each one that is wanted.
AGAIN = 10
# How many skills, evenly taken from all, tell how widely cosines are spread.
SAMPLE = 512
_ZERO = 128
_LANE = 2
# How many products tell where the largest begin, and by how much that is lowered if they are too few.
_SAMPLED, _STEP = 1_000, 4


def lanes_of(rows: Sequence[bytes], dimensions: int) -> bytes:
    """The leading columns of these rows, one after the other, 16 bits for each skill."""
    size = _LANE * len(rows)
    packed = b"".join(rows)
    found = bytearray(size * min(LEADING, dimensions))
    for at in range(min(LEADING, dimensions)):
        found[at * size : (at + 1) * size : _LANE] = packed[at::dimensions]
    return bytes(found)


def sums(rows: Sequence[bytes], dimensions: int) -> bytes:
    """By dimension the sum of all rows, for the mean of all cosines."""
    packed = b"".join(rows)
    return bytes(array("I", (sum(packed[at::dimensions]) for at in range(dimensions))))


@dataclass(frozen=True, slots=True)
class Rows:
    """The vectors of one index: a row for each skill, the leading columns, and sums by dimension."""

    rows: memoryview
    count: int
    leading: memoryview
    sums: Sequence[int]

    @property
    def dimensions(self) -> int:
        """How many there are."""
        return len(self.sums)


class LeadingVectors:
    """The vectors of the indexes that make up a pool."""

    def __init__(self, parts: Sequence[Rows], numbering: Numbering) -> None:
        self._parts, self._numbering = parts, numbering
        self._firsts = list(accumulate((one.count for one in parts), initial=0))
        self.dimensions = parts[0].dimensions if parts else 0

    def __bool__(self) -> bool:
        return self.dimensions > 0

    @cached_property
    def _columns(self) -> list[int]:
        """The leading columns of all indexes as numbers, and at last ones in every lane."""
        count = self._firsts[-1]
        found = []
        for at in range(min(LEADING, self.dimensions)):
            lanes = (one.leading[at * _LANE * one.count : (at + 1) * _LANE * one.count] for one in self._parts)
            found.append(int.from_bytes(b"".join(lanes), "little"))
        return [*found, int.from_bytes(b"\1\0" * count, "little")]

    @cached_property
    def _mean(self) -> list[float]:
        count = sum(one.count for one in self._parts)
        return [sum(column) / count for column in zip(*(one.sums for one in self._parts), strict=True)]

    def cosines(self, vector: Sequence[float], most: int) -> NearCosines | None:
        """The cosines of the nearest skills with a vector of length one, `most` of which are wanted."""
        if not self or len(vector) != self.dimensions:
            return None
        near, rows = self._rows(self._best(vector[:LEADING], most * AGAIN))
        weights = Weights(vector)
        lanes = Lanes(memoryview(columns(rows, self.dimensions)), len(rows))
        products = lanes.products(weights.whole, weights.lift) if rows else []
        found = dict(zip(near, products, strict=True))
        spread = deviation(self._sample.products(weights.whole, weights.lift)) / weights.unit
        exact = Exact(vector)
        return NearCosines(found, weights, exact(self._mean), spread, lambda at: exact(self._row(at)))

    @cached_property
    def _sample(self) -> Lanes:
        """The columns of skills taken evenly from all."""
        every = max(1, self._firsts[-1] // SAMPLE)
        _, rows = self._rows(range(0, self._firsts[-1], every))
        return Lanes(memoryview(columns(rows, self.dimensions)), len(rows))

    def _best(self, leading: Sequence[float], most: int) -> list[int]:
        """The places, in all indexes together, of the `most` skills that are best by the leading dimensions."""
        scale = _LENGTH / _MULTIPLE / (math.hypot(*leading) or 1.0)
        weights = [_MULTIPLE * round(value * scale) for value in leading]
        weights.append(_MIDDLE - _ZERO * sum(weights))
        return _largest(weighed(self._columns, weights).to_bytes(_LANE * self._firsts[-1], "little"), most)

    def _rows(self, places: Sequence[int]) -> tuple[list[int], list[memoryview]]:
        """The numbers in the pool of the skills at these places, and their rows."""
        size = self.dimensions
        documents: list[int] = []
        rows: list[memoryview] = []
        for part, first, numbers in zip(self._parts, self._firsts, self._numbering.numbers, strict=False):
            here = places[bisect_left(places, first) : bisect_left(places, first + part.count)]
            alive = [place - first for place in here if numbers[place - first] != DEAD]
            documents += [numbers[local] for local in alive]
            rows += [part.rows[local * size : (local + 1) * size] for local in alive]
        return documents, rows

    def _row(self, document: int) -> memoryview:
        part, local = self._numbering.locate(document)
        return self._parts[part].rows[local * self.dimensions : (local + 1) * self.dimensions]


def _largest(products: bytes, most: int) -> list[int]:
    """The places of the largest of 16-bit numbers, `most` or a few more that are equal, without sorting them all.

    A sample tells from which upper byte on there may be that many; only these are looked at.
    """
    upper, numbers = products[1::_LANE], memoryview(products).cast("H")
    sample = sorted(upper[:: max(1, len(upper) // _SAMPLED)])
    least = sample[max(0, len(sample) - 2 - 3 * most * len(sample) // (2 * len(upper)))] if sample else 0
    while len(places := from_value(upper, least)) < most and least:
        least = max(0, least - _STEP)
    values = [numbers[place] for place in places]
    bound = sorted(values)[-most] if len(values) > most else 0
    return [place for place, value in zip(places, values, strict=True) if value >= bound]


def from_value(values: bytes | bytearray, least: int) -> list[int]:
    """The places of the bytes that are `least` or more."""
    find = values.translate(bytes(least) + b"\1" * (256 - least)).find
    places, place = [], find(1)
    while place >= 0:
        places.append(place)
        place = find(1, place + 1)
    return places


@dataclass(frozen=True, slots=True)
class NearCosines:
    """The cosines of the skills near a text, as whole numbers; those of others are computed when asked for."""

    found: Mapping[int, int]
    weights: Weights
    mean: float
    deviation: float
    other: Callable[[int], float]

    def __getitem__(self, at: int) -> float:
        if at in self.found:
            return (self.found[at] - self.weights.zero) / self.weights.unit
        return self.other(at)

    def nearest(self, count: int) -> list[int]:
        """The numbers of the nearest skills, nearest first."""
        return nlargest(count, self.found, key=self.found.__getitem__)
