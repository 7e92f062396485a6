"""Vectors of many skills, compared in two steps: all by the leading dimensions, then the best by all dimensions.

The leading dimensions carry most of the meaning. A lane has 16 bits: enough for the product of a skill's vector and a
goal's, since neither is longer than one. The goal's vector has few different weights: columns of equal weight are added
before they are multiplied. Tens of thousands of skills take a few milliseconds.
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
from goalwright_skills.selection.index.vectors import Exact, Lanes, Weights, columns, deviation, weighted_sum

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from goalwright_skills.selection.index.numbering import Numbering

LEADING = 48
# The length of a goal's vector as integers, and the multiple that they are rounded to. Rounding adds at most half a
# multiple per dimension, 120 in all: times the length of a row, about 254, that is below 2 ** 15.
_LENGTH, _MULTIPLE, _MIDDLE = 88, 8, 1 << 15
# The number of skills compared in the second step for each one that is needed.
AGAIN = 10
# The number of evenly sampled skills for the standard deviation of the cosines.
SAMPLE = 512
_ZERO = 128
_LANE = 2
# The number of products sampled for the bound of the largest ones, and the step by which the bound is lowered.
_SAMPLED, _STEP = 1_000, 4


def lanes_of(rows: Sequence[bytes], dimensions: int) -> bytes:
    """Return the leading columns of these rows, one after the other, with 16 bits per skill."""
    size = _LANE * len(rows)
    packed = b"".join(rows)
    lanes = bytearray(size * min(LEADING, dimensions))
    for dimension in range(min(LEADING, dimensions)):
        lanes[dimension * size : (dimension + 1) * size : _LANE] = packed[dimension::dimensions]
    return bytes(lanes)


def sums(rows: Sequence[bytes], dimensions: int) -> bytes:
    """Return the sum of all rows by dimension, for the mean of all cosines."""
    packed = b"".join(rows)
    return bytes(array("I", (sum(packed[dimension::dimensions]) for dimension in range(dimensions))))


@dataclass(frozen=True, slots=True)
class Rows:
    """The vectors of one index: one row per skill, the leading columns, and the sums by dimension."""

    rows: memoryview
    count: int
    leading: memoryview
    sums: Sequence[int]

    @property
    def dimensions(self) -> int:
        """The number of dimensions."""
        return len(self.sums)


class LeadingVectors:
    """The vectors of the indexes that make up a pool."""

    def __init__(self, parts: Sequence[Rows], numbering: Numbering) -> None:
        self._parts, self._numbering = parts, numbering
        self._firsts = list(accumulate((part.count for part in parts), initial=0))
        self.dimensions = parts[0].dimensions if parts else 0

    def __bool__(self) -> bool:
        return self.dimensions > 0

    @cached_property
    def _columns(self) -> list[int]:
        """The leading columns of all indexes as integers, followed by a column of ones."""
        columns = []
        for dimension in range(min(LEADING, self.dimensions)):
            lanes = (
                part.leading[dimension * _LANE * part.count : (dimension + 1) * _LANE * part.count]
                for part in self._parts
            )
            columns.append(int.from_bytes(b"".join(lanes), "little"))
        return [*columns, int.from_bytes(b"\1\0" * self._firsts[-1], "little")]

    @cached_property
    def _mean(self) -> list[float]:
        count = self._firsts[-1]
        return [sum(column) / count for column in zip(*(part.sums for part in self._parts), strict=True)]

    def cosines(self, vector: Sequence[float], most: int) -> NearCosines | None:
        """Return the cosines of the nearest skills with a vector of length one; `most` of them will be needed."""
        if not self or len(vector) != self.dimensions:
            return None
        near, rows = self._rows(self._best(vector[:LEADING], most * AGAIN))
        weights = Weights(vector)
        lanes = Lanes(memoryview(columns(rows, self.dimensions)), len(rows))
        products = lanes.products(weights.whole, weights.lift) if rows else []
        cosines = dict(zip(near, products, strict=True))
        spread = deviation(self._sample.products(weights.whole, weights.lift)) / weights.unit
        exact = Exact(vector)
        return NearCosines(cosines, weights, exact(self._mean), spread, lambda document: exact(self._row(document)))

    @cached_property
    def _sample(self) -> Lanes:
        """The columns of evenly sampled skills."""
        step = max(1, self._firsts[-1] // SAMPLE)
        _, rows = self._rows(range(0, self._firsts[-1], step))
        return Lanes(memoryview(columns(rows, self.dimensions)), len(rows))

    def _best(self, leading: Sequence[float], most: int) -> list[int]:
        """Return the places, in all indexes together, of the best skills by the leading dimensions."""
        scale = _LENGTH / _MULTIPLE / (math.hypot(*leading) or 1.0)
        weights = [_MULTIPLE * round(value * scale) for value in leading]
        weights.append(_MIDDLE - _ZERO * sum(weights))
        return _largest(weighted_sum(self._columns, weights).to_bytes(_LANE * self._firsts[-1], "little"), most)

    def _rows(self, places: Sequence[int]) -> tuple[list[int], list[memoryview]]:
        """Return the numbers in the pool of the skills at these places, and their rows."""
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
    """Return the places of the `most` largest 16-bit numbers, and of any equal ones, without sorting them all.

    A sample gives the least upper byte of that many numbers; only those are compared.
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
    """Return the places of the bytes that are at least `least`."""
    find = values.translate(bytes(least) + b"\1" * (256 - least)).find
    places, place = [], find(1)
    while place >= 0:
        places.append(place)
        place = find(1, place + 1)
    return places


@dataclass(frozen=True, slots=True)
class NearCosines:
    """The cosines of the skills near a text, as integers; the others are computed on access."""

    products: Mapping[int, int]
    weights: Weights
    mean: float
    deviation: float
    other: Callable[[int], float]

    def __getitem__(self, document: int) -> float:
        if document in self.products:
            return (self.products[document] - self.weights.zero) / self.weights.unit
        return self.other(document)

    def nearest(self, count: int) -> list[int]:
        """Return the numbers of the nearest skills, nearest first."""
        return nlargest(count, self.products, key=self.products.__getitem__)
