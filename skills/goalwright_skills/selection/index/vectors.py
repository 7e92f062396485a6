"""The skills' vectors and their cosines with a goal's vector, without a numeric library.

A skill's vector is the mean of two: of its name and description, and of these with the start of its body. A column, one
dimension of all skills, is one long integer with 24 bits per skill, so one multiplication and one addition process a
dimension of the whole pool. See `leading` for large pools.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from operator import mul
from typing import TYPE_CHECKING

from goalwright_skills.selection.index.descriptions import cut, spoken_name, when_to_use

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from goalwright_skills.selection.encoder import Table
    from goalwright_skills.skill import Skill

BODY_LIMIT = 1_500
_ZERO, _SCALE, _PEAK = 128, 254, 127
# The bytes of a lane, and the largest sum of integer weights: times a byte, it fills a lane.
_LANE = 3
_MOST_WEIGHT = ((1 << 8 * _LANE) - 1) // 255
# The distance between the sampled lanes that give a bound for the nearest skills.
_APART = 8
_CODE = re.compile(r"```.*?(?:```|\Z)|https?://\S+", re.DOTALL)
_MARKS = re.compile(r"[\s#*`>|=-]+")


def encoded(skill: Skill, body: str, table: Table) -> bytes:
    """Return a skill's vector as one byte per dimension, with 128 for zero."""
    name = spoken_name(skill)
    brief = table.vector(f"{name}. {cut(skill.description).own} {when_to_use(skill)}")
    whole = table.vector(f"{name}. {skill.description} {beginning(body)}")
    if not brief or not whole:
        brief = whole = brief or whole or [0.0] * table.dimensions
    half = _SCALE / 2
    return bytes([min(255, max(0, round((a + b) * half) + _ZERO)) for a, b in zip(brief, whole, strict=True)])


def decoded(row: bytes) -> list[float]:
    """Return the vector of a row, with length one."""
    values = [value - _ZERO for value in row]
    length = math.hypot(*values)
    return [value / length for value in values] if length else []


def beginning(body: str) -> str:
    """Return the first words of a body, without code, URLs and Markdown."""
    return _MARKS.sub(" ", _CODE.sub(" ", body[: 8 * BODY_LIMIT])).strip()[:BODY_LIMIT]


def columns(rows: Sequence[bytes | memoryview], dimensions: int) -> bytes:
    """Return the columns of these rows, one after the other, with 24 bits per skill."""
    size = _LANE * len(rows)
    packed = b"".join(rows)
    lanes = bytearray(size * dimensions)
    for dimension in range(dimensions):
        lanes[dimension * size : (dimension + 1) * size : _LANE] = packed[dimension::dimensions]
    return bytes(lanes)


def weighted_sum(numbers: Sequence[int], weights: Sequence[int]) -> int:
    """Return the sum of columns times their weights; columns of equal weight are added before they are multiplied."""
    by_weight: dict[int, int] = {}
    for column, weight in zip(numbers, weights, strict=True):
        if weight in by_weight:
            by_weight[weight] += column
        elif -weight in by_weight:
            by_weight[-weight] -= column
        elif weight:
            by_weight[weight] = column
    return sum(map(mul, by_weight.keys(), by_weight.values()))


class Lanes:
    """The columns of some skills as integers, converted on first use."""

    def __init__(self, data: memoryview, count: int) -> None:
        self._data, self.count = data, count
        self._columns: list[int] = []
        self._ones = 0

    def products(self, weights: Sequence[int], lift: int) -> list[int]:
        """Return the product of each skill's vector with integer weights; `lift` keeps every lane above zero."""
        if not self._columns:
            size = _LANE * self.count
            starts = range(0, len(self._data), size)
            self._columns = [int.from_bytes(self._data[start : start + size], "little") for start in starts]
            self._ones = int.from_bytes(b"\1\0\0" * self.count, "little")
        total = weighted_sum(self._columns, weights) + lift * self._ones
        packed, spaced = total.to_bytes(_LANE * self.count, "little"), bytearray(4 * self.count)
        for byte in range(_LANE):
            spaced[byte::4] = packed[byte::_LANE]
        return memoryview(spaced).cast("I").tolist()


