"""Cosines by long integers equal plain sums."""

from __future__ import annotations

import math
import random

import pytest

from goalwright_skills.selection.index.vectors import Vectors, columns

DIMENSIONS = 96


def unit(chance: random.Random) -> list[float]:
    values = [chance.gauss(0, 1) for _ in range(DIMENSIONS)]
    length = math.hypot(*values)
    return [value / length for value in values]


def packed(vector: list[float]) -> bytes:
    return bytes([round(value * 254) + 128 for value in vector])


def pool(rows: list[list[float]]) -> Vectors:
    packed_rows = [packed(row) for row in rows]
    lanes = columns(packed_rows, DIMENSIONS)
    return Vectors(memoryview(b"".join(packed_rows)), memoryview(lanes), len(rows))


def test_cosines_equal_plain_sums() -> None:
    chance = random.Random(4)
    rows, goal = [unit(chance) for _ in range(50)], unit(chance)
    result = pool(rows).cosines(goal)
    assert result is not None
    for at, row in enumerate(rows):
        assert result[at] == pytest.approx(
            math.sumprod(row, goal) if hasattr(math, "sumprod") else _dot(row, goal), abs=0.02
        )
    assert result.mean == pytest.approx(sum(result[at] for at in range(50)) / 50, abs=1e-6)


def _dot(a: list[float], b: list[float]) -> float:
    return math.fsum(one * other for one, other in zip(a, b, strict=True))


def test_the_nearest_come_first() -> None:
    chance = random.Random(5)
    rows = [unit(chance) for _ in range(40)]
    result = pool(rows).cosines(rows[7])
    assert result is not None
    assert result.nearest(1) == [7]
    order = result.nearest(40)
    assert [result[at] for at in order] == sorted((result[at] for at in range(40)), reverse=True)


@pytest.mark.parametrize("wanted", [1, 8, 16, 300, 900])
def test_the_nearest_come_first_at_any_position(wanted: int) -> None:
    chance = random.Random(8)
    for kinds in (1, 3, 400):  # every cosine alike, many alike, hardly any
        rows = [unit(chance) for _ in range(kinds)]
        result = pool([rows[chance.randrange(kinds)] for _ in range(400)]).cosines(unit(chance))
        assert result is not None
        assert result.nearest(wanted) == sorted(range(400), key=lambda at: (-result[at], at))[:wanted]


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("dimensions", [128, 4096])
def test_lanes_do_not_overflow(sign: int, dimensions: int) -> None:
    goal = [sign / math.sqrt(dimensions)] * dimensions
    rows = [bytes([255]) * dimensions, bytes(dimensions), bytes([255]) * dimensions]
    result = Vectors(memoryview(b"".join(rows)), memoryview(columns(rows, dimensions)), 3).cosines(goal)
    assert result is not None
    assert result.lanes[0] == result.lanes[2]
    most = sign * math.sqrt(dimensions) * 127 / 254
    assert result[0] == pytest.approx(most, rel=0.05)
    assert result[1] == pytest.approx(-most, rel=0.05)


def test_similar_skills_are_nearest_to_the_mean() -> None:
    chance = random.Random(6)
    one, other, *rest = (unit(chance) for _ in range(40))
    between = [(a + b) / math.sqrt(2) for a, b in zip(one, other, strict=True)]
    result = pool([one, other, *rest, between])
    assert result.alike([0, 1], 3)[0] == 40
    assert set(result.alike([0, 1], 3)) == {0, 1, 40}
    assert result.alike([], 3) == []
    assert pool([[0.0] * DIMENSIONS]).alike([0], 3) == []


def test_vectors_of_another_length_and_no_vectors_have_no_cosines() -> None:
    assert pool([[0.1] * DIMENSIONS]).cosines([1.0, 0.0]) is None
    assert Vectors(memoryview(b""), memoryview(b""), 3).cosines([]) is None


def test_sections_of_another_pool_are_rejected() -> None:
    with pytest.raises(ValueError, match="another pool"):
        Vectors(memoryview(b"\x80" * 8), memoryview(b"\0" * 12), 4)
