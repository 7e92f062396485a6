"""A long text in parts, and the parts that matter."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executor.files.parts import chosen, divided, tokens

LINES = [f"Line {number} says that item {number} costs {number * 7} euros.\n" for number in range(400)]


def test_a_text_that_fits_is_one_part() -> None:
    assert divided("short", 100) == ["short"]
    assert divided("", 100) == [""]


@given(st.text(max_size=3000), st.integers(20, 200))
def test_parts_fit_and_lose_nothing_but_blank_lines(text: str, most: int) -> None:
    parts = divided(text, most)
    assert all(tokens(part) <= most for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())


def test_lines_stay_whole_and_in_order() -> None:
    parts = divided("".join(LINES), 300)
    assert len(parts) > 20
    assert [line for part in parts for line in part.split("\n")] == [line.rstrip("\n") for line in LINES]


@pytest.mark.parametrize("text", ["word " * 5000, "一" * 5000, "x" * 20_000, "1234567890" * 500, "A sentence. " * 2000])
def test_a_line_without_end_is_cut(text: str) -> None:
    parts = divided(text, 500)
    assert all(0 < tokens(part) <= 500 for part in parts)
    assert "".join(parts).replace(" ", "") == text.replace(" ", "")


def test_the_parts_of_a_table_repeat_its_header() -> None:
    table = "name,price\n" + "".join(f"item {number},{number}\n" for number in range(500))
    parts = divided(table, 300, header=True)
    assert len(parts) > 5
    assert all(part.startswith("name,price\n") for part in parts)
    assert all(tokens(part) <= 300 for part in parts)


def test_the_parts_with_the_rare_words_of_the_query_are_chosen_in_order() -> None:
    parts = [f"Chapter {number}. The usual words about the project." for number in range(40)]
    parts[31] += " The warranty lasts 7 years."
    parts[12] += " Warranties are void if opened."
    found = chosen(parts, "How long is the warranty?", 4)
    assert {12, 31} <= set(found)
    assert found == sorted(found)
    assert len(found) == 4


def test_a_query_that_singles_out_nothing_gets_parts_from_beginning_to_end() -> None:
    parts = [f"Text {number}" for number in range(41)]
    assert chosen(parts, "Sum it up", 5) == [0, 10, 20, 30, 40]
    assert chosen(parts[:3], "Sum it up", 5) == [0, 1, 2]
    assert chosen(parts, "Sum it up", 1) == [0]


def test_tokens_are_not_estimated_too_low() -> None:
    assert tokens("hello world, this is English prose of a usual kind") >= 10
    assert tokens("1234567890") == 10
    assert tokens("我喜欢你") >= 3
