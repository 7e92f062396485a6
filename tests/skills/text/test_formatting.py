"""Tests of the formatting of numbers, texts and names."""

from __future__ import annotations

import pytest

from goalwright_skills.text.formatting import (
    counted,
    cut,
    dollars,
    guess,
    known_are,
    nearest,
    nearest_names,
    one_line,
    plain,
    plural,
    short_dollars,
    shorten,
)


@pytest.mark.parametrize(("number", "text"), [(0, "0 tasks"), (1, "1 task"), (2, "2 tasks"), (1234, "1,234 tasks")])
def test_counted_uses_the_plural_except_for_one(number: int, text: str) -> None:
    assert counted(number, "task") == text


def test_counted_accepts_an_irregular_plural() -> None:
    assert counted(1, "retry", "retries") == "1 retry"
    assert counted(3, "retry", "retries") == "3 retries"
    assert plural(2, "is", "are") == "are"


@pytest.mark.parametrize(
    ("text", "width", "line"),
    [
        ("short", 5, "short"),
        ("one two three", 13, "one two three"),
        ("one two three", 12, "one two…"),
        ("one, two three", 9, "one, two…"),
        ("unbreakable", 6, "unbre…"),
        ("a unbreakable", 8, "a unbre…"),
        ("one two, three", 10, "one two…"),
    ],
)
def test_cut_ends_at_a_word_boundary_in_the_second_half(text: str, width: int, line: str) -> None:
    assert cut(text, width) == line
    assert len(line) <= width


def test_one_line_collapses_white_space() -> None:
    assert one_line(" a\n\tb  c ") == "a b c"
    assert shorten("a\n\nb  c", 4) == "a b…"


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
def test_dollars_has_four_decimals_or_two_significant_digits(amount: float, shown: str) -> None:
    assert dollars(amount) == shown


def test_short_dollars_rounds_to_cents() -> None:
    assert [short_dollars(amount) for amount in (0.0, 1.234, 0.01, 0.0042, 1e-6)] == [
        "$0.00",
        "$1.23",
        "$0.01",
        "$0.0042",
        "$0.000001",
    ]


def test_plain_has_no_exponent() -> None:
    assert [plain(number) for number in (1e-6, 0.5, 2.0, 120.0, 1234567.0, 0.1 + 0.2)] == [
        "0.000001",
        "0.5",
        "2",
        "120",
        "1234567",
        "0.3",
    ]


NAMES = [f"skill-{number}" for number in range(50)] + ["code-review"]


def test_guess_returns_the_closest_name_or_nothing() -> None:
    assert guess("timout", ["timeout", "time", "tools"]) == "timeout"
    assert guess("zzz", ["timeout"]) == ""
    assert guess("row", {"rows": 1, "path": 2}, cutoff=0.5) == "rows"


def test_guess_accepts_less_similar_names_with_a_lower_cutoff() -> None:
    assert guess("abcdef", ["abcxyz"]) == ""
    assert guess("abcdef", ["abcxyz"], cutoff=0.5) == "abcxyz"


def test_nearest_ranks_all_names_and_ignores_case() -> None:
    assert nearest("CODE-REVIW", ["zebra", "code-style", "code-review"]) == ["code-review", "code-style", "zebra"]
    assert nearest("x", []) == []


def test_nearest_sorts_equally_similar_names() -> None:
    assert nearest("q", ["b", "c", "a"]) == ["a", "b", "c"]


def test_nearest_names_lists_ten_and_counts_the_others() -> None:
    text = nearest_names("code-reviews", NAMES)
    assert text.startswith("code-review, ")
    assert text.count(",") == 9
    assert text.endswith(" and 41 more")
    assert nearest_names("x", ["only"]) == "only"
    assert nearest_names("x", []) == "none"


def test_known_are_lists_three_close_names_first() -> None:
    text = known_are("code-reviews", NAMES)
    assert text == f"known are: code-review, {', '.join(NAMES[:11])} and 39 more"
    assert known_are("x", ["b", "a"]) == "known are: b, a"
    assert known_are("x", []) == "there are none"
