"""Vectors of several indexes, compared by their leading dimensions first."""

from __future__ import annotations

import math
import random
from array import array
from statistics import pstdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalwright_skills.selection.index.leading import LeadingVectors, Rows, _largest, lanes_of, sums
from goalwright_skills.selection.index.numbering import Numbering
from goalwright_skills.selection.index.vectors import weighted_sum

DIMENSIONS = 96


def unit(chance: random.Random) -> list[float]:
    # Like an encoder's: the first dimensions carry most.
    values = [chance.gauss(0, 1) / (1 + at / 16) for at in range(DIMENSIONS)]
    length = math.hypot(*values)
    return [value / length for value in values]


def rows_of(vectors: list[list[float]]) -> Rows:
    rows = [bytes([max(0, min(255, round(value * 254) + 128)) for value in vector]) for vector in vectors]
    totals = array("I", sums(rows, DIMENSIONS)).tolist()
    return Rows(memoryview(b"".join(rows)), len(rows), memoryview(lanes_of(rows, DIMENSIONS)), totals)


def dot(one: list[float], other: list[float]) -> float:
    return math.fsum(a * b for a, b in zip(one, other, strict=True))


def test_the_nearest_of_all_indexes_come_first() -> None:
    chance = random.Random(3)
    vectors = [unit(chance) for _ in range(900)]
    numbering = Numbering([(400, range(400)), (500, range(500))])
    large = LeadingVectors([rows_of(vectors[:400]), rows_of(vectors[400:])], numbering)
    for at in (7, 640):
        result = large.cosines(vectors[at], 8)
        assert result is not None
        assert result.nearest(1) == [at]
        assert len(result.products) < 400


def test_cosines_and_mean_equal_plain_sums() -> None:
    chance = random.Random(5)
    vectors, goal = [unit(chance) for _ in range(300)], unit(chance)
    large = LeadingVectors([rows_of(vectors)], Numbering([(300, range(300))]))
    result = large.cosines(goal, 2)
    assert result is not None
    plain = [dot(vector, goal) for vector in vectors]
    assert [result[at] for at in range(300)] == pytest.approx(plain, abs=0.03)
    assert result.mean == pytest.approx(math.fsum(plain) / 300, abs=0.01)
    assert result.deviation == pytest.approx(pstdev(plain), abs=0.01)


def test_removed_skills_are_not_neighbours() -> None:
    chance = random.Random(7)
    vectors = [unit(chance) for _ in range(50)]
    kept = [at for at in range(50) if at != 9]
    large = LeadingVectors([rows_of(vectors)], Numbering([(50, kept)]))
    result = large.cosines(vectors[9], 50)
    assert result is not None
    assert sorted(result.nearest(50)) == list(range(49))


def test_vectors_of_another_length_have_no_cosines() -> None:
    large = LeadingVectors([rows_of([[0.1] * DIMENSIONS])], Numbering([(1, range(1))]))
    assert large.cosines([1.0, 0.0], 1) is None
    assert not LeadingVectors([], Numbering([]))


@given(
    st.lists(st.one_of(st.integers(0, 65_535), st.sampled_from([7, 258, 259, 65_535])), max_size=300),
    st.integers(1, 40),
)
def test_the_largest_products_equal_a_full_sort(products: list[int], most: int) -> None:
    least = sorted(products)[-most] if len(products) > most else 0
    result = _largest(array("H", products).tobytes(), most)
    assert result == [place for place, product in enumerate(products) if product >= least]


def test_the_largest_products_are_found_despite_a_poor_sample() -> None:
    products = [7] * 50_000
    products[1:41] = range(300, 340)  # none of them is in the sample
    assert _largest(array("H", products).tobytes(), 30) == list(range(11, 41))
    assert len(_largest(array("H", products).tobytes(), 41)) == 50_000


@given(st.lists(st.tuples(st.integers(-60, 60), st.integers(0, 255)), max_size=40))
def test_weighted_sums_equal_plain_sums(pairs: list[tuple[int, int]]) -> None:
    weights, columns = [weight for weight, _ in pairs], [column for _, column in pairs]
    assert weighted_sum(columns, weights) == sum(weight * column for weight, column in pairs)
