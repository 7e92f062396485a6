"""The skills' vectors, and the cosines of them with a goal's vector, without a library for numbers.

A skill's vector is the mean of two: of its name and description, and of these with the beginning of its body. One
column, a dimension of every skill, is one long integer with 24 bits a skill, so a multiplication and an addition do a
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
# The bytes of a lane, and the most that whole weights may come to together: times a byte, they fill a lane.
_LANE = 3
_MOST_WEIGHT = ((1 << 8 * _LANE) - 1) // 255
# The lanes of a pool that show where the nearest begin are this far apart.
_APART = 8
_CODE = re.compile(r"```.*?(?:```|\Z)|https?://\S+", re.DOTALL)
_MARKS = re.compile(r"[\s#*`>|=-]+")


def encoded(skill: Skill, body: str, table: Table) -> bytes:
    """A skill's vector as a byte for each dimension, 128 for zero."""
    name = spoken_name(skill)
    brief = table.vector(f"{name}. {cut(skill.description).own} {when_to_use(skill)}")
    whole = table.vector(f"{name}. {skill.description} {beginning(body)}")
    if not brief or not whole:
        brief = whole = brief or whole or [0.0] * table.dimensions
    half = _SCALE / 2
    return bytes([min(255, max(0, round((a + b) * half) + _ZERO)) for a, b in zip(brief, whole, strict=True)])


def decoded(row: bytes) -> list[float]:
    """The vector of a row, at length one."""
    values = [value - _ZERO for value in row]
    length = math.hypot(*values)
    return [value / length for value in values] if length else []


def beginning(body: str) -> str:
    """The first words of a body, without code, addresses and marks."""
    return _MARKS.sub(" ", _CODE.sub(" ", body[: 8 * BODY_LIMIT])).strip()[:BODY_LIMIT]


def columns(rows: Sequence[bytes | memoryview], dimensions: int) -> bytes:
    """The columns of these rows, one after the other, 24 bits for each skill."""
    size = _LANE * len(rows)
    packed = b"".join(rows)
    found = bytearray(size * dimensions)
    for at in range(dimensions):
        found[at * size : (at + 1) * size : _LANE] = packed[at::dimensions]
    return bytes(found)


def weighed(numbers: Sequence[int], weights: Sequence[int]) -> int:
    """The sum of columns times their weights; those of the same weight are multiplied together."""
    alike: dict[int, int] = {}
    for column, weight in zip(numbers, weights, strict=True):
        if weight in alike:
            alike[weight] += column
        elif -weight in alike:
            alike[-weight] -= column
        elif weight:
            alike[weight] = column
    return sum(map(mul, alike.keys(), alike.values()))


class Lanes:
    """The columns of some skills, as numbers that are made at the first use."""

    def __init__(self, data: memoryview, count: int) -> None:
        self._data, self.count = data, count
        self._columns: list[int] = []
        self._ones = 0

    def products(self, weights: Sequence[int], lift: int) -> list[int]:
        """The product of each skill's vector with whole weights; `lift` keeps every lane above zero."""
        if not self._columns:
            size = _LANE * self.count
            starts = range(0, len(self._data), size)
            self._columns = [int.from_bytes(self._data[start : start + size], "little") for start in starts]
            self._ones = int.from_bytes(b"\1\0\0" * self.count, "little")
        total = weighed(self._columns, weights) + lift * self._ones
        packed, spaced = total.to_bytes(_LANE * self.count, "little"), bytearray(4 * self.count)
        for byte in range(_LANE):
            spaced[byte::4] = packed[byte::_LANE]
        return memoryview(spaced).cast("I").tolist()


class Weights:
    """A vector of length one as whole numbers, to be multiplied with lanes."""

    def __init__(self, vector: Sequence[float]) -> None:
        sizes = list(map(abs, vector))
        rounding = len(sizes) / 2
        self.scale = min(_PEAK / (max(sizes) or 1.0), (_MOST_WEIGHT - rounding) / (math.fsum(sizes) or 1.0))
        self.whole = [round(value * self.scale) for value in vector]
        # Lifts every lane above zero, so that none borrows from the next.
        self.lift = 255 * -sum(weight for weight in self.whole if weight < 0)
        self.zero = self.lift + _ZERO * sum(self.whole)
        self.unit = self.scale * _SCALE


class Vectors:
    """The vectors of a pool that is compared whole, by its rows and columns."""

    def __init__(self, rows: memoryview, lanes: memoryview, count: int) -> None:
        self.rows, self.count = rows, count
        self.dimensions = len(rows) // count if count else 0
        if len(rows) != count * self.dimensions or len(lanes) not in (0, _LANE * len(rows)):
            raise ValueError("vectors of another pool")
        self._lanes = Lanes(lanes, count)

    def __bool__(self) -> bool:
        return self.dimensions > 0

    def cosines(self, vector: Sequence[float], most: int = 0) -> Cosines | None:
        """The cosines of all skills with a vector of length one; None for a vector of another encoder.

        Of them the `most` nearest are wanted, which makes no difference here.
        """
        if not self or len(vector) != self.dimensions:
            return None
        weights = Weights(vector)
        return Cosines(self._lanes.products(weights.whole, weights.lift), weights.zero, weights.unit)

    def alike(self, documents: Sequence[int], count: int) -> list[int]:
        """The skills nearest to the mean of some, nearest first; these are among them."""
        size = self.dimensions
        rows = [decoded(bytes(self.rows[at * size : (at + 1) * size])) for at in documents]
        sums = [math.fsum(column) for column in zip(*filter(None, rows), strict=True)]
        length = math.hypot(*sums)
        cosines = self.cosines([value / length for value in sums]) if length else None
        return cosines.nearest(count) if cosines is not None else []


class Exact:
    """The cosines of single skills with a vector of length one, each by its row."""

    def __init__(self, vector: Sequence[float]) -> None:
        self._vector, self._zero = vector, _ZERO * math.fsum(vector)

    def __call__(self, row: Iterable[float]) -> float:
        return (math.fsum(map(mul, self._vector, row)) - self._zero) / _SCALE


def deviation(lanes: Sequence[int]) -> float:
    """The standard deviation of whole numbers."""
    count = len(lanes)
    return math.sqrt(max(0, count * sum(map(mul, lanes, lanes)) - sum(lanes) ** 2)) / count if count else 0.0


@dataclass(frozen=True, slots=True)
class Cosines:
    """The cosine of each skill of a pool with a text: as whole numbers from `zero`, `unit` for a cosine of one."""

    lanes: list[int]
    zero: int
    unit: float

    def __getitem__(self, at: int) -> float:
        return (self.lanes[at] - self.zero) / self.unit

    @property
    def mean(self) -> float:
        """The mean of all."""
        return (sum(self.lanes) / len(self.lanes) - self.zero) / self.unit

    @property
    def deviation(self) -> float:
        """The standard deviation of all."""
        return deviation(self.lanes) / self.unit

    def nearest(self, count: int) -> list[int]:
        """The numbers of the nearest skills, nearest first."""
        lanes, sample = self.lanes, sorted(self.lanes[::_APART])
        # The least of twice as many of the sample as are wanted of all: there are hardly ever fewer above it.
        least = sample[max(0, len(sample) - 2 - 2 * count // _APART)] if sample else 0
        near = [at for at, lane in enumerate(lanes) if lane >= least]
        if len(near) < min(count, len(lanes)):
            near = list(range(len(lanes)))
        return sorted(near, key=lambda at: -lanes[at])[:count]