class Weights:
    """A vector of length one as integers, to multiply with lanes."""

    def __init__(self, vector: Sequence[float]) -> None:
        sizes = list(map(abs, vector))
        rounding = len(sizes) / 2
        self.scale = min(_PEAK / (max(sizes) or 1.0), (_MOST_WEIGHT - rounding) / (math.fsum(sizes) or 1.0))
        self.whole = [round(value * self.scale) for value in vector]
        # Keeps every lane above zero, so that none borrows from the next.
        self.lift = 255 * -sum(weight for weight in self.whole if weight < 0)
        self.zero = self.lift + _ZERO * sum(self.whole)
        self.unit = self.scale * _SCALE


class Vectors:
    """The vectors of a pool that is compared as a whole."""

    def __init__(self, rows: memoryview, lanes: memoryview, count: int) -> None:
        self.rows, self.count = rows, count
        self.dimensions = len(rows) // count if count else 0
        if len(rows) != count * self.dimensions or len(lanes) not in (0, _LANE * len(rows)):
            raise ValueError("vectors of another pool")
        self._lanes = Lanes(lanes, count)

    def __bool__(self) -> bool:
        return self.dimensions > 0

    def cosines(self, vector: Sequence[float], most: int = 0) -> Cosines | None:
        """Return the cosines of all skills with a vector of length one, or None for a vector of another encoder.

        `most` is the number of nearest skills that will be needed, which makes no difference here.
        """
        if not self or len(vector) != self.dimensions:
            return None
        weights = Weights(vector)
        return Cosines(self._lanes.products(weights.whole, weights.lift), weights.zero, weights.unit)

    def alike(self, documents: Sequence[int], count: int) -> list[int]:
        """Return the skills nearest to the mean of these documents, nearest first, including themselves."""
        size = self.dimensions
        rows = [decoded(bytes(self.rows[number * size : (number + 1) * size])) for number in documents]
        sums = [math.fsum(column) for column in zip(*filter(None, rows), strict=True)]
        length = math.hypot(*sums)
        cosines = self.cosines([value / length for value in sums]) if length else None
        return cosines.nearest(count) if cosines is not None else []


class Exact:
    """Computes the cosines of single skills with a vector of length one, by their rows."""

    def __init__(self, vector: Sequence[float]) -> None:
        self._vector, self._zero = vector, _ZERO * math.fsum(vector)

    def __call__(self, row: Iterable[float]) -> float:
        return (math.fsum(map(mul, self._vector, row)) - self._zero) / _SCALE


def deviation(lanes: Sequence[int]) -> float:
    """Return the standard deviation of integers."""
    count = len(lanes)
    return math.sqrt(max(0, count * sum(map(mul, lanes, lanes)) - sum(lanes) ** 2)) / count if count else 0.0


@dataclass(frozen=True, slots=True)
class Cosines:
    """The cosine of each skill of a pool with a text, as integers: `zero` for 0, and `unit` more for 1."""

    lanes: list[int]
    zero: int
    unit: float

    def __getitem__(self, document: int) -> float:
        return (self.lanes[document] - self.zero) / self.unit

    @property
    def mean(self) -> float:
        """The mean of all cosines."""
        return (sum(self.lanes) / len(self.lanes) - self.zero) / self.unit

    @property
    def deviation(self) -> float:
        """The standard deviation of all cosines."""
        return deviation(self.lanes) / self.unit

    def nearest(self, count: int) -> list[int]:
        """Return the numbers of the nearest skills, nearest first."""
        lanes, sample = self.lanes, sorted(self.lanes[::_APART])
        # The bound leaves twice as many sampled lanes as the share of `count`, so that hardly ever too few are above
        # it.
        least = sample[max(0, len(sample) - 2 - 2 * count // _APART)] if sample else 0
        near = [document for document, lane in enumerate(lanes) if lane >= least]
        if len(near) < min(count, len(lanes)):
            near = list(range(len(lanes)))
        return sorted(near, key=lambda document: -lanes[document])[:count]
