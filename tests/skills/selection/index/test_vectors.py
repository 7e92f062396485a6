"""Cosines by long integers, beside the plain sums that they stand for."""

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
    found = pool(rows).cosines(goal)
    assert found is not None
    for at, row in enumerate(rows):
        assert found[at] == pytest.approx(
            math.sumprod(row, goal) if hasattr(math, "sumprod") else _dot(row, goal), abs=0.02
        )
    assert found.mean == pytest.approx(sum(found[at] for at in range(50)) / 50, abs=1e-6)


def _dot(a: list[float], b: list[float]) -> float:
    return math.fsum(one * other for one, other in zip(a, b, strict=True))


def test_the_nearest_come_first() -> None:
    chance = random.Random(5)
    rows = [unit(chance) for _ in range(40)]
    found = pool(rows).cosines(rows[7])
    assert found is not None
    assert found.nearest(1) == [7]
    order = found.nearest(40)
    assert [found[at] for at in order] == sorted((found[at] for at in range(40)), reverse=True)


@pytest.mark.parametrize("wanted", [1, 8, 16, 300, 900])
def test_the_nearest_come_first_at_any_position(wanted: int) -> None:
    chance = random.Random(8)
    for kinds in (1, 3, 400):  # every cosine alike, many alike, hardly any
        rows = [unit(chance) for _ in range(kinds)]
        found = pool([rows[chance.randrange(kinds)] for _ in range(400)]).cosines(unit(chance))
        assert found is not None
        assert found.nearest(wanted) == sorted(range(400), key=lambda at: (-found[at], at))[:wanted]


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("dimensions", [128, 4096])
def test_lanes_do_not_overflow(sign: int, dimensions: int) -> None:
    goal = [sign / math.sqrt(dimensions)] * dimensions
    rows = [bytes([255]) * dimensions, bytes(dimensions), bytes([255]) * dimensions]
    found = Vectors(memoryview(b"".join(rows)), memoryview(columns(rows, dimensions)), 3).cosines(goal)
    assert found is not None
    assert found.lanes[0] == found.lanes[2]
    most = sign * math.sqrt(dimensions) * 127 / 254
    assert found[0] == pytest.approx(most, rel=0.05)
    assert found[1] == pytest.approx(-most, rel=0.05)


def test_similar_skills_are_nearest_to_the_mean() -> None:
    chance = random.Random(6)
    one, other, *rest = (unit(chance) for _ in range(40))
    between = [(a + b) / math.sqrt(2) for a, b in zip(one, other, strict=True)]
    found = pool([one, other, *rest, between])
    assert found.alike([0, 1], 3)[0] == 40
    assert set(found.alike([0, 1], 3)) == {0, 1, 40}
    assert found.alike([], 3) == []
    assert pool([[0.0] * DIMENSIONS]).alike([0], 3) == []


def test_vectors_of_another_length_and_no_vectors_have_no_cosines() -> None:
    assert pool([[0.1] * DIMENSIONS]).cosines([1.0, 0.0]) is None
    assert Vectors(memoryview(b""), memoryview(b""), 3).cosines([]) is None


def test_sections_of_another_pool_are_rejected() -> None:
    with pytest.raises(ValueError, match="another pool"):
        Vectors(memoryview(b"\x80" * 8), memoryview(b"\0" * 12), 4)
