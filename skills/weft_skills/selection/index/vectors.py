"""The skills' vectors, and the cosines of all of them with a goal's vector, without a library for numbers.

A skill's vector is the mean of two: of its name and description, and of these with the beginning of its body. One
column, a dimension of every skill, is one long integer with 32 bits a skill, so a multiplication and an addition do a
dimension of the whole pool. In large pools only the leading dimensions are compared, which carry most of the meaning,
and the nearest skills again with all of them.
"""

from __future__ import annotations

import math
import re
from array import array
from dataclasses import dataclass, field
from operator import mul
from typing import TYPE_CHECKING

from weft_skills.selection.descriptions import cut, spoken_name, when_to_use

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft_skills.selection.encoder import Table
    from weft_skills.skill import Skill

# Up to this many skills every dimension is compared; beyond it only the leading ones.
SMALL_POOL, LEADING = 4_000, 64
# How many of the nearest skills in a large pool are compared with all dimensions.
AGAIN = 100
BODY_LIMIT = 1_500
_ZERO, _SCALE, _PEAK = 128, 254, 127
_LANE = 4
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


def columns(rows: Sequence[bytes], dimensions: int) -> bytes:
    """The columns of these rows, one after the other, 32 bits for each skill."""
    count = len(rows)
    packed = b"".join(rows)
    found = bytearray(_LANE * count * kept(count, dimensions))
    for at in range(kept(count, dimensions)):
        start = _LANE * count * at
        found[start : start + _LANE * count : _LANE] = packed[at::dimensions]
    return bytes(found)


def kept(count: int, dimensions: int) -> int:
    """How many dimensions of a pool of `count` skills are kept as columns."""
    return dimensions if count <= SMALL_POOL else min(LEADING, dimensions)


class Vectors:
    """The vectors of a pool, by its rows and columns; columns become numbers at the first goal."""

    def __init__(self, rows: memoryview, lanes: memoryview, count: int) -> None:
        self._rows, self._lanes, self.count = rows, lanes, count
        self.dimensions = len(rows) // count if count else 0
        if len(lanes) != _LANE * count * kept(count, self.dimensions) or len(rows) != count * self.dimensions:
            raise ValueError("vectors of another pool")
        self._columns: list[int] = []
        self._ones = 0

    def __bool__(self) -> bool:
        return self.dimensions > 0

    def cosines(self, vector: Sequence[float]) -> Cosines | None:
        """The cosines of all skills with a vector of length one; None for a vector of another encoder."""
        if not self or len(vector) != self.dimensions:
            return None
        if not self._columns:
            size = _LANE * self.count
            self._columns = [
                int.from_bytes(self._lanes[start : start + size], "little")
                for start in range(0, len(self._lanes), size)
            ]
            self._ones = int.from_bytes(b"\1\0\0\0" * self.count, "little")
        leading = vector[: len(self._columns)]
        scale = _PEAK / (max(map(abs, leading)) or 1.0)
        weights = [round(value * scale) for value in leading]
        # Lifts every lane above zero, so that none borrows from the next.
        lift = 255 * -sum(weight for weight in weights if weight < 0)
        total = lift * self._ones
        for weight, column in zip(weights, self._columns, strict=True):
            if weight:
                total += weight * column
        lanes = array("I", total.to_bytes(_LANE * self.count, "little"))
        found = Cosines(lanes, lift + _ZERO * sum(weights), scale * _SCALE)
        if len(self._columns) < self.dimensions:
            found.exact = {at: self._exact(vector, at) for at in found.nearest(AGAIN)}
        return found

    def _exact(self, vector: Sequence[float], at: int) -> float:
        """The cosine of one skill by all dimensions."""
        row = self._rows[at * self.dimensions : (at + 1) * self.dimensions]
        return (math.fsum(map(mul, vector, row)) - _ZERO * math.fsum(vector)) / _SCALE


@dataclass(slots=True)
class Cosines:
    """The cosine of each skill of a pool with a text: as whole numbers from `zero`, `unit` for a cosine of one.

    `exact` are those of a large pool that were computed again.
    """

    lanes: array[int]
    zero: int
    unit: float
    exact: dict[int, float] = field(default_factory=dict)

    def __getitem__(self, at: int) -> float:
        return self.exact[at] if at in self.exact else (self.lanes[at] - self.zero) / self.unit

    @property
    def mean(self) -> float:
        """The mean of all."""
        return (sum(self.lanes) / len(self.lanes) - self.zero) / self.unit

    def nearest(self, count: int) -> list[int]:
        """The numbers of the nearest skills, nearest first."""
        if self.exact:
            return sorted(self.exact, key=lambda at: -self.exact[at])[:count]
        least = sorted(self.lanes)[-count] if count < len(self.lanes) else 0
        near = [at for at, lane in enumerate(self.lanes) if lane >= least]
        return sorted(near, key=lambda at: -self.lanes[at])[:count]
