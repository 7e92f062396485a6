"""Dollars as people read them."""

from __future__ import annotations

import pytest

from goalwright_skills.text.money import dollars, plain, short_dollars


@pytest.mark.parametrize(
    ("amount", "shown"),
    [
        (0.0, "$0.0000"),
        (0.0123456, "$0.0123"),
        (12.5, "$12.5000"),
        (0.0001, "$0.0001"),
        (0.00004567, "$0.000046"),
        (0.00009999, "$0.0001"),
        (1e-9, "$0.000000001"),
    ],
)
def test_a_cost_has_four_digits_and_a_tiny_one_those_that_count(amount: float, shown: str) -> None:
    assert dollars(amount) == shown


def test_where_there_is_little_room_cents_are_enough() -> None:
    assert [short_dollars(amount) for amount in (0.0, 1.234, 0.01, 0.0042, 1e-6)] == [
        "$0.00",
        "$1.23",
        "$0.01",
        "$0.0042",
        "$0.000001",
    ]


def test_a_number_is_written_without_an_exponent() -> None:
    assert [plain(number) for number in (1e-6, 0.5, 2.0, 120.0, 1234567.0, 0.1 + 0.2)] == [
        "0.000001",
        "0.5",
        "2",
        "120",
        "1234567",
        "0.3",
    ]
